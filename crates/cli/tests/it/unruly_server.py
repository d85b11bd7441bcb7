"""A server that keeps to the letter of JSON-RPC and no more: answers in another order, twice, to nobody, respelt.

`unruly_server.py DEEDS` appends the arguments of each call of `write` to the file DEEDS before it answers.
"""

import json
import sys

DEEDS = sys.argv[1]
TOOLS = [
    {"name": "write", "description": "Writes one line.",
     "inputSchema": {"type": "object", "properties": {"line": {"type": "string"}}, "required": ["line"]}},
    {"name": "read", "description": "Reads the lines.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"line": {"type": "string"}}}},
]
# The same greeting as any other, with escapes, spaces, and members of no meaning.
GREETING = ('{ "result" : {"protocol\\u0056ersion":"2025-11-2\\u0035" ,"capabilities":{"tool\\u0073":{ }, "x":null},\t'
            '"serverInfo":{"name":"unruly","version":"1","n":1e400}, "resultType":"complete"}, "id" : %s, "jsonrpc":"2.0" }')
held = None


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(ident, arguments):
    line = arguments.get("line", "")
    result = {"content": [{"type": "text", "text": line}], "structuredContent": {"id": line}}
    if line.startswith("type:"):
        # A member of the newer era, with a value that nobody knows.
        result["resultType"] = line[5:]
    say(json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}))


for text in sys.stdin:
    request = json.loads(text)
    method, ident = request.get("method"), request.get("id")
    if method == "initialize":
        say(GREETING % json.dumps(ident))
    elif method == "tools/list":
        say(json.dumps({"jsonrpc": "2.0", "id": ident, "result": {"tools": TOOLS}}))
    elif method == "tools/call":
        arguments = request["params"]["arguments"]
        if request["params"]["name"] == "write":
            with open(DEEDS, "a", encoding="utf-8") as deeds:
                deeds.write(arguments["line"] + "\n")
        if arguments.get("line") == "first":
            held = (ident, arguments)
            continue
        # Nobody asked these.
        say(json.dumps({"jsonrpc": "2.0", "id": "nobody", "result": {"structuredContent": {"id": "stray"}}}))
        answer(ident, arguments)
        if arguments.get("line") == "twice":
            answer(ident, {"line": "changed"})
        if held:
            answer(*held)
            held = None
    elif ident is not None:
        say(json.dumps({"jsonrpc": "2.0", "id": ident, "result": {}}))
