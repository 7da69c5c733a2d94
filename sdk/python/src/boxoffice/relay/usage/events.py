"""Events of the reporter, for logs, metrics and alarms. No event has a key."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from boxoffice.relay.background import tell

_log = logging.getLogger("boxoffice")


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """What the reporter tells `on_event`: one of the classes that inherit from it."""


@dataclass(frozen=True, slots=True)
class AdmittedChanged(UsageEvent):
    """Required action: False means no new participants until it is True again."""

    admitted: bool
    before: bool | None


@dataclass(frozen=True, slots=True)
class BatchAccepted(UsageEvent):
    """A batch was charged. `unbilled` records belong to a tenant that is exempt from charging."""

    records: int
    charged: int
    duplicates: int
    unbilled: int


@dataclass(frozen=True, slots=True)
class CountsDiffer(UsageEvent):
    """The three counts of an answer do not add up to the records sent. The segment stays on disk: a person looks at it."""

    records: int
    charged: int
    duplicates: int
    unbilled: int
    file: Path


@dataclass(frozen=True, slots=True)
class SendFailed(UsageEvent):
    """A batch was not charged, and is sent again after `retry_after` seconds."""

    reason: Literal["network", "timeout", "server_error", "rate_limited", "unexpected_answer"]
    status: int | None
    """HTTP status; None if there was no answer."""
    cause: Exception | None
    attempt: int
    """Failures in a row, from 1."""
    retry_after: float


@dataclass(frozen=True, slots=True)
class KeyRefused(UsageEvent):
    """401: nothing is sent until the key has changed, or for a minute. Records are kept."""

    retry_after: float


@dataclass(frozen=True, slots=True)
class KeyUnreadable(UsageEvent):
    """The source of the key failed. Records are kept."""

    cause: Exception
    retry_after: float


@dataclass(frozen=True, slots=True)
class RecordQuarantined(UsageEvent):
    """The service refuses a record for good. It is in `file`, with the service's reason: a person looks at it."""

    id: str
    message: str
    file: Path


@dataclass(frozen=True, slots=True)
class SpoolRecovered(UsageEvent):
    """Records of an earlier start are on disk, and are sent first. `torn_bytes` were never accepted."""

    segments: int
    records: int
    torn_bytes: int


@dataclass(frozen=True, slots=True)
class SegmentCorrupt(UsageEvent):
    """A file has damaged bytes. Its valid records are sent; the file stays: a person looks at it."""

    file: Path
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SegmentFailed(UsageEvent):
    """A file cannot be read or removed now. Reading is tried again each minute, and removal at the next start."""

    file: Path
    cause: Exception


@dataclass(frozen=True, slots=True)
class IntervalNotStored(UsageEvent):
    """An interval of a session could not be stored. It is in memory, and tried again."""

    session_id: str
    cause: Exception


@dataclass(frozen=True, slots=True)
class CheckpointFailed(UsageEvent):
    """The disk did not take what running sessions have used. It is in memory, and tried again within a second."""

    cause: Exception


Emit = Callable[[UsageEvent], None]

_USUAL = (AdmittedChanged, BatchAccepted, SendFailed, SpoolRecovered)


def emit_to(listener: Callable[[UsageEvent], object] | None) -> Emit:
    """Return what logs an event, and tells the listener."""

    def emit(event: UsageEvent) -> None:
        _log.log(logging.INFO if isinstance(event, _USUAL) else logging.WARNING, "usage: %s", event)
        tell(listener, event)

    return emit
