"""The reporter of usage, in its event loop: accepts usage, stores records on disk, sends batches."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from boxoffice._kinds import Invalid
from boxoffice._limits import check_url, http_trust
from boxoffice.relay.errors import UsageError
from boxoffice.relay.key_source import KeySource
from boxoffice.relay.usage.batches import BYTES_MAX, RECORDS_MAX, BatchLimits
from boxoffice.relay.usage.events import UsageEvent, emit_to
from boxoffice.relay.usage.record import ParticipantUsage, check_usage, is_id_part, render
from boxoffice.relay.usage.sender import Sender, SenderOptions
from boxoffice.relay.usage.sessions import Sessions, SessionsOptions, Unrecorded
from boxoffice.relay.usage.spool import Spool


@dataclass(frozen=True, kw_only=True)
class ReporterOptions:
    """Options of a reporter. Raises `invalid_options` for wrong ones."""

    url: str
    key: KeySource
    spool: Path
    relay_id: str
    on_event: Callable[[UsageEvent], object] | None = None
    interval_seconds: float = 30
    batch_records: int = 1_000
    batch_bytes: int = 700_000
    batch_seconds: float = 5
    ca: bytes | None = None
    transport: httpx.AsyncBaseTransport | None = None

    def __post_init__(self) -> None:
        try:
            check_url("url", self.url)
            http_trust(self.ca)
        except Invalid as error:
            raise UsageError("invalid_options", error.message) from None
        if not is_id_part(self.relay_id):
            raise UsageError("invalid_options", "relay_id must be 1 to 64 of A-Z a-z 0-9 _ -")
        limits = {
            "interval_seconds": (1, 3_600),
            "batch_records": (1, RECORDS_MAX),
            "batch_bytes": (1, BYTES_MAX),
            "batch_seconds": (0, 3_600),
        }
        for name, (least, most) in limits.items():
            if not least <= getattr(self, name) <= most:
                raise UsageError("invalid_options", f"{name} must be from {least} to {most}")


class Core:
    """A reporter. What is `async` belongs to its loop; any thread may use the rest."""

    def __init__(self, options: ReporterOptions) -> None:
        emit = emit_to(options.on_event)
        limits = BatchLimits(options.batch_records, options.batch_bytes)
        self._spool = Spool(options.spool, limits, emit)
        self._http = httpx.AsyncClient(
            timeout=None,
            # A connection for each request: httpx would take what a broken proxy sent twice for the next answer.
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=http_trust(options.ca),
            transport=options.transport,
        )
        self._sender = Sender(
            SenderOptions(
                url=f"{options.url.rstrip('/')}/v1/usage",
                key=options.key,
                limits=limits,
                batch_seconds=options.batch_seconds,
                http=self._http,
                spool=self._spool,
                emit=emit,
            )
        )
        self._interval_seconds, self._emit = options.interval_seconds, emit
        # Unique to this start, so that a restarted relay uses no id twice.
        self._id_prefix = f"{options.relay_id}.{secrets.token_urlsafe(6)}"
        self._intervals = itertools.count()
        self.sessions: Sessions

    @classmethod
    async def open(cls, options: ReporterOptions) -> Core:
        """Raises `spool_in_use`, or an `OSError` about the folder."""
        core = cls(options)
        await core._spool.open()
        core.sessions = Sessions(
            SessionsOptions(
                interval_seconds=core._interval_seconds,
                emit=core._emit,
                new_id=core._new_id,
                store=core._store,
                checkpoint=core._spool.checkpoint,
            )
        )
        core._spool.running = core._running_lines
        core._spool.on_change = core._sender.wake
        core._sender.start()
        return core

    @property
    def admitted(self) -> bool | None:
        return self._sender.admitted

    @property
    def pending(self) -> tuple[int, int]:
        return self._spool.pending

    def render(self, usage: ParticipantUsage) -> dict[str, str]:
        """Return the records of usage by id. An id is created once and stored: every attempt to send repeats it."""
        check_usage(usage)
        return render(self._new_id(usage.session_id or "0"), usage)

    async def append(self, lines: Iterable[str]) -> None:
        """Store records."""
        await self._spool.append(list(lines))

    async def sync(self) -> None:
        """Store now what waits."""
        # What was given before may be on its way through the loop.
        await asyncio.sleep(0)
        self._spool.sync()

    async def close(self, seconds: float) -> int:
        """End sessions, store, send for a while. Returns the number of records that are left."""
        ended = self.sessions.close()
        self._spool.seal()
        await ended
        try:
            await self._sender.drain(seconds)
            return self._spool.pending[1]
        finally:
            self._spool.close()
            await self._http.aclose()

    def _store(self, record: Unrecorded) -> asyncio.Future[None]:
        try:
            check_usage(record.usage)
            return self._spool.append(list(render(record.id, record.usage).values()))
        except UsageError as error:
            refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            refused.set_exception(error)
            return refused

    def _running_lines(self) -> list[str]:
        """The records that running sessions would become if they ended now."""
        lines: list[str] = []
        for record in self.sessions.unrecorded():
            # What is too long for a record is refused when it is recorded.
            with suppress(UsageError):
                lines += render(record.id, record.usage).values()
        return lines

    def _new_id(self, session_id: str) -> str:
        return f"{self._id_prefix}.{session_id}.{next(self._intervals)}"
