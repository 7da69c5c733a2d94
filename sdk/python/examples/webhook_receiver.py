"""The receiver of docs/webhooks.md: a test compares them, and sends to it. WEBHOOK_SECRET has its secret."""

from __future__ import annotations

import base64
import hmac
import json
import os
import re
import time
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS_MAX = 300
BODY_BYTES_MAX = 1 << 20


def is_genuine(headers: Message, body: bytes, secret: str) -> bool:
    """Whether the service sent this body, within the last minutes. `body` is what arrived, byte for byte."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    id, timestamp, signatures = (headers.get(name, "") for name in names)
    if not id or not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > SECONDS_MAX:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        return False
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, "sha256")
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(each.encode(), expected) for each in signatures.split(" "))


def receive(headers: Message, body: bytes, secret: str, keep: Callable[[str, Any], None]) -> int:
    """Return the status to answer. `keep` does nothing if it has an event of this id already."""
    if not is_genuine(headers, body, secret):
        return 401
    told = json.loads(body)
    # With `max_batch`, the body is a list.
    for event in told.get("events", [told]):
        keep(event["id"], event)
    return 204


class Receiver(BaseHTTPRequestHandler):
    # A silent connection must not keep its thread.
    timeout = 30

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > BODY_BYTES_MAX:
            status = 413
        else:
            body = self.rfile.read(int(length))
            status = receive(self.headers, body, os.environ["WEBHOOK_SECRET"], keep)
        self.send_response(status)
        self.end_headers()


kept: set[str] = set()


def keep(id: str, event: Any) -> None:
    if id not in kept:
        print("event", id, json.dumps(event, ensure_ascii=False, separators=(",", ":")), flush=True)
    kept.add(id)


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        print("port", server.server_port, flush=True)
        server.serve_forever()
