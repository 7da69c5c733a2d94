"""What tests of the relay half share: signed snapshots, and time that goes on by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar, cast

import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from boxoffice._jose import encode_segment
from boxoffice.relay.background import cancel_others

T = TypeVar("T")

ISSUER = "https://boxoffice.example"
AUDIENCE = "relay:boxoffice.example"
TENANT = "t_0123456789abcdef"
NOW = 1_795_000_000


class _VirtualLoop(asyncio.SelectorEventLoop):
    """When nothing is left to do, it is the time of the next timer. No thread and no socket may be waited for."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        loop: Any = self
        whens = [each.when() for each in loop._scheduled if not each.cancelled()]
        if not loop._ready and whens:
            self.now = max(self.now, min(whens))
        super()._run_once()  # type: ignore[misc]


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a test that takes no time."""
    loop = _VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(cancel_others())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def now() -> float:
    return asyncio.get_running_loop().time()


class SigningKey:
    def __init__(self, kid: str) -> None:
        self.kid = kid
        self._key = ec.generate_private_key(ec.SECP256R1())

    @property
    def jwk(self) -> dict[str, str]:
        numbers = self._key.public_key().public_numbers()
        x, y = (encode_segment(each.to_bytes(32, "big")) for each in (numbers.x, numbers.y))
        return {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": self.kid, "x": x, "y": y}

    def sign(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        text = ".".join(encode_segment(json.dumps(each).encode()) for each in (header, claims))
        r, s = decode_dss_signature(self._key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{encode_segment(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


KEY = SigningKey("k1")


def snapshot(header: dict[str, Any] | None = None, key: SigningKey = KEY, **changes: Any) -> str:
    """A snapshot of the service; what is None is left out."""
    lists: dict[str, Any] = {"epochs": [], "bans": [], "mutes": [], "closed": []}
    claims = {"iss": ISSUER, "aud": AUDIENCE, "tid": TENANT, "seq": 7, "exp": NOW + 60, **lists, **changes}
    given = {name: value for name, value in claims.items() if value is not None}
    return key.sign({"alg": "ES256", "kid": KEY.kid, "typ": "revocations+jwt", **(header or {})}, given)


class Stream(httpx.AsyncByteStream):
    """A stream of events that a test writes to."""

    def __init__(self) -> None:
        self._parts: asyncio.Queue[str | Exception | None] = asyncio.Queue()

    def send(self, event: str, data: str) -> None:
        self._parts.put_nowait(f"event: {event}\ndata: {data}\n\n")

    def end(self, error: Exception | None = None) -> None:
        self._parts.put_nowait(error)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._parts.get()) is not None:
            if isinstance(part, Exception):
                raise part
            yield part.encode()


class Answers(httpx.AsyncBaseTransport):
    """A service that gives these answers, one for each request, then none."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.requests: list[httpx.Request] = []
        self.times: list[float] = []

    @property
    def asked(self) -> list[str]:
        return [each.url.raw_path.decode() for each in self.requests]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.times.append(now())
        answer: Any = self.answers.pop(0) if self.answers else None
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Stream):
            return httpx.Response(200, headers={"content-type": "text/event-stream; charset=utf-8"}, stream=answer)
        return httpx.Response(200, text=answer) if isinstance(answer, str) else cast(httpx.Response, answer)
