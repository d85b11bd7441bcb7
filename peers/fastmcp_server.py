"""A FastMCP server with two tools, over stdio or, given a port, over HTTP."""

import sys

from fastmcp import FastMCP

server = FastMCP("notes", instructions="Read before you write.")


@server.tool
def read_note(id: int, verbose: bool = False) -> dict[str, str]:
    """Reads one note."""
    return {"id": str(id), "text": "long" if verbose else "short"}


@server.tool
def write_note(text: str, tags: list[str] | None = None) -> bool:
    """Writes one note."""
    return bool(text or tags)


if len(sys.argv) > 1:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
