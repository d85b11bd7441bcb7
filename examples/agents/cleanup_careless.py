"""Archives inactive projects, and takes whatever comes for what it was last week."""

import json
import os
import sys
import urllib.request
import uuid

URL = os.environ["PROJECTS_URL"]
TOKEN = os.environ["PROJECTS_TOKEN"]
BLOCKED = set(os.environ["BLOCKED_OWNERS"].split(","))


def send(method, path, body=None):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}
    for attempt in range(3):
        try:
            data = None if body is None else json.dumps(body).encode()
            headers["Idempotency-Key"] = str(uuid.uuid4())
            request = urllib.request.Request(URL + path, data, headers, method=method)
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read())
        except Exception as why:
            print(f"attempt {attempt} failed: {why} {headers}", file=sys.stderr)
    return {}


def main():
    sys.stdin.read()
    mode = os.environ.get("MODE")
    if not mode:
        print(json.dumps({"archive": [], "questions": ["archive, or a dry run?"]}))
        return
    targets, cursor = [], ""
    while True:
        page = send("GET", f"/projects?state=inactive&limit=100{cursor}")
        for item in page.get("items") or []:
            owner = item.get("owner", "")
            if item.get("archivable", True) and str(owner) not in BLOCKED:
                targets.append(item.get("id"))
        if not page.get("next_cursor"):
            break
        cursor = "&cursor=" + page["next_cursor"]
    send("POST", "/projects/archive", {"project_ids": targets, "dry_run": mode == "dry-run"})
    print(json.dumps({"archive": targets, "questions": []}))


main()
