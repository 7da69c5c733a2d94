"""A relay without media: it admits devices by their tokens, ends their sessions when Boxoffice says so, and reports what
they used. Put your media in place of the bytes that devices upload and download here.

    POST   /sessions       Authorization: DPoP <token>, DPoP: <proof>; without a challenge, 401 with DPoP-Nonce
    PATCH  /sessions/{id}  the same with a later token: the session goes on until that one expires
    PUT    /sessions/{id}  bytes that the participant sends
    GET    /sessions/{id}  a kilobyte that the participant receives; 410 once the session was ended
    DELETE /sessions/{id}  the participant leaves
"""

import logging
import os
import re
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from boxoffice.relay import (
    Admission,
    AdmissionRefused,
    Attempt,
    RevocationFeed,
    Revocations,
    TokenVerifier,
    check_revocations,
)
from boxoffice.relay.usage import UsageError, UsageReporter, UsageSession

BODY_BYTES_MAX = 1 << 20
SILENT_SECONDS_MAX = 30
PIECE = bytes(1_000)
"""What a GET sends to a participant."""
FINGERPRINT = ":".join(["0a"] * 32)
"""A device has to show the certificate of its DTLS connection. This relay has none, so it knows one fingerprint."""


@dataclass(eq=False)
class Session:
    """A participant who was admitted. A renewal puts another one in its place, with the same usage."""

    admission: Admission
    address: str
    usage: UsageSession

    def end(self) -> None:
        """Record what is left to report. If the disk does not take it, the reporter tries again."""
        try:
            self.usage.end()
        except UsageError as error:
            logging.error("%s", error)


