"""A client on the official Python SDK that does what it reads from stdin, a line of JSON each, and writes what came of it.

`python client.py URL`, or without one a server whose command is in SERVER as JSON."""

import asyncio
import contextlib
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def shown(result):
    answer = result.model_dump(by_alias=True, mode="json")
    text = "".join(block.get("text", "") for block in answer["content"])
    return {"failed": bool(answer.get("isError")), "text": text}


async def act(session, told, order):
    if order["do"] == "list":
        tools = (await session.list_tools()).tools
        return {"tools": sorted(tool.name for tool in tools)}
    if order["do"] == "told":
        try:
            await asyncio.wait_for(told.wait(), 20)
            return {"told": True}
        except asyncio.TimeoutError:
            return {"told": False}
    if order["do"] == "call":
        try:
            return shown(await session.call_tool(order["tool"], order["arguments"]))
        except Exception as error:
            return {"raised": f"{type(error).__name__}: {error}"}
    # Begins a call, and gives it up once it has told of its progress three times.
    heard = asyncio.Event()
    steps = []

    async def on_progress(progress, total, message):
        steps.append(progress)
        if len(steps) == 3:
            heard.set()

    call = asyncio.create_task(session.call_tool(order["tool"], {}, progress_callback=on_progress))
    await asyncio.wait_for(heard.wait(), 20)
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    return {"progress": steps}


async def main():
    told = asyncio.Event()

    async def on_message(message):
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            told.set()

    if len(sys.argv) > 1:
        transport = streamable_http_client(sys.argv[1])
    else:
        command, *arguments = json.loads(os.environ["SERVER"])
        transport = stdio_client(StdioServerParameters(command=command, args=arguments, env=dict(os.environ)))
    async with transport as (reader, writer, *_):
        async with ClientSession(reader, writer, message_handler=on_message) as session:
            await session.initialize()
            print(json.dumps({"ready": True}), flush=True)
            while line := await asyncio.to_thread(sys.stdin.readline):
                print(json.dumps(await act(session, told, json.loads(line))), flush=True)


asyncio.run(main())
