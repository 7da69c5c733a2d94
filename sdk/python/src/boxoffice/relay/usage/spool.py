"""Records on disk, from their acknowledgement until the service has them.

A folder of numbered segment files (`segment.py`). New records are appended to the open segment, and many share one fsync. A
sealed segment is never written again: a batch is made from it, and it is deleted once the service has settled all its
records. Segments of an earlier start are sealed. The SDKs of all languages have the same files.

What running sessions have used since their last record is kept beside it, and becomes records at the next start.

    0000000042.segment   records to be sent
    0000000007.kept      a segment for a person to inspect
    quarantine.jsonl     records the service refused, with the reason
    running.records      what running sessions would record if they ended now
    lock.*               the owner of the folder

All of it happens in one event loop, which waits for the disk: so nothing comes in between.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boxoffice.relay.errors import UsageError
from boxoffice.relay.usage.batches import ENVELOPE_BYTES, BatchLimits, bytes_of
from boxoffice.relay.usage.events import CheckpointFailed, Emit, SegmentCorrupt, SegmentFailed, SpoolRecovered
from boxoffice.relay.usage.folder_lock import FolderLock
from boxoffice.relay.usage.record import id_of
from boxoffice.relay.usage.segment import encode_entry, parse_segment

_SYNC_RECORDS = 64
_SYNC_SECONDS = 0.2
"""Flush when so many records wait for the disk, or when one has waited so long."""
_READ_AGAIN_SECONDS = 60
"""A segment that cannot be read is tried again after this time."""

_SEGMENT_NAME = re.compile(r"(\d{10})\.(segment|kept)")

if sys.platform == "darwin":
    import fcntl

    def _sync_data(file: int) -> None:
        # `fsync` would leave it in the cache of the drive.
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
else:
    _sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


@dataclass(eq=False, slots=True)
class Segment:
    """A file of records."""

    path: Path
    records: int = 0
    file_bytes: int | None = None
    """Acknowledged bytes of the file. None: all that there are."""
    is_corrupt: bool = False

    @property
    def kept_path(self) -> Path:
        """Where `settle` keeps it."""
        return self.path.with_suffix(".kept")


@dataclass(eq=False, kw_only=True, slots=True)
class _OpenSegment:
    path: Path
    file: int
    since: float
    """When its first record was stored, by the loop's clock."""
    records: int = 0
    file_bytes: int = 0
    body_bytes: int = ENVELOPE_BYTES


@dataclass(eq=False, slots=True)
class _Append:
    """The lines of one call, which become durable together or not at all."""

    lines: list[str]
    stored: asyncio.Future[None]
    body_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.body_bytes = sum(map(bytes_of, self.lines))


