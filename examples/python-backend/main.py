"""A back end: it opens a room, gives tokens to its users, and receives webhooks.

Its routes:

    POST /tokens    {"username":"Ann","thumbprint":"..."}, for a user who is logged in
    POST /webhooks  for Boxoffice
"""

import contextlib
import json
import logging
import os
import re
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from boxoffice import Boxoffice, BoxofficeError, Denied, Exists, Invalid, Precondition, WebhookRefused
from boxoffice import verify_webhook_events

BODY_BYTES_MAX = 1 << 20
SILENT_SECONDS_MAX = 30
ROOM = "lobby"

client = Boxoffice(
    url=os.environ["BOXOFFICE_URL"],
    control_url=os.environ["BOXOFFICE_CONTROL_URL"],
    api_key=os.environ["BOXOFFICE_API_KEY"],
)
# Keep the ids of events that you handled in your database: an event may come twice.
seen: set[str] = set()
seen_lock = threading.Lock()


class BackEnd(BaseHTTPRequestHandler):
    # A silent connection must not keep its thread.
    timeout = SILENT_SECONDS_MAX

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > BODY_BYTES_MAX:
            return self.answer(413, {"error": f"the body must have 0 to {BODY_BYTES_MAX} bytes"})
        body = self.rfile.read(int(length))
        if self.path == "/tokens":
            return self.give_token(body)
        if self.path == "/webhooks":
            return self.receive_events(body)
        return self.answer(404, {"error": "there is nothing"})

    def give_token(self, body: bytes) -> None:
        """Mint a token. Your own log-in belongs here: who asks, and may they come in?"""
        try:
            asked = json.loads(body)
            username, thumbprint = asked["username"], asked["thumbprint"]
        except (ValueError, TypeError, KeyError):
            return self.answer(400, {"error": "the body needs username and thumbprint, in JSON"})
        try:
            minted = client.tokens.mint(room=ROOM, username=username, device_thumbprint=thumbprint, role="host")
        except BoxofficeError as error:
            return self.refuse(error)
        return self.answer(200, {"token": minted.token.reveal(), "expires_at": minted.expire_time.isoformat()})

    def receive_events(self, body: bytes) -> None:
        try:
            events = verify_webhook_events(os.environ["WEBHOOK_SECRET"], self.headers, body)
        except WebhookRefused as error:
            return self.answer(401, {"error": str(error)})
        for event in events:
            with seen_lock:
                is_new = event.id not in seen
                seen.add(event.id)
            if is_new:
                print("event", event.type, flush=True)
        return self.answer(200, {})

    def refuse(self, error: BoxofficeError) -> None:
        statuses = {Invalid: 400, Denied: 403, Precondition: 409}
        status = next((status for kind, status in statuses.items() if isinstance(error, kind)), 503)
        if status < 500:
            return self.answer(status, {"error": error.message})
        logging.error("%s", error)
        return self.answer(status, {"error": "try again"})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Requests are not logged."""


def main() -> None:
    with contextlib.suppress(Exists):
        client.rooms.create(room=ROOM, policy={"max_participants": 50})
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), BackEnd)
    # Not from the thread that serves, which it waits for.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    with client, server:
        server.serve_forever()


main()
