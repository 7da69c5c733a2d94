"""Usage records: the traffic of one participant in one interval.

Source: specification 2.6. The rules are checked here and by the service, because a relay can still fix its call, while a
refused record can only be put aside.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

from boxoffice.relay.errors import UsageError
from boxoffice.types import Role, Tier

_ROLES, _TIERS = get_args(Role), get_args(Tier)
SECONDS_MAX = 86_400
_PARTS_MAX = 100
"""A longer interval is a mistake, and would flood the spool with its parts."""
_TEXT_MAX = 200
_LINE_BYTES_MAX = 65_536
WHOLE_MAX = 2**53 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ParticipantUsage:
    """The traffic of one participant in one interval."""

    role: Role
    """It decides the ceiling of the price."""
    tier: Tier
    """It decides the ceiling of the price: see `tier_of`."""
    seconds: int
    """Whole seconds connected in this interval. More than a day becomes several records."""
    egress_bytes: int
    """Bytes sent to the participant."""
    ingress_bytes: int
    """Bytes received from the participant."""
    room: str | None = None
    """Name of the room, which the ledger shows: at most 200 characters."""
    participant: str | None = None
    """Name of the participant, which the ledger shows: at most 200 characters."""
    tenant: str | None = None
    """If given, the service refuses the record unless the key belongs to this tenant."""
    session_id: str | None = None
    """Identifies the participant's stay, 1 to 64 of `A-Z a-z 0-9 _ -`. It becomes part of the id."""


class Pending(NamedTuple):
    """What is stored on disk, and not settled yet."""

    segments: int
    """Files."""
    records: int
    """Records in them."""


def tier_of(pixels: int) -> Tier:
    """Return the tier for a number of pixels: the sum of all video streams that the participant receives at once."""
    if pixels <= 0:
        return "audio"
    if pixels <= 1280 * 720:
        return "hd"
    if pixels <= 1920 * 1080:
        return "full_hd"
    return "2k" if pixels <= 2560 * 1440 else "2k_plus"


def is_id_part(text: object) -> bool:
    """Tell whether it may be part of an id."""
    return isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text) is not None


def check_usage(usage: ParticipantUsage) -> None:
    """Raise `invalid_usage` for what the service would refuse."""
    _check(usage.session_id is None or is_id_part(usage.session_id), "session_id must be 1 to 64 of A-Z a-z 0-9 _ -")
    for name in ("tenant", "room", "participant"):
        text = getattr(usage, name)
        _check(text is None or _is_text(text), f"{name} must be well-formed text without NUL")
        _check(name == "tenant" or len(text or "") <= _TEXT_MAX, f"{name} must have at most {_TEXT_MAX} characters")
    _check(usage.role in _ROLES, f"role must be one of {', '.join(_ROLES)}")
    _check(usage.tier in _TIERS, f"tier must be one of {', '.join(_TIERS)}")
    for name in ("seconds", "egress_bytes", "ingress_bytes"):
        check_count(name, getattr(usage, name))
    _check(usage.seconds <= SECONDS_MAX * _PARTS_MAX, f"seconds must be at most {SECONDS_MAX * _PARTS_MAX}")


def check_count(name: str, value: int) -> None:
    """Raise `invalid_usage` for what is no number of the interface."""
    is_whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= WHOLE_MAX
    _check(is_whole, f"{name} must be a whole number from 0 to 2^53 - 1")


def _is_text(text: object) -> bool:
    try:
        return isinstance(text, str) and b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise UsageError("invalid_usage", message)


def split_by_day(usage: ParticipantUsage) -> list[ParticipantUsage]:
    """Split usage into parts of at most a day, with bytes shared out by time. The sums stay the same."""
    parts = []
    for start in range(0, max(usage.seconds, 1), SECONDS_MAX):
        end = min(usage.seconds, start + SECONDS_MAX)
        egress, ingress = (
            total if usage.seconds == 0 else total * end // usage.seconds - total * start // usage.seconds
            for total in (usage.egress_bytes, usage.ingress_bytes)
        )
        parts.append(replace(usage, seconds=end - start, egress_bytes=egress, ingress_bytes=ingress))
    return parts


def render(id: str, usage: ParticipantUsage) -> dict[str, str]:
    """Return the records of usage by id, each as a line of JSON. More than a day becomes several, with ids of their own.

    Raises `invalid_usage` if one is far too long.
    """
    lines: dict[str, str] = {}
    for at, part in enumerate(split_by_day(usage)):
        each = f"{id}.{at}" if at else id
        names = {"tenant": part.tenant, "room": part.room, "participant": part.participant}
        record = {
            "id": each,
            **{name: text for name, text in names.items() if text},
            "role": part.role,
            "tier": part.tier,
            "seconds": part.seconds,
            "egress_bytes": part.egress_bytes,
            "ingress_bytes": part.ingress_bytes,
        }
        lines[each] = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        length = len(lines[each].encode())
        _check(length <= _LINE_BYTES_MAX, f"a record must be at most {_LINE_BYTES_MAX} bytes of JSON")
    return lines


def id_of(line: str) -> str:
    """Return the id of a record."""
    return str(json.loads(line)["id"])
