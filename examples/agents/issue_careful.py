"""Opens an issue over MCP and comments on it, going on only where the answer names the issue."""
import json
import sys

from mcp_client import call, connect


def stop(why):
    """Leaves the rest to a person: an issue is open, and nobody knows which."""
    print(json.dumps({"commented": [], "questions": [why]}))
    sys.exit(1)


def structured(result, *names):
    """A member of the structured answer, which alone is the contract; its text is for people."""
    if result.get("isError"):
        stop(f"the server answered an error: {result['content'][0]['text'][:80]}")
    value = result.get("structuredContent")
    for name in names:
        if not isinstance(value, dict) or name not in value:
            stop(f"the answer has no {'.'.join(names)}")
        value = value[name]
    return value


title = sys.stdin.read().strip().removeprefix("Open an issue and comment on it: ")
try:
    connect()
    made = call("create_issue", {"title": title, "label": "bug"})
    identifier, state = structured(made, "issue", "id"), structured(made, "issue", "state")
    if not isinstance(identifier, str) or not identifier:
        stop("the identifier of the issue is none")
    if state != "open":
        stop(f"nobody knows what an issue is that is {state!r}")
    added = call("add_comment", {"issue_id": identifier, "body": "Seen, thank you."})
    if structured(added, "status") != "added":
        stop("nobody knows what became of the comment")
except (OSError, ValueError, KeyError, TypeError) as why:
    # Whether the server did what it was asked is not known: asking again could do it twice.
    stop(f"the server cannot be understood ({type(why).__name__})")
print(json.dumps({"commented": [identifier], "questions": []}))
