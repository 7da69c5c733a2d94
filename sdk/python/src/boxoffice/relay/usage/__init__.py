"""For relays: reports of usage over a spool on disk. `AsyncUsageReporter` is the same as `UsageReporter`, with `await`."""

from boxoffice._async.reporter import AsyncUsageReporter, AsyncUsageSession
from boxoffice._sync.reporter import UsageReporter, UsageSession
from boxoffice.relay.errors import UsageError
from boxoffice.relay.key_source import KeySource
from boxoffice.relay.usage.events import (
    AdmittedChanged,
    BatchAccepted,
    CheckpointFailed,
    CountsDiffer,
    IntervalNotStored,
    KeyRefused,
    KeyUnreadable,
    RecordQuarantined,
    SegmentCorrupt,
    SegmentFailed,
    SendFailed,
    SpoolRecovered,
    UsageEvent,
)
from boxoffice.relay.usage.record import ParticipantUsage, Pending, tier_of

__all__ = [
    "AdmittedChanged",
    "AsyncUsageReporter",
    "AsyncUsageSession",
    "BatchAccepted",
    "CheckpointFailed",
    "CountsDiffer",
    "IntervalNotStored",
    "KeyRefused",
    "KeySource",
    "KeyUnreadable",
    "ParticipantUsage",
    "Pending",
    "RecordQuarantined",
    "SegmentCorrupt",
    "SegmentFailed",
    "SendFailed",
    "SpoolRecovered",
    "UsageError",
    "UsageEvent",
    "UsageReporter",
    "UsageSession",
    "tier_of",
]
