"""Sessions: the stays of participants, split into intervals that become records.

Usage is kept separately by role and tier, so an interval in which these changed becomes one record for each. Usage that could
not be stored stays here, for the next interval.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from boxoffice.relay.errors import UsageError
from boxoffice.relay.usage.events import Emit, IntervalNotStored
from boxoffice.relay.usage.record import WHOLE_MAX, ParticipantUsage, check_count, check_usage
from boxoffice.types import Role, Tier

_CHECKPOINT_SECONDS = 1
"""How often the usage of running sessions is kept on disk: what a crash can lose."""


@dataclass(slots=True)
class _Tally:
    """The usage of one session in one role and tier that is no record yet."""

    role: Role
    tier: Tier
    # Of the record that it becomes, once it is known.
    id: str | None = None
    seconds: float = 0.0
    egress_bytes: int = 0
    ingress_bytes: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Unrecorded:
    """A record that is not stored yet."""

    id: str
    usage: ParticipantUsage


@dataclass(frozen=True, kw_only=True)
class SessionsOptions:
    """What sessions need. `store` begins to store a record; `checkpoint` keeps what `unrecorded` returns, and never fails."""

    interval_seconds: float
    emit: Emit
    new_id: Callable[[str], str]
    store: Callable[[Unrecorded], asyncio.Future[None]]
    checkpoint: Callable[[], None]


class Sessions:
    """The running sessions. `start` and the methods of sessions may be called by any thread, what else is here by the loop."""

    def __init__(self, options: SessionsOptions) -> None:
        self.options = options
        self.loop = asyncio.get_running_loop()
        self.running: dict[Session, None] = {}
        self._numbers = itertools.count(1)
        self._cuts: set[asyncio.Task[None]] = set()
        self._cut_all()
        self._checkpoint()

    def unrecorded(self) -> list[Unrecorded]:
        """Return what running sessions would record if they ended now. The ids stay the same until it is recorded."""
        return [record for session in list(self.running) for record in session.unrecorded()]

    def start(self, start: ParticipantUsage) -> Session:
        """Begin a session. `start` has no usage yet."""
        check_usage(start)
        session = Session(self, start.session_id or f"s{next(self._numbers)}", start)
        self.running[session] = None
        return session

    def close(self) -> Coroutine[Any, Any, None]:
        """End all sessions. What is returned waits for the disk, and tells by events which could not be stored."""
        self._cutting.cancel()
        self._checkpointing.cancel()
        ending = [self._told(each, each.end()) for each in list(self.running)]

        async def wait() -> None:
            await asyncio.gather(*ending, *self._cuts)

        return wait()

    def _cut_all(self) -> None:
        self._cutting = self.loop.call_later(self.options.interval_seconds, self._cut_all)
        for session in list(self.running):
            task = self.loop.create_task(self._told(session, session.cut()))
            self._cuts.add(task)
            task.add_done_callback(self._cuts.discard)

    def _checkpoint(self) -> None:
        self._checkpointing = self.loop.call_later(_CHECKPOINT_SECONDS, self._checkpoint)
        self.options.checkpoint()

    async def _told(self, session: Session, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except UsageError as cause:
            self.options.emit(IntervalNotStored(session.id, cause))


class Session:
    """The stay of one participant; its seconds are counted."""

    def __init__(self, sessions: Sessions, id: str, start: ParticipantUsage) -> None:
        self.id = id
        self._sessions, self._start = sessions, start
        self._lock = threading.Lock()
        self._tallies: dict[tuple[Role, Tier], _Tally] = {}
        self._current = self._tally_of(start.role, start.tier)
        self._counted_until = sessions.loop.time()
        self._has_ended = False
        # Records that are on their way to the disk, and what waits for them.
        self._unstored: dict[Unrecorded, None] = {}
        self._storing: set[asyncio.Task[None]] = set()

    def add(self, egress_bytes: int, ingress_bytes: int) -> None:
        """Count bytes since the last call."""
        check_count("egress_bytes", egress_bytes)
        check_count("ingress_bytes", ingress_bytes)
        with self._lock:
            self._refuse_if_ended()
            tally = self._current
            if max(tally.egress_bytes + egress_bytes, tally.ingress_bytes + ingress_bytes) > WHOLE_MAX:
                raise UsageError("invalid_usage", "the bytes of an interval must be at most 2^53 - 1")
            tally.egress_bytes += egress_bytes
            tally.ingress_bytes += ingress_bytes

    def change(self, role: Role | None, tier: Tier | None) -> None:
        """From now on the participant has this role and tier."""
        with self._lock:
            self._refuse_if_ended()
            now_is = replace(self._start, role=role or self._current.role, tier=tier or self._current.tier)
            check_usage(now_is)
            self._count_time()
            self._current = self._tally_of(now_is.role, now_is.tier)

    def end(self) -> Coroutine[Any, Any, None]:
        """The participant left. What is returned waits for the disk; after a failure, end it again."""
        with self._lock:
            self._count_time()
            self._has_ended = True
        return self.cut()

    async def ended(self) -> None:
        """Do the same in the loop."""
        await self.end()

    def cut(self) -> Coroutine[Any, Any, None]:
        """Begin to record the usage so far. What is returned waits for the disk."""
        with self._lock:
            self._count_time()
            for tally in self._tallies.values():
                self._record(tally)
        # Includes earlier intervals: if one fails, its usage comes back, and the session has not ended.
        return self._stored(list(self._storing))

    async def _stored(self, storing: list[asyncio.Task[None]]) -> None:
        for result in await asyncio.gather(*storing, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
        if self._has_ended:
            self._sessions.running.pop(self, None)

    def unrecorded(self) -> list[Unrecorded]:
        """Return what it would record if it ended now."""
        with self._lock:
            self._count_time()
            found = list(self._unstored)
            for tally in self._tallies.values():
                usage = self._usage_of(tally, _rounded(tally.seconds))
                if usage.seconds + usage.egress_bytes + usage.ingress_bytes > 0:
                    tally.id = tally.id or self._new_id()
                    found.append(Unrecorded(tally.id, usage))
            return found

    def _record(self, tally: _Tally) -> None:
        """Whole seconds are reported. The remaining fraction waits for the next interval.

        Otherwise its bytes would be reported with zero seconds, and so with a price ceiling of zero.
        """
        usage = self._usage_of(tally, _rounded(tally.seconds) if self._has_ended else int(tally.seconds))
        is_last = self._has_ended and usage.egress_bytes + usage.ingress_bytes > 0
        if usage.seconds == 0 and not is_last:
            return
        taken = replace(tally, seconds=min(tally.seconds, usage.seconds))
        record = Unrecorded(tally.id or self._new_id(), usage)
        tally.id = None
        tally.seconds -= taken.seconds
        tally.egress_bytes = tally.ingress_bytes = 0
        self._unstored[record] = None
        task = self._sessions.loop.create_task(self._store(tally, taken, record, self._sessions.options.store(record)))
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    async def _store(self, tally: _Tally, taken: _Tally, record: Unrecorded, stored: asyncio.Future[None]) -> None:
        is_stored = False
        try:
            await stored
            is_stored = True
        finally:
            with self._lock:
                del self._unstored[record]
                if not is_stored:
                    # The last checkpoint may have it: under another id it would be charged twice after a crash.
                    tally.id = record.id
                    tally.seconds += taken.seconds
                    tally.egress_bytes += taken.egress_bytes
                    tally.ingress_bytes += taken.ingress_bytes

    def _usage_of(self, tally: _Tally, seconds: int) -> ParticipantUsage:
        return replace(
            self._start,
            session_id=self.id,
            role=tally.role,
            tier=tally.tier,
            seconds=seconds,
            egress_bytes=tally.egress_bytes,
            ingress_bytes=tally.ingress_bytes,
        )

    def _new_id(self) -> str:
        return self._sessions.options.new_id(self.id)

    def _refuse_if_ended(self) -> None:
        if self._has_ended:
            raise UsageError("closed", "the session has ended")

    def _count_time(self) -> None:
        now = self._sessions.loop.time()
        if not self._has_ended:
            self._current.seconds += max(0.0, now - self._counted_until)
        self._counted_until = now

    def _tally_of(self, role: Role, tier: Tier) -> _Tally:
        return self._tallies.setdefault((role, tier), _Tally(role, tier))


def _rounded(seconds: float) -> int:
    return int(seconds + 0.5)
