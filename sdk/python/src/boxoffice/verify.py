"""Verifies offline what the service signed: requests of webhooks, and statements."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Protocol

from boxoffice._jose import decode_segment, is_signed, read_key, read_object
from boxoffice._values import read
from boxoffice.secret import Secret, reveal
from boxoffice.types import EVENT_DATA, EventData, Statement, WebhookEvent

_WEBHOOK_REFUSALS = {
    "MISSING_HEADER": "webhook-id, webhook-timestamp and webhook-signature must be given, each once",
    "BAD_TIMESTAMP": "webhook-timestamp must be whole seconds since 1970",
    "STALE": "webhook-timestamp is more than 5 minutes from now",
    "BAD_SIGNATURE": "no v1 signature is that of a secret",
    "BAD_BODY": "the body is signed, but is no event; verify_webhook_events reads a list of events",
}

_STATEMENT_REFUSALS = {
    "MALFORMED": "it is not a compact JWS",
    "WRONG_TYPE": "its type is not statement+jwt",
    "WRONG_ALGORITHM": "its algorithm is not ES256",
    "HEADER_INVALID": "its header must have alg, kid and typ, and nothing else",
    "UNKNOWN_KEY": "its key is not one of the keys",
    "BAD_SIGNATURE": "the signature does not fit: it was altered, or signed by another key",
    "BAD_BODY": "it is signed, but is no statement of version 1",
}

_SECRET = re.compile(r"whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_SECONDS_MAX = 300

Secrets = Secret | str | Sequence[Secret | str]


class Headers(Protocol):
    """Headers of a request, as frameworks have them. Upper and lower case are the same."""

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names, each with a text or a list of them."""


class WebhookRefused(Exception):
    """The request is no genuine webhook: answer it with 401."""

    def __init__(self, code: str) -> None:
        super().__init__(_WEBHOOK_REFUSALS[code])
        self.code = code
        """Why, such as `STALE`."""


class StatementRefused(Exception):
    """The text is no statement that one of the keys has signed."""

    def __init__(self, code: str) -> None:
        super().__init__(_STATEMENT_REFUSALS[code])
        self.code = code
        """Why, such as `BAD_SIGNATURE`."""


def verify_webhook(
    secrets: Secrets, headers: Headers, body: bytes | str, *, now: datetime | None = None
) -> WebhookEvent:
    """Return the event that a webhook tells.

    `body` is the raw body, byte for byte as it arrived. During a rotation, give the old secret and the new one. An event may
    come twice: keep its `id`, and ignore repetitions. `now` is for tests.

    Raises `WebhookRefused` for a request that is not genuine or too old, and `ValueError` for a secret that is none.
    """
    verify_webhook_signature(secrets, headers, body, now=now)
    try:
        return _event(_json(body))
    except ValueError:
        raise WebhookRefused("BAD_BODY") from None


def verify_webhook_events(
    secrets: Secrets, headers: Headers, body: bytes | str, *, now: datetime | None = None
) -> list[WebhookEvent]:
    """Return all events of a request, in order, like `verify_webhook`: one, or with `max_batch` several.

    Answer 2xx once you have stored all: after another answer they come again.
    """
    verify_webhook_signature(secrets, headers, body, now=now)
    try:
        value = _json(body)
        events = value.get("events") if isinstance(value, dict) else None
        if not isinstance(events, list) or not events:
            events = [value]
        return [_event(each) for each in events]
    except ValueError:
        raise WebhookRefused("BAD_BODY") from None


