"""A FastMCP server that takes another contract while it runs, and tells nobody: once the file SWITCH is there, `deploy`
demands a region. What it does goes into the file EFFECTS, a line each."""

import asyncio
import json
import os
from typing import Literal

from fastmcp import Context, FastMCP

server = FastMCP("notes")


def did(line):
    with open(os.environ["EFFECTS"], "a") as effects:
        effects.write(line + "\n")


def before(project: str) -> str:
    """Deploys a project."""
    did("deploy " + json.dumps({"project": project}))
    return "deployed"


def after(project: str, region: Literal["eu", "us"]) -> str:
    """Deploys a project."""
    did("deploy " + json.dumps({"project": project, "region": region}))
    return "deployed"


async def wait(context: Context) -> str:
    """Waits."""
    try:
        for step in range(1, 601):
            if step <= 3:
                await context.report_progress(step, 3)
            await asyncio.sleep(0.05)
    except asyncio.CancelledError:
        did("cancelled")
        raise
    return "waited"


async def main():
    server.tool(before, name="deploy")
    server.tool(wait)

    async def look():
        while not os.path.exists(os.environ["SWITCH"]):
            await asyncio.sleep(0.02)
        server.local_provider.remove_tool("deploy")
        server.tool(after, name="deploy")
        did("switched")

    looking = asyncio.create_task(look())
    await server.run_async(show_banner=False)
    looking.cancel()


asyncio.run(main())
