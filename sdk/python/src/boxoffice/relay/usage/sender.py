"""Sends the records of the spool, oldest first, one request at a time, until all are sent.

Source: specification 4.12, charging rule 4. The number of attempts is unlimited: a record leaves the spool only when the
service has answered for it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import suppress
from dataclasses import dataclass

import httpx

from boxoffice._async import io
from boxoffice._kinds import Timeout
from boxoffice.errors import ClientClosed
from boxoffice.relay.background import Backoff
from boxoffice.relay.key_source import KeySource, read_key
from boxoffice.relay.usage import events
from boxoffice.relay.usage.batches import BatchLimits, render_batch, split_batches
from boxoffice.relay.usage.post import Accepted, KeyRefused, Refused, Retry, post_usage
from boxoffice.relay.usage.record import id_of
from boxoffice.relay.usage.spool import Segment, Spool

_log = logging.getLogger("boxoffice")

_LONGEST_WAIT = 60
_SAME_KEY_SECONDS = 60
"""A refused key is tried again after this time, in case the refusal was a mistake."""
_POLL_SECONDS = 15
_POLL_JITTER = 0.2
"""Time from an answer to the empty batch that asks for `admitted`, plus or minus a fifth."""


@dataclass(frozen=True, kw_only=True)
class SenderOptions:
    """Where and how to send; `batch_seconds` is how long the first record of a batch waits for more."""

    url: str
    key: KeySource
    limits: BatchLimits
    batch_seconds: float
    http: httpx.AsyncClient
    spool: Spool
    emit: events.Emit


class Sender:
    """Sends until `drain()`. Times are those of the loop's clock."""

    def __init__(self, options: SenderOptions) -> None:
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._backoff = Backoff(_LONGEST_WAIT)
        self._wake, self._draining = asyncio.Event(), asyncio.Event()
        self._key: str | None = None
        self._refused_key: str | None = None
        self._refused_at = 0.0
        # The earliest time of the next request, and of the next empty batch.
        self._not_before = self._poll_at = self._loop.time()
        self._running: asyncio.Task[None] | None = None
        self.admitted: bool | None = None

    def start(self) -> None:
        """Begin."""
        self._running = self._loop.create_task(self._run())
        self._running.add_done_callback(_tell_bug)

    def wake(self) -> None:
        """Check again whether there is something to send."""
        self._wake.set()

    async def drain(self, seconds: float) -> None:
        """Send sealed segments until all are sent or the time has passed; then stop."""
        assert self._running is not None
        self._draining.set()
        self.wake()
        await asyncio.wait([self._running], timeout=seconds)
        self._running.cancel()
        await asyncio.wait([self._running])
        with suppress(asyncio.CancelledError):
            self._running.result()

    async def _run(self) -> None:
        spool, batch_seconds = self._options.spool, self._options.batch_seconds
        while True:
            segment = spool.oldest()
            if segment is not None:
                await self._send_segment(segment)
                continue
            if self._draining.is_set():
                return
            now, since = self._loop.time(), spool.open_since
            batch_at = float("inf") if since is None else since + batch_seconds
            poll_at = max(self._poll_at, self._not_before)
            if batch_at <= now:
                spool.seal()
            elif poll_at <= now:
                with suppress(ClientClosed):
                    await io.until_closed(self._attempt([]), self._draining)
            else:
                await self._sleep(min(batch_at, poll_at) - now)

    async def _sleep(self, seconds: float) -> None:
        with suppress(Timeout):
            await io.in_time(self._wake.wait(), seconds)
        self._wake.clear()

    async def _send_segment(self, segment: Segment) -> None:
        """Settle every record of a segment: accepted, or quarantined."""
        spool = self._options.spool
        lines = spool.read(segment)
        if lines is None:
            return
        settled = [await self._send_batch(batch, segment) for batch in split_batches(lines, self._options.limits)]
        spool.settle(segment, keep=not all(settled))

    async def _send_batch(self, lines: list[str], segment: Segment) -> bool:
        """Send a batch; False means that a person should inspect the segment.

        A refused one is halved until the faulty records are isolated, so that they do not hold up the others.
        """
        outcome = await self._post(lines)
        if isinstance(outcome, Accepted):
            return self._counts_agree(outcome, len(lines), segment)
        if len(lines) == 1:
            return self._quarantine(lines[0], outcome.message, segment)
        middle = len(lines) // 2
        first = await self._send_batch(lines[:middle], segment)
        return await self._send_batch(lines[middle:], segment) and first

    def _counts_agree(self, outcome: Accepted, records: int, segment: Segment) -> bool:
        counts = (outcome.charged, outcome.duplicates, outcome.unbilled)
        agree = sum(counts) == records
        self._options.emit(
            events.BatchAccepted(records, *counts)
            if agree
            else events.CountsDiffer(records, *counts, file=segment.kept_path)
        )
        return agree

    def _quarantine(self, line: str, message: str, segment: Segment) -> bool:
        """If the quarantine cannot be written, as on a full disk, the segment itself is kept."""
        spool = self._options.spool
        try:
            spool.quarantine(line, message)
            file = spool.quarantine_path
        except OSError:
            file = segment.kept_path
        self._options.emit(events.RecordQuarantined(id_of(line), message, file))
        return file == spool.quarantine_path

    async def _post(self, lines: list[str]) -> Accepted | Refused:
        """Repeat the same batch until the service accepts or refuses it."""
        while True:
            outcome = await self._attempt(lines)
            if isinstance(outcome, Refused) and len(lines) == 1:
                # Before a record is condemned: a service that refuses even an empty batch says nothing about the record.
                if await self._attempt([]):
                    return outcome
            elif outcome:
                return outcome

    async def _attempt(self, lines: list[str]) -> Accepted | Refused | None:
        """Make one request, at its time. None means retry; the delay is already set."""
        await asyncio.sleep(self._not_before - self._loop.time())
        key = await self._current_key()
        if key is None:
            return None
        outcome = await post_usage(self._options.http, self._options.url, key, render_batch(lines))
        if isinstance(outcome, Accepted):
            self._backoff.failures = 0
            self._refused_key = None
            self._poll_at = self._loop.time() + _POLL_SECONDS * (1 + _POLL_JITTER * (2 * random.random() - 1))
            self._set_admitted(outcome.admitted)
            return outcome
        if isinstance(outcome, KeyRefused):
            self._key, self._refused_key, self._refused_at = None, key, self._loop.time()
            self._options.emit(events.KeyRefused(self._delay()))
            return None
        if isinstance(outcome, Refused):
            if lines:
                return outcome
            outcome = Retry("unexpected_answer", outcome.status)
        wait = self._delay(outcome.after)
        failures = self._backoff.failures
        self._options.emit(events.SendFailed(outcome.reason, outcome.status, outcome.cause, failures, wait))
        return None

    def _set_admitted(self, admitted: bool) -> None:
        before, self.admitted = self.admitted, admitted
        if admitted != before:
            self._options.emit(events.AdmittedChanged(admitted, before))

    async def _current_key(self) -> str | None:
        """Return the key to send with; None while there is no usable key."""
        if self._key is not None:
            return self._key
        try:
            key = await read_key(self._options.key)
        except Exception as cause:
            self._options.emit(events.KeyUnreadable(cause, self._delay()))
            return None
        if key == self._refused_key and self._loop.time() - self._refused_at < _SAME_KEY_SECONDS:
            self._delay()
            return None
        self._key = key
        return key

    def _delay(self, at_least: float = 0.0) -> float:
        """Delay the next request, after a failure."""
        wait = self._backoff.next(at_least)
        self._not_before = self._loop.time() + wait
        return wait


def _tell_bug(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("usage: the sender has ended, which is a bug", exc_info=task.exception())
