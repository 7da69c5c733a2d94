"""Follows the revocations of the tenants' tokens, and whether the tenants are admitted.

There is one stream for each tenant, or, where an older service or a proxy does not offer it, a continuous long poll. A
snapshot is accepted only if the service signed it for this tenant, and never if it is older than the current one. Without
a fresh snapshot, `TokenVerifier` refuses newcomers and renewals; running sessions continue.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote

import httpx

from boxoffice._failures import retry_after
from boxoffice._jose import read_object
from boxoffice._limits import check_url, http_trust
from boxoffice.relay.background import Background, Backoff, in_thread, tell
from boxoffice.relay.errors import AdmissionRefused, UsageError
from boxoffice.relay.event_stream import read_events
from boxoffice.relay.key_source import KeySource, read_key
from boxoffice.relay.keys import Keys, keys_of
from boxoffice.relay.verifier import Revocations, snapshot_header, verify_snapshot

_ANSWER_SECONDS_MAX = 40
"""The service says something every 25 seconds, even without news."""
_FIRST_EVENT_SECONDS_MAX = 10
"""A stream begins at once. A proxy that collects the whole answer first would never let it through."""
_POLLS_SECONDS = 300
"""How long there are polls after a stream was not offered, or refused."""
_RETRY_SECONDS_MAX = 5
"""Snapshots last a minute, so there is time for several attempts."""
_RETRY_AFTER_SECONDS_MAX = 30
"""A longer `Retry-After` is cut to this: without snapshots no participant is admitted."""
_NOTHING_NEW_SECONDS = 1
"""After an immediate answer without news, or the end of a stream: all relays may come back at once."""
_SNAPSHOT_CHARACTERS_MAX = 16 * 1024 * 1024


class RevocationsError(Exception):
    """An attempt to get newer revocations failed. For `on_error`; no action is needed."""

    def __init__(
        self,
        code: Literal["NO_ANSWER", "BAD_ANSWER", "NOT_VALID", "OLDER"],
        tenant: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"no newer revocations of {tenant}: {code}")
        self.code = code
        """Why. `NO_ANSWER`: there was none, or not in time. `BAD_ANSWER`: it was not 200, or far too long. `NOT_VALID`: not
        signed by the service, not for this tenant, or not current. `OLDER`: older than the current snapshot.
        """
        self.tenant = tenant
        """The tenant whose revocations were asked for."""
        self.status = status
        """HTTP status of a `BAD_ANSWER`."""
        self.retry_after = retry_after
        """The minimum wait in seconds that the service asks for, if it does."""


class RevocationFeed:
    """The current revocations, kept up to date until `close()`, in a thread of its own. It is a context manager.

    Attempts that fail are repeated within 5 seconds, or after `Retry-After`, up to 30.
    """

    def __init__(
        self,
        *,
        url: str,
        tenants: Iterable[str],
        issuer: str,
        audience: str,
        jwks_url: str | None = None,
        jwks: Mapping[str, Any] | None = None,
        relay_key: Callable[[str], KeySource | None] = lambda tenant: None,
        on_change: Callable[[str, Revocations], object] | None = None,
        on_budgets: Callable[[str], object] | None = None,
        on_error: Callable[[RevocationsError], object] | None = None,
        ca: bytes | None = None,
    ) -> None:
        """Follow the revocations of tenants from now on. Raises `Invalid` for wrong options.

        The thread of the feed calls what is given here. It must not wait there for the feed.

        Args:
            url: Base URL of the service.
            tenants: Ids of the tenants to follow.
            issuer: `iss` of the snapshots, as of tokens.
            audience: `aud` of the snapshots, as of tokens.
            jwks_url: Address of the service's keys, which are fetched and kept: `/.well-known/jwks.json`.
            jwks: The keys themselves, in place of `jwks_url`; nothing is fetched.
            relay_key: A relay key of the tenant, with which the stream also tells whether the tenant is admitted. It is read
                for each stream. Without it, or if it does not work, revocations are followed all the same.
            on_change: The revocations changed: check the running sessions of the tenant.
            on_budgets: The budgets that are spent changed: end the sessions for which `budget_reached` is true.
            on_error: An attempt failed. It is repeated.
            ca: CA certificates in PEM, in place of the system's.
        """
        check_url("url", url)
        following = FollowOptions(
            url=url.rstrip("/"),
            issuer=issuer,
            audience=audience,
            keys=keys_of(jwks, jwks_url, ca),
            relay_key=relay_key,
            on_change=on_change,
            on_budgets=on_budgets,
            on_error=on_error,
        )
        http = httpx.AsyncClient(
            timeout=None,
            # A connection for each request, as many as there are tenants.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            verify=http_trust(ca),
        )
        self._followers = {tenant: Follower(following, http, tenant) for tenant in tenants}
        self._background = Background("boxoffice-feed")
        for each in self._followers.values():
            self._background.start(each.run())

    def get(self, tenant: str) -> Revocations | None:
        """Return the newest snapshot; give it to `TokenVerifier` as `revocations`."""
        follower = self._followers.get(tenant)
        return follower.snapshot if follower else None

    def admitted(self, tenant: str) -> bool | None:
        """Tell whether the tenant is admitted, as of now.

        None while no stream with a relay key tells it: then that of the reporter of usage counts.
        """
        follower = self._followers.get(tenant)
        return follower.admitted if follower else None

    def budget_reached(self, tenant: str, budgets: Sequence[str]) -> bool:
        """Tell whether one of these budgets, those of a token, is spent, as far as a stream with a relay key has told."""
        follower = self._followers.get(tenant)
        return follower is not None and not follower.reached.isdisjoint(budgets)

    def close(self) -> None:
        """Stop following. Returns when no request is in progress."""
        self._background.stop()

    def __enter__(self) -> RevocationFeed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, kw_only=True)
class FollowOptions:
    """What the followers of all tenants share."""

    url: str
    issuer: str
    audience: str
    keys: Keys
    relay_key: Callable[[str], KeySource | None] = lambda tenant: None
    on_change: Callable[[str, Revocations], object] | None = None
    on_budgets: Callable[[str], object] | None = None
    on_error: Callable[[RevocationsError], object] | None = None
    wall_clock: Callable[[], float] = time.time


class Follower:
    """Follows one tenant. Its loop's clock measures waits."""

    def __init__(self, options: FollowOptions, http: httpx.AsyncClient, tenant: str) -> None:
        self._options, self._http, self._tenant = options, http, tenant
        self._url = f"{options.url}/v1/revocations/{quote(tenant, safe='')}"
        self._backoff = Backoff(_RETRY_SECONDS_MAX)
        # There are streams from then on, and polls before.
        self._streams_from = self._ends_at = float("-inf")
        self._has_begun = False
        self.snapshot: Revocations | None = None
        self.admitted: bool | None = None
        self.reached: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Follow until it is cancelled."""
        now = asyncio.get_running_loop().time
        while True:
            asked_at = now()
            wants_stream = asked_at >= self._streams_from
            try:
                is_new = await self._ask(wants_stream)
                self._backoff.failures = 0
                is_hasty = not is_new and now() - asked_at < _NOTHING_NEW_SECONDS
                if is_hasty or (wants_stream and now() >= self._streams_from):
                    await asyncio.sleep(random.random() * _NOTHING_NEW_SECONDS)
            except RevocationsError as error:
                tell(self._options.on_error, error)
                await asyncio.sleep(self._backoff.next(min(error.retry_after or 0.0, _RETRY_AFTER_SECONDS_MAX)))

    async def _ask(self, wants_stream: bool) -> bool:
        """Return whether it brought news."""
        loop = asyncio.get_running_loop()
        self._has_begun = not wants_stream
        self._ends_at = loop.time() + (_FIRST_EVENT_SECONDS_MAX if wants_stream else _ANSWER_SECONDS_MAX)
        asking = asyncio.ensure_future(self._request(wants_stream))
        try:
            while not asking.done() and loop.time() < self._ends_at:
                await asyncio.wait([asking], timeout=self._ends_at - loop.time())
            if asking.done():
                return asking.result()
            if not self._has_begun:
                self._offers_no_stream()
            raise RevocationsError("NO_ANSWER", self._tenant)
        except RevocationsError:
            raise
        except UsageError as cause:
            self._offers_no_stream()
            raise RevocationsError("NO_ANSWER", self._tenant) from cause
        except Exception as cause:
            raise RevocationsError("NO_ANSWER", self._tenant) from cause
        finally:
            self.admitted, self.reached = None, frozenset()
            asking.cancel()
            await asyncio.wait([asking])

    def _offers_no_stream(self) -> None:
        self._streams_from = asyncio.get_running_loop().time() + _POLLS_SECONDS

    async def _request(self, wants_stream: bool) -> bool:
        known, headers = self.snapshot, {}
        if wants_stream:
            headers["accept"] = "text/event-stream"
            source = self._options.relay_key(self._tenant)
            if source is not None:
                headers["authorization"] = f"Bearer {await read_key(source)}"
        after = {"after": str(known.seq)} if known and not wants_stream else None
        async with self._http.stream("GET", self._url, params=after, headers=headers) as answer:
            is_stream = wants_stream and re.match(r"text/event-stream\b", answer.headers.get("content-type", ""))
            if wants_stream and not is_stream and answer.status_code < 500:
                self._offers_no_stream()
            if is_stream and answer.is_success:
                return await self._read_stream(answer)
            text = await _read_text(answer)
        if answer.status_code == 200 and text is not None:
            return await self._accept(text)
        asked = retry_after(answer.headers.get("retry-after"))
        raise RevocationsError("BAD_ANSWER", self._tenant, status=answer.status_code, retry_after=asked)

    async def _read_stream(self, answer: httpx.Response) -> bool:
        """Until the stream ends."""
        is_new = False
        async for event, data in read_events(answer.aiter_bytes(), _SNAPSHOT_CHARACTERS_MAX):
            self._ends_at = asyncio.get_running_loop().time() + _ANSWER_SECONDS_MAX
            self._has_begun = True
            self._backoff.failures = 0
            if event == "revocations":
                is_new = await self._accept(data) or is_new
            elif event == "admitted":
                self._read_admitted(data)
        return is_new

    def _read_admitted(self, data: str) -> None:
        told = read_object(data.encode())
        if told is None:
            raise ValueError("the event is no JSON")
        if isinstance(told.get("admitted"), bool):
            self.admitted = told["admitted"]
        budgets = told.get("reached_budgets")
        before = self.reached
        self.reached = frozenset(str(each) for each in budgets) if isinstance(budgets, list) else frozenset()
        if self.reached or before:
            tell(self._options.on_budgets, self._tenant)

    async def _accept(self, jws: str) -> bool:
        """Return whether it differs from the previous one."""
        options = self._options
        kid = snapshot_header(jws).get("kid")
        if options.keys.is_due(kid):
            await in_thread(lambda: _fetch(options.keys, kid))
        try:
            snapshot = verify_snapshot(
                jws,
                issuer=options.issuer,
                audience=options.audience,
                tenant=self._tenant,
                keys=options.keys,
                now=options.wall_clock(),
            )
        except ValueError as cause:
            raise RevocationsError("NOT_VALID", self._tenant) from cause
        return self._keep(snapshot)

    def _keep(self, snapshot: Revocations) -> bool:
        known = self.snapshot
        if known is not None:
            # An expired snapshot was signed before this one, so a smaller number means that numbering restarted.
            if snapshot.seq < known.seq and self._options.wall_clock() < known.exp:
                raise RevocationsError("OLDER", self._tenant)
            if snapshot.seq == known.seq and snapshot.exp <= known.exp:
                return False
        self.snapshot = snapshot
        if known is not None and snapshot.seq == known.seq:
            return False
        tell(self._options.on_change, self._tenant, snapshot)
        return True


def _fetch(keys: Keys, kid: object) -> None:
    """Fetch what is due. The verification tells what is still missing."""
    with suppress(AdmissionRefused):
        keys.get(kid)


async def _read_text(answer: httpx.Response) -> str | None:
    """Return the body; None if it is too long for a snapshot."""
    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > _SNAPSHOT_CHARACTERS_MAX:
            return None
    return body.decode(errors="replace")
