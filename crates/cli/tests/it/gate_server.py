# A server whose tool `deploy` is of the kind that its first argument names. What it does it posts to API.
import json
import os
import sys
import threading
import time
import urllib.request

kind = sys.argv[1]
OLD = {"project": {"type": "string", "description": "Slug of the project"}}
ENVIRONMENT = {"environment": {"type": "string", "enum": ["staging", "production"]}}
# Those that are `told` or `early` are as of old until the file `flipped` is there.
FLIPS = kind in ("told", "early")
state = {"new": kind != "old" and not FLIPS, "told": False}


def say(message):
    print(json.dumps({"jsonrpc": "2.0"} | message), flush=True)


def watch():
    while not os.path.exists("flipped"):
        time.sleep(0.01)
    # Who is `early` tells of a list that it does not have yet: it has it once it was asked for it in vain.
    state["new"] = kind == "told"
    state["told"] = True
    say({"method": "notifications/tools/list_changed"})


def properties():
    if not state["new"]:
        return OLD
    return OLD | ({"region": {"type": "string"}} if kind in ("fill", "elsewhere") else ENVIRONMENT)


def tools():
    schema = {"type": "object", "properties": properties(), "required": list(properties())}
    listed = [{"name": "deploy", "description": "Deploys a preview.", "inputSchema": schema}]
    state["new"] = state["new"] or state["told"]
    return {"tools": listed}


def post(body):
    if api := os.environ.get("API"):
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(api + "/deployments", json.dumps(body).encode(), headers)
        urllib.request.urlopen(request)


def text(words, error=False):
    return {"isError": error, "content": [{"type": "text", "text": words}]}


def call(arguments):
    missing = [name for name in properties() if name not in arguments]
    if missing and kind == "vague":
        return text("invalid input", True)
    if missing and kind == "late":
        post(arguments)
    if missing and kind not in ("fill", "elsewhere"):
        return text(f"`{missing[0]}` is required", True)
    sent = {"project": arguments["project"]}
    post(sent | {"region": "eu"} if kind == "elsewhere" else sent)
    return text("done")


if FLIPS:
    threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        capabilities = {"tools": {"listChanged": FLIPS}}
        result = {"protocolVersion": "2025-06-18", "capabilities": capabilities,
                  "serverInfo": {"name": "deploys", "version": "1"}}
    elif method == "tools/list":
        result = tools()
    elif method == "tools/call":
        result = call(message["params"]["arguments"])
    else:
        say({"id": message["id"], "error": {"code": -32601, "message": "There is no such method."}})
        continue
    say({"id": message["id"], "result": result})
