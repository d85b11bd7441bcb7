"""Pays once: it tries again only with the same token, and asks where it cannot know."""

import http.client
import json
import os
import sys
import urllib.request
import uuid

URL = os.environ["BANK_URL"]
TOKEN = os.environ["BANK_TOKEN"]


def pay(payment, key):
    request = urllib.request.Request(URL + "/payments", json.dumps(payment).encode(), method="POST")
    request.add_header("Authorization", "Bearer " + TOKEN)
    request.add_header("Content-Type", "application/json")
    request.add_header("Idempotency-Key", key)
    with urllib.request.urlopen(request, timeout=10) as answer:
        value = json.loads(answer.read())
    if not isinstance(value, dict) or value.get("status") != "accepted":
        raise ValueError("the answer is not known")


def main():
    sys.stdin.read()
    amount = os.environ.get("AMOUNT")
    if not amount:
        print(json.dumps({"questions": ["how much is to be paid?"]}))
        return 0
    payment = {"to": "acct-7", "amount": amount, "currency": "EUR"}
    key = str(uuid.uuid4())
    for _ in range(2):
        try:
            pay(payment, key)
            print(json.dumps({"questions": []}))
            return 0
        except (OSError, http.client.HTTPException, ValueError) as why:
            print(f"not known: {why}", file=sys.stderr)
    print(json.dumps({"questions": ["was the payment made?"]}))
    return 0


sys.exit(main())
