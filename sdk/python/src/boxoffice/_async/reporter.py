"""The reporter of usage. It runs in a thread of its own; here is what waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType

from boxoffice._async import io
from boxoffice.relay.background import Background
from boxoffice.relay.errors import UsageError
from boxoffice.relay.key_source import KeySource
from boxoffice.relay.usage.core import Core, ReporterOptions
from boxoffice.relay.usage.events import UsageEvent
from boxoffice.relay.usage.record import ParticipantUsage, Pending
from boxoffice.relay.usage.sessions import Session
from boxoffice.types import Role, Tier


class AsyncUsageSession:
    """The stay of one participant; the reporter counts its seconds. Any thread may use it."""

    def __init__(self, background: Background, session: Session) -> None:
        self._background, self._session = background, session

    @property
    def id(self) -> str:
        """Its part of the ids of records."""
        return self._session.id

    def add(self, *, egress_bytes: int = 0, ingress_bytes: int = 0) -> None:
        """Count bytes since the last call: sent to the participant, and received. Waits for nothing.

        Raises `UsageError` with `closed` once the session or the reporter has ended, or with `invalid_usage`.
        """
        self._session.add(egress_bytes, ingress_bytes)

    def change(self, *, role: Role | None = None, tier: Tier | None = None) -> None:
        """From now on the participant has this role and tier; what is left out stays as it is. Waits for nothing."""
        self._session.change(role, tier)

    async def end(self) -> None:
        """The participant left. Returns once the last interval is on disk; after `UsageError`, call it again."""
        await io.settled(self._background.start(self._session.ended()))


class AsyncUsageReporter:
    """Accepts usage, stores records on disk, sends batches, until `close()`. It is a context manager.

    It works in a thread of its own, whatever the program waits for meanwhile, and any thread may use it. A process that is
    forked from this one may not: it opens its own, with another folder.
    """

    def __init__(self, background: Background, core: Core) -> None:
        """Use `open()`."""
        self._background, self._core = background, core
        self._closing: Future[int] | None = None
        self._lock = threading.Lock()

    @classmethod
    async def open(
        cls,
        *,
        url: str,
        key: KeySource,
        spool: str | Path,
        relay_id: str,
        on_event: Callable[[UsageEvent], object] | None = None,
        interval_seconds: float = 30,
        batch_records: int = 1_000,
        batch_bytes: int = 700_000,
        batch_seconds: float = 5,
        ca: bytes | None = None,
    ) -> AsyncUsageReporter:
        """Open a reporter, which sends first what an earlier one left.

        Raises `UsageError` with `invalid_options` or `spool_in_use`, or an `OSError` about the folder.

        Args:
            url: Base URL of the service, such as `https://boxoffice.example`.
            key: The relay key, or its source, which is read at the start and after each 401.
            spool: A folder on a local disk for this reporter alone. It is created if necessary.
            relay_id: Name of the relay within its tenant: 1 to 64 of `A-Z a-z 0-9 _ -`.
            on_event: Called for every event, in the reporter's thread: it must not wait there for the reporter.
            interval_seconds: How often running sessions become records.
            batch_records: A batch is sent when it has this many records, at most 5,000,
            batch_bytes: or this many bytes, below 1 MiB,
            batch_seconds: or when its first record is this many seconds old.
            ca: CA certificates in PEM, in place of the system's.
        """
        options = ReporterOptions(
            url=url,
            key=key,
            spool=Path(spool),
            relay_id=relay_id,
            on_event=on_event,
            interval_seconds=interval_seconds,
            batch_records=batch_records,
            batch_bytes=batch_bytes,
            batch_seconds=batch_seconds,
            ca=ca,
        )
        background = Background("boxoffice-usage")
        try:
            return cls(background, await io.settled(background.start(Core.open(options))))
        except BaseException:
            background.stop()
            raise

    @property
    def admitted(self) -> bool | None:
        """False: admit no new participants; present ones stay, and are reported.

        None until the first answer. While the service cannot be reached, the last value stays.
        """
        return self._core.admitted

    @property
    def pending(self) -> Pending:
        """The records on disk that are not settled yet."""
        return Pending(*self._core.pending)

    async def record(self, usage: ParticipantUsage) -> list[str]:
        """Store the usage of one participant in one interval. Returns its ids once it is on disk.

        Raises `UsageError`: then nothing was stored. After `spool_failed` the same usage may be recorded again.
        """
        self._refuse_if_closed()
        records = self._core.render(usage)
        await io.settled(self._background.start(self._core.append(records.values())))
        return list(records)

    def start_session(
        self,
        *,
        role: Role,
        tier: Tier,
        room: str | None = None,
        participant: str | None = None,
        tenant: str | None = None,
        session_id: str | None = None,
    ) -> AsyncUsageSession:
        """Measure the usage of a participant from now on, and record it in intervals. Waits for nothing.

        `session_id` becomes part of the ids; without it, the reporter counts. `ParticipantUsage` has the meaning of the rest.
        """
        self._refuse_if_closed()
        start = ParticipantUsage(
            role=role,
            tier=tier,
            room=room,
            participant=participant,
            tenant=tenant,
            session_id=session_id,
            seconds=0,
            egress_bytes=0,
            ingress_bytes=0,
        )
        return AsyncUsageSession(self._background, self._core.sessions.start(start))

    async def sync(self) -> None:
        """Write to disk now what `record` was given, rather than within 200 ms."""
        self._refuse_if_closed()
        await io.settled(self._background.start(self._core.sync()))

    async def close(self, *, seconds: float = 5) -> int:
        """End all sessions, write everything to disk, and send for so long at most.

        The rest is sent at the next start. Returns its number of records.
        """
        with self._lock:
            if self._closing is None:
                self._closing = self._background.start(self._core.close(seconds))
        try:
            return await io.settled(self._closing)
        finally:
            if self._closing.done():
                self._background.stop()

    async def __aenter__(self) -> AsyncUsageReporter:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _refuse_if_closed(self) -> None:
        if self._closing is not None:
            raise UsageError("closed", "the reporter is closed")