class Relay(ThreadingHTTPServer):
    """The sessions that run, by the ids of their usage, and what the relay half of the SDK has."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.sessions: dict[str, Session] = {}
        self.lock = threading.Lock()
        self.tenant = os.environ["TENANT"]
        service, key = os.environ["BOXOFFICE_URL"], os.environ["BOXOFFICE_RELAY_KEY"]
        issuer, audience = os.environ["ISSUER"], os.environ["AUDIENCE"]
        jwks_url = f"{service}/.well-known/jwks.json"
        self.reporter = UsageReporter.open(url=service, key=key, spool=os.environ["SPOOL"], relay_id="example")
        self.feed = RevocationFeed(
            url=service,
            tenants=[self.tenant],
            issuer=issuer,
            audience=audience,
            jwks_url=jwks_url,
            relay_key=lambda tenant: key,
            on_change=self.end_revoked,
        )
        self.verifier = TokenVerifier(
            issuer=issuer,
            audience=audience,
            jwks_url=jwks_url,
            tenants={self.tenant},
            revocations=self.feed.get,
            admitted=self.is_admitted,
            budget_reached=self.feed.budget_reached,
        )

    def close(self) -> None:
        """Send what is left of usage, for 5 seconds at most."""
        self.server_close()
        self.feed.close()
        if left := self.reporter.close():
            logging.error("%d records are sent at the next start", left)

    def is_admitted(self, tenant: str) -> bool:
        """Ask the feed, which hears of it at once, and the reporter if the feed does not know."""
        admitted = self.feed.admitted(tenant)
        return self.reporter.admitted is not False if admitted is None else admitted

    def put(self, session: Session, previous: Session | None = None) -> bool:
        """Let a session run until its token expires, in place of the one that it renews. Return whether it runs."""
        with self.lock:
            if self.sessions.get(session.usage.id) is not previous:
                return False
            self.sessions[session.usage.id] = session
        left = session.admission.expires_at - datetime.now(timezone.utc)
        timer = threading.Timer(max(0.0, left.total_seconds()), self.stop, [session, "TOKEN_EXPIRED"])
        timer.daemon = True
        timer.start()
        # Revocations that came after the verifier had looked did not end it.
        return self.check(session, self.feed.get(self.tenant))

    def take(self, session: Session) -> bool:
        """Return whether the session was still there. A renewal that is too late does not bring it back."""
        with self.lock:
            is_there = self.sessions.get(session.usage.id) is session
            if is_there:
                del self.sessions[session.usage.id]
            return is_there

    def end_revoked(self, _: str, revocations: Revocations) -> None:
        """End the sessions to which new revocations apply. Participants who are only muted stay."""
        with self.lock:
            running = list(self.sessions.values())
        for each in running:
            self.check(each, revocations)

    def check(self, session: Session, revocations: Revocations | None) -> bool:
        """End a session to which revocations apply. Return whether it goes on."""
        try:
            check_revocations(revocations, session.admission, address=session.address)
        except AdmissionRefused as refused:
            self.stop(session, refused)
            return False
        return True

    def stop(self, session: Session, cause: AdmissionRefused | str) -> None:
        """End a session that the participant did not leave, unless it is over or renewed."""
        if self.take(session):
            print(f"{session.admission.username} ended: {cause}", flush=True)
            # The end waits for the disk, and others may have to go.
            threading.Thread(target=session.end).start()


class Handler(BaseHTTPRequestHandler):
    # A silent connection must not keep its thread.
    timeout = SILENT_SECONDS_MAX
    server: Relay

    def do_POST(self) -> None:
        """Decide about a device."""
        if urlsplit(self.path).path != "/sessions":
            return self.answer(404)
        attempt = self.attempt()
        if attempt is None:
            return None
        try:
            admission = self.server.verifier.verify(attempt)
            measured = self.server.reporter.start_session(
                room=admission.room, participant=admission.username, role=admission.role, tier="audio"
            )
        except AdmissionRefused as refused:
            return self.answer(403, str(refused))
        except UsageError as error:
            return self.answer(503, str(error))
        if not self.server.put(Session(admission, self.client_address[0], measured)):
            return self.answer(403, "the session was ended")
        return self.answer(201, headers={"location": f"/sessions/{measured.id}"})

    def do_PATCH(self) -> None:
        """Let a session go on with a later token of its participant. Credit is needed only to come in."""
        found = self.find()
        attempt = self.attempt() if found else None
        if found is None or attempt is None:
            return None
        try:
            admission = self.server.verifier.renew(found.admission, attempt)
            if not self.server.put(Session(admission, self.client_address[0], found.usage), found):
                return self.answer(410, "the session was ended")
            found.usage.change(role=admission.role)
        except AdmissionRefused as refused:
            return self.answer(403, str(refused))
        except UsageError as error:
            return self.answer(410, str(error))
        return self.answer(204)

    def do_PUT(self) -> None:
        """Receive bytes."""
        length = self.headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > BODY_BYTES_MAX:
            return self.answer(413)
        return self.count(b"", ingress_bytes=len(self.rfile.read(int(length))))

    def do_GET(self) -> None:
        """Send bytes."""
        self.count(PIECE, egress_bytes=len(PIECE))

    def do_DELETE(self) -> None:
        """The participant leaves."""
        found = self.find()
        if found is not None and self.server.take(found):
            found.end()
            self.answer(204)

    def count(self, piece: bytes, *, egress_bytes: int = 0, ingress_bytes: int = 0) -> None:
        """Answer with `piece` if these bytes are counted."""
        found = self.find()
        if found is None:
            return None
        try:
            found.usage.add(egress_bytes=egress_bytes, ingress_bytes=ingress_bytes)
        except UsageError as error:
            return self.answer(410, str(error))
        return self.answer(200, piece)

    def find(self) -> Session | None:
        """Return a session that runs. Without one, the request is answered."""
        with self.server.lock:
            found = self.server.sessions.get(urlsplit(self.path).path.removeprefix("/sessions/"))
        if found is None:
            self.answer(410, "there is no such session")
        return found

    def attempt(self) -> Attempt | None:
        """Return what a device shows. Its first request gets a challenge, which the proof of its second one answers."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        proof, challenge = self.headers.get("dpop"), self.headers.get("dpop-nonce")
        if scheme != "DPoP" or not proof or not challenge:
            self.answer(401, "answer the challenge", {"dpop-nonce": self.server.verifier.challenge()})
            return None
        return Attempt(
            token=token,
            proof=proof,
            challenge=challenge,
            url=self.server.url + urlsplit(self.path).path,
            method=self.command,
            dtls_fingerprint=FINGERPRINT,
            # Behind a proxy, the device's address is what the proxy says.
            address=self.client_address[0],
        )

    def answer(self, status: int, body: bytes | str = b"", headers: Mapping[str, str] | None = None) -> None:
        octets = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(octets)))
        self.end_headers()
        self.wfile.write(octets)

    def log_message(self, *_: object) -> None:
        """Requests are not logged."""


def main() -> None:
    relay = Relay(int(os.environ.get("PORT", "0")))
    # Not from the thread that serves, which it waits for.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=relay.shutdown).start())
    print(relay.url, flush=True)
    try:
        relay.serve_forever()
    finally:
        relay.close()


main()
