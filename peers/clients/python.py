"""A client on the official Python SDK: it lists, waits to be told of a change, and makes the call that it had planned."""

import asyncio
import json
import os

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def event(*words):
    print(*words, flush=True)


async def main():
    command, *arguments = json.loads(os.environ["STEADFAST_SERVER_JSON"])
    told = asyncio.Event()

    async def on_message(message):
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            told.set()

    parameters = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(parameters) as (reader, writer):
        async with ClientSession(reader, writer, message_handler=on_message) as session:
            await session.initialize()
            await session.list_tools()
            try:
                await asyncio.wait_for(told.wait(), 5)
                event("told of the change")
            except asyncio.TimeoutError:
                event("no word of a change")
            try:
                result = await session.call_tool("deploy_preview", {"project": "shop"})
            except Exception as error:  # what the SDK makes of the answer is what is looked at
                event("raised", type(error).__name__ + ":", str(error).splitlines()[0][:160])
                return
            answer = result.model_dump(by_alias=True)
            event("error given to the caller" if answer.get("isError") else "answer given to the caller")


asyncio.run(main())