class Spool:
    """A folder of records. `limits`: a segment never exceeds a batch, so that one request sends it all."""

    def __init__(self, folder: Path, limits: BatchLimits, emit: Emit) -> None:
        self._folder = folder.absolute()
        self._limits, self._emit = limits, emit
        self.on_change: Callable[[], object] = lambda: None
        """Called when there is something new to send, or soon will be."""
        self.running: Callable[[], Iterable[str]] = lambda: ()
        """What running sessions would record if they ended now, under the ids that it will have."""
        self.quarantine_path = self._folder / "quarantine.jsonl"
        self._running_path = self._folder / "running.records"
        self._loop = asyncio.get_running_loop()
        self._directory = -1
        self._sealed: list[Segment] = []
        # Those that cannot be read now, and when each is tried again.
        self._unread: deque[tuple[float, Segment]] = deque()
        self._open: _OpenSegment | None = None
        self._last_number = 0
        self._has_checkpoint = False
        self._waiting: deque[_Append] = deque()
        self._waiting_records = 0
        self._syncing: asyncio.TimerHandle | None = None
        # Why no more records are accepted.
        self._refusal: Callable[[], UsageError] | None = None

    async def open(self) -> None:
        """Lock the folder, and load what an earlier start left in it. Raises `spool_in_use`, or an `OSError`."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = os.open(self._folder, os.O_RDONLY)
        self._lock = FolderLock(self._folder, self._directory)
        try:
            await self._lock.take()
            try:
                self._recover()
            except BaseException:
                self._lock.release()
                raise
        except BaseException:
            os.close(self._directory)
            raise

    def _recover(self) -> None:
        torn_bytes = 0
        for path in sorted(self._folder.iterdir()):
            match = _SEGMENT_NAME.fullmatch(path.name)
            if match:
                self._last_number = max(self._last_number, int(match[1]))
                torn_bytes += self._recover_segment(path) if match[2] == "segment" else 0
        self._recover_running()
        segments, records = self.pending
        if segments > 0:
            self._emit(SpoolRecovered(segments, records, torn_bytes))

    def _recover_segment(self, path: Path) -> int:
        """Return the bytes of an incomplete entry from the earlier start."""
        try:
            octets = path.read_bytes()
        except OSError as cause:
            # It is not known to be whole, so the file stays.
            self._put_off(Segment(path, is_corrupt=True))
            self._emit(SegmentFailed(path, cause))
            return 0
        parsed = parse_segment(octets)
        self._tell_damage(path, parsed.corrupt)
        self._sealed.append(Segment(path, len(parsed.lines), len(octets), bool(parsed.corrupt)))
        return parsed.torn_bytes

    def _recover_running(self) -> None:
        """What the sessions of the earlier start had used since their last record becomes records."""
        try:
            parsed = parse_segment(self._running_path.read_bytes())
        except FileNotFoundError:
            return
        self._tell_damage(self._running_path, parsed.corrupt)
        recorded = {id_of(line) for segment in list(self._sealed) for line in self.read(segment) or ()}
        stored = [self.append([line]) for line in parsed.lines if id_of(line) not in recorded]
        self.sync()
        for each in stored:
            each.result()
        self._running_path.unlink()

    def _tell_damage(self, path: Path, corrupt: list[tuple[int, int]]) -> None:
        for offset, length in corrupt:
            self._emit(SegmentCorrupt(path, offset, length))

    @property
    def pending(self) -> tuple[int, int]:
        """The number of segments and of records that are stored and unsettled. Any thread may ask."""
        known: list[Any] = [*self._sealed, *(each for _, each in tuple(self._unread)), self._open]
        there = [each.records for each in known if each is not None]
        return len(there), sum(there)

    @property
    def open_since(self) -> float | None:
        """When the first record of the open segment was stored."""
        return self._open.since if self._open else None

    def oldest(self) -> Segment | None:
        """Return the next segment to send."""
        while self._unread and self._unread[0][0] <= self._loop.time():
            self._sealed.append(self._unread.popleft()[1])
        return self._sealed[0] if self._sealed else None

    def append(self, lines: list[str]) -> asyncio.Future[None]:
        """Store lines, all or none. What is returned is done once they are on disk.

        After `spool_failed` nothing of this call is stored, so it can be repeated.
        """
        stored: asyncio.Future[None] = self._loop.create_future()
        if self._refusal:
            stored.set_exception(self._refusal())
            return stored
        self._waiting.append(_Append(lines, stored))
        before, self._waiting_records = self._waiting_records, self._waiting_records + len(lines)
        if before < _SYNC_RECORDS <= self._waiting_records:
            # Soon, so that what is on its way shares the fsync.
            self._loop.call_soon(self.sync)
        elif self._syncing is None:
            self._syncing = self._loop.call_later(_SYNC_SECONDS, self.sync)
        return stored

    def sync(self) -> None:
        """Store the waiting lines. Never fails: each `append` tells its own caller."""
        if self._syncing is not None:
            self._syncing.cancel()
            self._syncing = None
        while self._waiting:
            group = self._take_group()
            if not group:
                self._seal_open()
                continue
            try:
                self._write(group)
            except Exception as cause:
                for each in group:
                    failure = (
                        self._refusal() if self._refusal else UsageError("spool_failed", "usage could not be stored")
                    )
                    failure.__cause__ = cause
                    each.stored.set_exception(failure)
            else:
                for each in group:
                    each.stored.set_result(None)

    def seal(self) -> None:
        """Store the waiting lines, and seal the open segment so that it can be sent."""
        self.sync()
        self._seal_open()

    def checkpoint(self) -> None:
        """Keep what running sessions have used. Never fails: it is repeated soon."""
        # After a failed write it is not known which records are on disk: the last checkpoint still tells.
        if self._refusal:
            return
        lines = list(self.running())
        if not lines and not self._has_checkpoint:
            return
        try:
            if lines:
                self._replace_running(b"".join(map(encode_entry, lines)))
            else:
                self._running_path.unlink(missing_ok=True)
            self._has_checkpoint = bool(lines)
        except OSError as cause:
            self._emit(CheckpointFailed(cause))

    def _replace_running(self, octets: bytes) -> None:
        path = self._running_path.with_suffix(".records.new")
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            _write_all(file, octets)
        finally:
            os.close(file)
        path.rename(self._running_path)
        os.fsync(self._directory)

    def _take_group(self) -> list[_Append]:
        """As many waiting calls as fit into the open segment; at least one if the segment is empty."""
        records, size = (self._open.records, self._open.body_bytes) if self._open else (0, ENVELOPE_BYTES)
        group: list[_Append] = []
        while self._waiting:
            each = self._waiting[0]
            records, size = records + len(each.lines), size + each.body_bytes
            fits = records <= self._limits.records and size <= self._limits.bytes
            if not fits and records > len(each.lines):
                break
            group.append(self._waiting.popleft())
            self._waiting_records -= len(each.lines)
        return group

    def _write(self, group: list[_Append]) -> None:
        if self._refusal:
            raise self._refusal()
        lines = [line for each in group for line in each.lines]
        octets = b"".join(map(encode_entry, lines))
        if self._open is None:
            self._open = self._create_segment()
        segment = self._open
        try:
            _write_all(segment.file, octets)
        except OSError:
            self._undo(segment)
            raise
        segment.records += len(lines)
        segment.file_bytes += len(octets)
        segment.body_bytes += sum(each.body_bytes for each in group)
        if segment.records >= self._limits.records:
            self._seal_open()
        else:
            self.on_change()

    def _create_segment(self) -> _OpenSegment:
        self._last_number += 1
        path = self._folder / f"{self._last_number:010}.segment"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        try:
            # Without this, a power failure could lose the name of the file, and so all of it.
            os.fsync(self._directory)
        except OSError:
            os.close(file)
            path.unlink(missing_ok=True)
            raise
        return _OpenSegment(path=path, file=file, since=self._loop.time())

    def _undo(self, segment: _OpenSegment) -> None:
        """Roll back a failed write, so that the caller may record the same usage again without being charged twice.

        A file that failed once is not written again.
        """
        try:
            os.ftruncate(segment.file, segment.file_bytes)
            _sync_data(segment.file)
        except OSError:
            self._refusal = lambda: UsageError("spool_broken", "a failed write could not be taken back")
            return
        self._seal_open()

    def _seal_open(self) -> None:
        segment, self._open = self._open, None
        if segment is None:
            return
        # Everything acknowledged was synced before, so closing cannot lose data.
        with suppress(OSError):
            os.close(segment.file)
        if segment.records == 0:
            with suppress(OSError):
                segment.path.unlink()
            return
        self._sealed.append(Segment(segment.path, segment.records, segment.file_bytes))
        self.on_change()

    def read(self, segment: Segment) -> list[str] | None:
        """Return the records of a segment, as they were stored. None skips it, for a minute if it is still there."""
        try:
            return parse_segment(segment.path.read_bytes()[: segment.file_bytes]).lines
        except OSError as cause:
            if isinstance(cause, FileNotFoundError):
                self._sealed.remove(segment)
            else:
                self._put_off(segment)
            self._emit(SegmentFailed(segment.path, cause))
            return None

    def settle(self, segment: Segment, *, keep: bool) -> None:
        """Every record of the segment is settled: delete it, or keep it for a person to inspect."""
        # A checkpoint from before these records has their ids. Without the segment, the next start would report them again.
        if self._has_checkpoint:
            self.checkpoint()
        try:
            if keep or segment.is_corrupt:
                segment.path.rename(segment.kept_path)
            else:
                segment.path.unlink()
        except OSError as cause:
            self._emit(SegmentFailed(segment.path, cause))
        self._sealed.remove(segment)

    def _put_off(self, segment: Segment) -> None:
        """Try a segment again later, and others meanwhile."""
        if segment in self._sealed:
            self._sealed.remove(segment)
        self._unread.append((self._loop.time() + _READ_AGAIN_SECONDS, segment))

    def quarantine(self, line: str, message: str) -> None:
        """Keep a refused record with the reason. After a crash before `settle` it may be there twice."""
        file = os.open(self.quarantine_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(file).st_size
            try:
                _write_all(file, f'{{"message":{json.dumps(message)},"record":{line}}}\n'.encode())
            except OSError:
                # Half a line would spoil the next one.
                with suppress(OSError):
                    os.ftruncate(file, size)
                raise
        finally:
            os.close(file)
        os.fsync(self._directory)

    def close(self) -> None:
        """Store the waiting lines and release the folder."""
        self.seal()
        self.checkpoint()
        self._refusal = self._refusal or (lambda: UsageError("closed", "the reporter is closed"))
        self._lock.release()
        os.close(self._directory)


def _write_all(file: int, octets: bytes) -> None:
    """Write, and wait for the disk."""
    left = memoryview(octets)
    while left:
        left = left[os.write(file, left) :]
    _sync_data(file)
