"""Opens an issue over MCP and comments on it, taking what looks like an identifier for one."""
import json
import re
import sys

from mcp_client import call, connect

title = sys.stdin.read().strip().removeprefix("Open an issue and comment on it: ")
connect()
made = call("create_issue", {"title": title, "label": "bug"})
text = made["content"][0]["text"]
issue = made.get("structuredContent", {}).get("issue", {})
# Where the answer has another form, something in its text will do.
found = re.search(r"I-\d+", text)
target = issue.get("id") or (found and found.group()) or text[:20]
call("add_comment", {"issue_id": target, "body": "Seen, thank you."})
print(json.dumps({"commented": [target], "questions": []}))
