r"""The format of a segment file: entries one after the other, each on a line of its own.

    <length, 8 hex digits> <CRC-32, 8 hex digits> <JSON>\n

Length and checksum are those of the JSON in UTF-8. JSON has no line breaks, so after damage a reader continues at the next
one. The SDKs of all languages have the same format.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

_HEADER_BYTES = 18
_HEADER = re.compile(rb"([0-9a-f]{8}) ([0-9a-f]{8}) ")


@dataclass(frozen=True, slots=True)
class ParsedSegment:
    """What a file holds."""

    lines: list[str]
    corrupt: list[tuple[int, int]]
    """Damaged stretches: where each begins, and how long it is, in bytes."""
    torn_bytes: int
    """Bytes of an incomplete entry at the end, which was never acknowledged."""


def encode_entry(line: str) -> bytes:
    """Return the entry of a line of JSON."""
    text = line.encode()
    return b"%08x %08x %b\n" % (len(text), zlib.crc32(text), text)


def parse_segment(octets: bytes) -> ParsedSegment:
    """Read a file."""
    lines: list[str] = []
    corrupt: list[tuple[int, int]] = []
    at = 0
    while at < len(octets):
        end = octets.find(b"\n", at)
        if end == -1:
            rest = octets[at:]
            if _is_torn(rest):
                return ParsedSegment(lines, corrupt, len(rest))
            return ParsedSegment(lines, [*corrupt, (at, len(rest))], 0)
        line = _decode_entry(octets[at:end])
        if line is None:
            corrupt.append((at, end + 1 - at))
        else:
            lines.append(line)
        at = end + 1
    return ParsedSegment(lines, corrupt, 0)


def _decode_entry(entry: bytes) -> str | None:
    header, text = _HEADER.match(entry), entry[_HEADER_BYTES:]
    is_sound = header and header[1] == b"%08x" % len(text) and header[2] == b"%08x" % zlib.crc32(text)
    return text.decode(errors="replace") if is_sound else None


def _is_torn(rest: bytes) -> bool:
    """Whether this is an incomplete entry, as a killed process leaves it; after a power failure it may be zeros.

    A complete or malformed entry was damaged later.
    """
    if len(rest) < _HEADER_BYTES or not rest.strip(b"\0"):
        return True
    header = _HEADER.match(rest)
    return header is not None and len(rest) <= _HEADER_BYTES + int(header[1], 16)
