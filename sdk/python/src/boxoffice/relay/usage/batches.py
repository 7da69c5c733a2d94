"""The number of records and bytes in one request. Source: specification 4.12."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

RECORDS_MAX = 5_000
BYTES_MAX = 1024 * 1024 - 1
"""The service accepts 1 MiB."""

_HEAD, _TAIL = '{"records":[', "]}"
ENVELOPE_BYTES = len(_HEAD) + len(_TAIL)
"""Bytes of an empty batch. Each record adds its line and a comma."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What a batch may have; `bytes` are those of the whole body, in UTF-8."""

    records: int
    bytes: int


def render_batch(lines: Iterable[str]) -> bytes:
    """Return the body of a request."""
    return f"{_HEAD}{','.join(lines)}{_TAIL}".encode()


def bytes_of(line: str) -> int:
    """Return the bytes that a line adds to a body, including a comma, which the last line does not have."""
    return len(line.encode()) + 1


def split_batches(lines: Iterable[str], limits: BatchLimits) -> Iterator[list[str]]:
    """Split lines into batches within both limits, in order. A line that is too long gets a batch of its own."""
    batch: list[str] = []
    size = ENVELOPE_BYTES
    for line in lines:
        more = bytes_of(line)
        if batch and (len(batch) >= limits.records or size + more > limits.bytes):
            yield batch
            batch, size = [], ENVELOPE_BYTES
        batch.append(line)
        size += more
    if batch:
        yield batch
