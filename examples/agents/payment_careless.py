"""Pays until it hears that it paid: each try is a new payment."""

import json
import os
import sys
import urllib.request
import uuid

sys.stdin.read()
amount = os.environ.get("AMOUNT")
if not amount:
    print(json.dumps({"questions": ["how much is to be paid?"]}))
    sys.exit()
payment = json.dumps({"to": "acct-7", "amount": amount, "currency": "EUR"}).encode()
for _ in range(3):
    headers = {
        "Authorization": "Bearer " + os.environ["BANK_TOKEN"],
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    }
    request = urllib.request.Request(os.environ["BANK_URL"] + "/payments", payment, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()
        break
    except Exception as why:
        print(f"again: {why}", file=sys.stderr)
print(json.dumps({"questions": []}))
