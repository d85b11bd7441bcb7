# An API on the port of its first argument, of the kind that its second names. What it does it posts to API.
import json
import os
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

port, kind = int(sys.argv[1]), sys.argv[2]


def post(body):
    if api := os.environ.get("API"):
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(api + "/deployed", json.dumps(body).encode(), headers)
        urllib.request.urlopen(request)


class Api(BaseHTTPRequestHandler):
    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.headers.get("authorization") not in (None, "Bearer hush-hush"):
            return self.answer(401, {"error": "not you"})
        if kind != "old" and "limit=" not in self.path:
            by = self.headers.get("authorization")
            return self.answer(400, {"error": "limit is required", "by": by})
        self.answer(200, {"items": [], "by": self.headers.get("authorization")})

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        missing = kind != "old" and "environment" not in sent
        if missing and kind == "broken":
            return self.answer(500, {"error": "environment"})
        if missing and kind == "late":
            post(sent)
        if missing and kind not in ("fill", "elsewhere"):
            return self.answer(422, {"error": "environment is required"})
        made = {"project": sent["project"]}
        if kind != "deaf":
            post(made | {"region": "eu"} if kind == "elsewhere" and missing else made)
        self.answer(201, {"deployment_id": "d-1"})

    def log_message(self, *words):
        pass


HTTPServer(("127.0.0.1", port), Api).serve_forever()
