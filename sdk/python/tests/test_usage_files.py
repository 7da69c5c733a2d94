"""Usage records, their batches, and the files that hold them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from reporters import usage

from boxoffice.relay.usage import UsageError, tier_of
from boxoffice.relay.usage.batches import BatchLimits, render_batch, split_batches
from boxoffice.relay.usage.record import check_usage, render, split_by_day
from boxoffice.relay.usage.segment import encode_entry, parse_segment


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "king"},
        {"tier": "8k"},
        {"seconds": -1},
        {"seconds": 1.5},
        {"seconds": True},
        {"seconds": 86_400 * 100 + 1},
        {"egress_bytes": 2**53},
        {"ingress_bytes": "1"},
        {"room": "x" * 201},
        {"room": "a\0b"},
        {"participant": "\ud800"},
        {"tenant": 7},
        {"session_id": ""},
        {"session_id": "a.b"},
    ],
)
def test_what_the_service_would_refuse_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        check_usage(usage(**wrong))
    assert caught.value.code == "invalid_usage"


def test_a_record_has_the_names_of_the_service_and_no_empty_ones() -> None:
    check_usage(usage(room="x" * 200, seconds=86_400 * 100))
    [line] = render("id", usage(room="Bühne 🎭", tenant="", session_id="s")).values()
    assert line == (
        '{"id":"id","room":"Bühne 🎭","role":"host","tier":"hd","seconds":60,"egress_bytes":50000000,"ingress_bytes":1000000}'
    )
    with pytest.raises(UsageError):
        render("id", usage(tenant="x" * 65_536))


def test_days_share_bytes_by_time() -> None:
    parts = split_by_day(usage(seconds=200_000, egress_bytes=2**53 - 1, ingress_bytes=1))
    assert [each.seconds for each in parts] == [86_400, 86_400, 27_200]
    assert sum(each.egress_bytes for each in parts) == 2**53 - 1
    assert sum(each.ingress_bytes for each in parts) == 1
    assert split_by_day(usage(seconds=0)) == [usage(seconds=0)]
    assert list(render("id", usage(seconds=86_401))) == ["id", "id.1"]


def test_tiers_go_by_pixels() -> None:
    pixels = (0, 1, 1280 * 720, 1920 * 1080, 1920 * 1080 + 1, 2560 * 1440 + 1)
    assert [tier_of(each) for each in pixels] == ["audio", "hd", "hd", "full_hd", "2k", "2k_plus"]


@pytest.mark.parametrize(("records", "size"), [(1, 100), (3, 1000), (10, 60), (10, 20)])
def test_batches_keep_every_line_in_order_within_both_limits(records: int, size: int) -> None:
    lines = ["ü" * length for length in (5, 9, 1, 1, 30, 2, 0, 12)]
    batches = list(split_batches(lines, BatchLimits(records, size)))
    assert [line for each in batches for line in each] == lines
    for each in batches:
        assert len(each) <= records
        assert len(render_batch(each)) < size or len(each) == 1


ENTRIES = [encode_entry(each) for each in ('{"id":"a"}', '{"id":"ü"}', '{"id":"c"}')]
WHOLE = b"".join(ENTRIES)


def test_a_segment_is_readable_text() -> None:
    assert encode_entry('{"id":"ü"}') == '0000000b 3e35532f {"id":"ü"}\n'.encode()


def test_a_segment_torn_at_any_byte_loses_its_last_entry_alone() -> None:
    before = len(WHOLE) - len(ENTRIES[2])
    for end in range(before + 1, len(WHOLE)):
        parsed = parse_segment(WHOLE[:end])
        assert (len(parsed.lines), parsed.corrupt, parsed.torn_bytes) == (2, [], end - before), end
    assert parse_segment(WHOLE + b"\0" * 40).torn_bytes == 40


def test_damage_to_any_byte_is_told_and_others_are_kept() -> None:
    first, second = len(ENTRIES[0]), len(ENTRIES[1])
    for at in range(first, first + second - 1):
        parsed = parse_segment(WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :])
        assert [json.loads(each)["id"] for each in parsed.lines][-1] == "c", at
        assert sum(length for _, length in parsed.corrupt) == second, at
    # A complete entry without its end was damaged later.
    assert parse_segment(WHOLE[:-1] + b"x").corrupt == [(first + second, len(ENTRIES[2]))]
