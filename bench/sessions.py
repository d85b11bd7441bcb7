#!/usr/bin/env python3
"""How much memory a gateway takes for many live sessions that share one list of 200 tools.

    cargo build --release
    python3 bench/sessions.py target/release/steadfast [SESSIONS] [--quiet]

Each session greets, fetches the list and keeps a stream of notices open; with --quiet it keeps none. Prints the resident
memory of the gateway after each quarter. Clients, gateway and server are processes of their own; nothing but Python is
needed. Two descriptors a session have to be allowed (`ulimit -Hn`).
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid

TOOLS = 200
# One principal may have 1,000 sessions with a server, so the server goes by several names.
EACH = 1_000
VERSION = "2025-06-18"


def listed(index):
    return {
        "name": f"tool_{index}",
        "description": f"Does what number {index} stands for to the record that is named, and tells what came of it. " * 3,
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The id of the record"},
                "mode": {"type": "string", "enum": ["fast", "slow"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            },
            "required": ["id"],
        },
        "annotations": {"readOnlyHint": True},
    }


def head(lines):
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.lower(): value.strip() for name, value in pairs}


async def read_head(reader):
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    return first, head(lines)


def serve(port):
    """A server of the older era over HTTP."""
    tools = json.dumps({"tools": [listed(index) for index in range(TOOLS)]})

    def result(message):
        if message["method"] == "initialize":
            info = {"name": "many", "version": "1"}
            version = message["params"]["protocolVersion"]
            return json.dumps({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        return tools if message["method"] == "tools/list" else "{}"

    async def answer(reader, writer):
        try:
            while True:
                first, headers = await read_head(reader)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                message = json.loads(body) if body else {}
                if not first.startswith("POST"):
                    writer.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
                elif "id" not in message:
                    writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
                else:
                    text = f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},"result":{result(message)}}}'.encode()
                    name = f"Mcp-Session-Id: {uuid.uuid4().hex}\r\n" if message["method"] == "initialize" else ""
                    start = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{name}Content-Length: {len(text)}\r\n\r\n"
                    writer.write(start.encode() + text)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=4096, limit=1 << 20)
        async with server:
            await server.serve_forever()

    asyncio.run(run())


async def post(reader, writer, path, session, message):
    body = json.dumps(message).encode()
    known = f"Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: {VERSION}\r\n" if session else ""
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\n{known}Content-Length: {len(body)}\r\n\r\n".encode() + body
    )
    first, headers = await read_head(reader)
    text = b""
    if "content-length" in headers:
        text = await reader.readexactly(int(headers["content-length"]))
    elif "transfer-encoding" in headers:
        while size := int((await reader.readline()).strip(), 16):
            text += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    return first, headers, text


async def session(port, path, quiet):
    """Opens a session as a client does; gives what has to stay open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    greeting = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "many", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}
    first, headers, text = await post(reader, writer, path, None, asked)
    name = headers.get("mcp-session-id")
    if name is None:
        raise SystemExit(f"no session was opened: {first} {text[:300]}")
    await post(reader, writer, path, name, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    _, _, text = await post(reader, writer, path, name, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    if f"tool_{TOOLS - 1}".encode() not in text:
        raise SystemExit(f"the list did not come whole: {text[:300]}")
    if quiet:
        writer.close()
        return None
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
        f"Mcp-Session-Id: {name}\r\nMcp-Protocol-Version: {VERSION}\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


async def measure(gateway, port, count, quiet):
    for _ in range(200):
        try:
            (await asyncio.open_connection("127.0.0.1", port))[1].close()
            break
        except OSError:
            await asyncio.sleep(0.1)
    idle = resident(gateway)
    print(f"no session: {idle / 1024:.0f} MB")
    # Reads as long as this stands.
    kept, at_once = [], asyncio.Semaphore(16)

    async def one(index):
        async with at_once:
            kept.append(await session(port, f"/mcp/many-{index // EACH}", quiet))

    for quarter in range(4):
        await asyncio.gather(*[one(index) for index in range(count * quarter // 4, count * (quarter + 1) // 4)])
        await asyncio.sleep(2)
        now, sessions = resident(gateway), count * (quarter + 1) // 4
        print(f"{sessions} sessions: {now / 1024:.0f} MB, {(now - idle) / sessions:.0f} KB each", flush=True)


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    binary, count = words[0], int(words[1]) if len(words) > 1 else 10_000
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        above, port = free_port(), free_port()
        names = "".join(
            f'[server.many-{n}]\nurl = "http://127.0.0.1:{above}/mcp"\n' for n in range((count + EACH - 1) // EACH)
        )
        with open(f"{folder}/steadfast.toml", "w", encoding="utf-8") as settings:
            settings.write(f'[gateway]\nlisten = "127.0.0.1:{port}"\n{names}')
        server = subprocess.Popen([sys.executable, __file__, "--serve", str(above)])
        time.sleep(1)
        where = dict(os.environ, XDG_STATE_HOME=f"{folder}/state")
        command = [os.path.abspath(binary), "gateway", "--quiet", "--config", f"{folder}/steadfast.toml"]
        gateway = subprocess.Popen(command, env=where)
        try:
            asyncio.run(measure(gateway, port, count, "--quiet" in sys.argv))
        finally:
            gateway.terminate()
            gateway.wait()
            server.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    elif len(sys.argv) < 2:
        raise SystemExit(__doc__)
    else:
        main()