def verify_webhook_signature(
    secrets: Secrets, headers: Headers, body: bytes | str, *, now: datetime | None = None
) -> None:
    """Verify a request like `verify_webhook`, without reading the body: for CloudEvents, which have their own libraries."""
    keys = _keys(secrets)
    octets = body.encode(errors="surrogatepass") if isinstance(body, str) else body
    given, timestamp, signatures = (_header(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookRefused("BAD_TIMESTAMP")
    age = (now or datetime.now(timezone.utc)).timestamp() // 1 - int(timestamp)
    if abs(age) > _SECONDS_MAX:
        raise WebhookRefused("STALE")
    for key in keys:
        signed = f"{given}.{timestamp}.".encode(errors="surrogatepass") + octets
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        for each in signatures.split(" "):
            if hmac.compare_digest(each.encode(errors="replace"), expected):
                return
    raise WebhookRefused("BAD_SIGNATURE")


def _keys(secrets: Secrets) -> list[bytes]:
    """An empty key would be one that everybody knows."""
    texts = [reveal(each) for each in ([secrets] if isinstance(secrets, (str, Secret)) else secrets)]
    if not texts or not all(_SECRET.fullmatch(each) for each in texts):
        raise ValueError("secrets must be one or more texts: whsec_ and base64")
    return [base64.b64decode(each.removeprefix("whsec_")) for each in texts]


def _header(headers: Headers, name: str) -> str:
    values: list[str] = []
    for key, value in headers.items():
        if key.lower() == name:
            values += [value] if isinstance(value, str) else value
    if len(values) != 1 or not values[0]:
        raise WebhookRefused("MISSING_HEADER")
    return values[0]


def _json(body: bytes | str) -> Any:
    try:
        return json.loads(body if isinstance(body, str) else body.decode(errors="replace"))
    except RecursionError as cause:
        raise ValueError("too deep") from cause


def _event(value: object) -> WebhookEvent:
    event = read(WebhookEvent, value)
    if not all(isinstance(each, str) for each in (event.id, event.type)) or not isinstance(event.data, dict):
        raise ValueError("no event")
    if event.seq is None or event.timestamp is None:
        raise ValueError("no event")
    return event


def data_of(event: WebhookEvent) -> EventData | None:
    """Return the data of an event as the dataclass of its type; None for a type that is newer than this library."""
    kind = EVENT_DATA.get(event.type)
    return None if kind is None else read(kind, event.data)


def verify_statement(jws: str, keys: Mapping[str, Any]) -> Statement:
    """Return the statement of `jws`, the text beside a statement of `billing.statement`.

    `keys` is what `/.well-known/statement-keys.json` holds. Use what this returns, and not the statement that lay beside the
    signature, and compare its `iss`, `tenant` and `month` with what you expect. It does not add up the statement: the
    service has, before it signed.

    Raises `StatementRefused` for a text that none of the keys has signed as a statement, and `ValueError` for keys that are
    no set of keys.
    """
    if not isinstance(keys, Mapping) or not isinstance(keys.get("keys"), list):
        raise ValueError("keys must be a JSON Web Key Set")
    segments = [decode_segment(each) for each in jws.split(".")]
    if len(segments) != 3 or None in segments:
        raise StatementRefused("MALFORMED")
    header, payload, signature = (each or b"" for each in segments)
    members = read_object(header)
    if members is None:
        raise StatementRefused("MALFORMED")
    if members.get("typ") != "statement+jwt":
        raise StatementRefused("WRONG_TYPE")
    if members.get("alg") != "ES256":
        raise StatementRefused("WRONG_ALGORITHM")
    if set(members) != {"typ", "alg", "kid"}:
        raise StatementRefused("HEADER_INVALID")
    key = _statement_key(keys["keys"], members["kid"])
    if key is None:
        raise StatementRefused("UNKNOWN_KEY")
    if not is_signed(key, jws.rpartition(".")[0].encode(), signature):
        raise StatementRefused("BAD_SIGNATURE")
    return _statement(payload)


def _statement_key(keys: list[Any], kid: object) -> Any:
    for jwk in keys:
        is_known = isinstance(jwk, Mapping) and isinstance(kid, str) and jwk.get("kid") == kid
        if is_known and jwk.get("alg", "ES256") == "ES256" and jwk.get("use", "sig") == "sig":
            return read_key(jwk)
    return None


def _statement(payload: bytes) -> Statement:
    value = read_object(payload) or {}
    is_statement = value.get("version") == 1 and value["version"] is not True
    if not is_statement or not all(isinstance(value.get(each), str) for each in ("iss", "month")):
        raise StatementRefused("BAD_BODY")
    try:
        return read(Statement, value)
    except ValueError:
        raise StatementRefused("BAD_BODY") from None
