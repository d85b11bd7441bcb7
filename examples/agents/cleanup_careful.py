"""Archives inactive projects: whatever it does not understand stops it, or is asked about."""

import http.client
import json
import os
import sys
import urllib.error
import urllib.request
import uuid

URL = os.environ["PROJECTS_URL"]
TOKEN = os.environ["PROJECTS_TOKEN"]
ALLOWED = set(os.environ["ALLOWED_OWNERS"].split(","))
MODES = {"archive": False, "dry-run": True}
STATES = {"active", "inactive"}
MOST = 100


class Stop(Exception):
    """Nothing is done."""


class Ask(Exception):
    """Nothing is done before a person has answered."""


def send(method, path, body=None, headers=None):
    request = urllib.request.Request(URL + path, method=method)
    request.add_header("Authorization", "Bearer " + TOKEN)
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request, timeout=10) as answer:
        if answer.headers.get_content_type() != "application/json":
            raise Stop(f"{method} answered {answer.headers.get_content_type()}")
        value = json.loads(answer.read())
    if not isinstance(value, dict) or "error" in value:
        raise Stop(f"{method} answered an error")
    return value


def read_projects():
    path = f"/projects?state=inactive&limit={MOST}"
    try:
        return send("GET", path)
    except (OSError, http.client.HTTPException):
        # A read may be repeated.
        return send("GET", path)


def plan(page):
    items = page.get("items")
    if not isinstance(items, list) or len(items) > MOST:
        raise Stop("the list of projects cannot be read")
    if page.get("next_cursor") is not None:
        raise Ask(f"there are more than {len(items)} projects: narrow the request?")
    targets, known = [], set()
    for item in items:
        project, state, owner = item.get("id"), item.get("state"), item.get("owner")
        if not isinstance(project, str) or not project:
            raise Stop("a project has no identifier")
        if project in known:
            raise Stop(f"{project} stands twice")
        known.add(project)
        if not isinstance(owner, str) or not owner:
            raise Stop(f"{project}: owner missing")
        if not isinstance(state, str) or not state:
            raise Stop(f"{project}: state missing")
        if state not in STATES:
            raise Ask(f"{project} is {state}: may it be archived?")
        if state == "inactive" and owner in ALLOWED and item.get("archivable") is True:
            targets.append(project)
    return targets


def archive(targets, dry_run):
    body = {"project_ids": targets, "dry_run": dry_run}
    try:
        answer = send("POST", "/projects/archive", body, {"Idempotency-Key": str(uuid.uuid4())})
    except (OSError, http.client.HTTPException, ValueError, Stop):
        raise Ask("no answer came to the request to archive: was it done?") from None
    if answer.get("status") != "accepted":
        raise Ask("the answer to the request to archive is not known: was it done?")


def main():
    sys.stdin.read()
    targets, questions = [], []
    try:
        mode = os.environ.get("MODE")
        if mode not in MODES:
            raise Ask("archive, or a dry run?")
        found = plan(read_projects())
        if found:
            targets = found
            archive(found, MODES[mode])
    except Ask as question:
        questions.append(str(question))
    except (Stop, OSError, http.client.HTTPException, ValueError) as why:
        print(f"stopped: {why}", file=sys.stderr)
        print(json.dumps({"archive": [], "questions": []}))
        return 1
    print(json.dumps({"archive": targets, "questions": questions}))
    return 0


sys.exit(main())
