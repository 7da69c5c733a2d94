"""The reporter of usage: what is on disk, what is sent, and when."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Answer, Service
from relays import now
from reporters import KEY, Bench, run, store, usage

import boxoffice
from boxoffice import Secret
from boxoffice.relay.usage import (
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
    UsageError,
    UsageReporter,
)
from boxoffice.relay.usage.core import Core, ReporterOptions


@pytest.fixture(autouse=True)
def _longest_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    # No jitter of polls, and the longest waits after failures.
    monkeypatch.setattr("random.random", lambda: 1.0)
    monkeypatch.setattr("boxoffice.relay.usage.sender._POLL_JITTER", 0.0)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "spool")


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, "the disk is full")


def code_of(error: BaseException | None) -> str:
    assert isinstance(error, UsageError)
    return error.code


# What is on disk.


def test_usage_is_on_disk_after_200_ms_and_not_acknowledged_before(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        storing = asyncio.ensure_future(core.append(core.render(usage()).values()))
        await asyncio.sleep(0.19)
        assert (storing.done(), bench.files) == (False, [])
        await asyncio.sleep(0.02)
        assert (storing.done(), bench.files) == (True, ["0000000001.segment"])
        # At once when 64 records wait.
        began = now()
        await asyncio.gather(*(core.append(core.render(usage()).values()) for _ in range(64)))
        assert (now(), core.pending) == (began, (1, 65))
        assert os.stat(bench.folder).st_mode & 0o777 == 0o700
        assert os.stat(bench.folder / "0000000001.segment").st_mode & 0o777 == 0o600

    run(test())


def test_the_next_start_sends_first_what_is_left_under_the_same_ids(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open(batch_records=3)
        bench.service.faults = ["refuse"] * 99
        ids = await store(core, *[usage(participant=f"p{at}") for at in range(7)])
        # An entry that was not acknowledged.
        after = bench.crash()
        (after.folder / "0000000009.segment").write_bytes(b'00000020 00000000 {"id":')
        after.service.faults = []
        core = await after.open()
        assert after.of(SpoolRecovered) == [SpoolRecovered(4, 7, 24)]
        ids += await store(core, usage())
        assert await core.close(5) == 0
        assert [record["id"] for each in after.service.batches[-4:] for record in each] == ids
        assert (sorted(after.service.charged), after.files) == (sorted(ids), [])

    run(test())


def test_damage_is_told_and_the_file_stays(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open(batch_seconds=3600)
        await store(core, usage(), usage(participant="b"), usage())
        after = bench.crash()
        path = after.folder / "0000000001.segment"
        path.write_bytes(path.read_bytes().replace(b'"b"', b'"c"'))
        core = await after.open()
        await core.close(5)
        assert [each.file.name for each in after.of(SegmentCorrupt)] == ["0000000001.segment"]
        assert (len(after.service.charged), after.files) == (2, ["0000000001.kept"])

    run(test())


def test_a_segment_that_cannot_be_read_counts_holds_up_no_other_and_is_tried_again(bench: Bench) -> None:
    async def test() -> None:
        bench.service.faults = ["refuse"]
        core = await bench.open(batch_records=1)
        await store(core, usage(participant="a"), usage(participant="b"))
        path = bench.folder / "0000000001.segment"
        content = path.read_bytes()
        path.unlink()
        path.mkdir()
        await asyncio.sleep(5)
        assert ([each["participant"] for each in bench.service.charged.values()], core.pending) == (["b"], (1, 1))
        assert len(bench.of(SegmentFailed)) == 1
        path.rmdir()
        path.write_bytes(content)
        await asyncio.sleep(70)
        assert (len(bench.service.charged), core.pending, bench.files) == (2, (0, 0), [])
        # The same at a start: what is not known to be whole stays.
        after = bench.crash()
        path = after.folder / "0000000001.segment"
        path.mkdir()
        core = await after.open()
        assert (core.pending, len(after.of(SegmentFailed))) == ((1, 0), 1)
        path.rmdir()
        path.write_bytes(content)
        await asyncio.sleep(70)
        assert after.files == ["0000000001.kept"]

    run(test())


def test_a_folder_has_one_reporter_at_a_time_whatever_its_path(tmp_path: Path) -> None:
    async def test() -> None:
        bench = Bench(tmp_path / ("x" * 120) / "spool")
        opened = await asyncio.gather(*(bench.open() for _ in range(4)), return_exceptions=True)
        cores = [each for each in opened if isinstance(each, Core)]
        assert len(cores) <= 1
        assert {code_of(each) for each in opened if isinstance(each, BaseException)} == {"spool_in_use"}
        for each in cores:
            await each.close(0)
        core = await bench.open()
        with pytest.raises(UsageError):
            await bench.open()
        await core.close(0)
        # The socket of a process that was killed holds nothing.
        (bench.folder / "lock.dead").touch()
        await (await bench.open()).close(0)
        assert os.listdir(bench.folder) == []
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match="file"):
            await bench.open(spool=tmp_path / "file")

    run(test())


def test_a_full_disk_is_told_to_the_caller_and_loses_and_doubles_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        core = await bench.open()
        bench.service.faults = ["refuse"] * 3
        await store(core, usage(participant="a"))
        write = os.write
        with monkeypatch.context() as patch:
            # Half of it is written.
            patch.setattr("os.write", lambda file, octets: write(file, octets[:9]) if len(octets) > 100 else full())
            with pytest.raises(UsageError) as caught:
                await store(core, usage(participant="b"))
        assert (caught.value.code, isinstance(caught.value.__cause__, OSError)) == ("spool_failed", True)
        await store(core, usage(participant="b"))
        assert [each["participant"] for name in bench.files for each in bench.read(name)] == ["a", "b"]
        with monkeypatch.context() as patch:
            patch.setattr("os.write", full)
            patch.setattr("os.ftruncate", full)
            for code in ("spool_broken", "spool_broken"):
                with pytest.raises(UsageError) as caught:
                    await store(core, usage())
                assert caught.value.code == code
        assert await core.close(5) == 0
        assert [each["participant"] for each in bench.service.charged.values()] == ["a", "b"]

    run(test())


# What is sent, and when.


def test_batches_go_out_after_5_seconds_or_when_there_are_enough(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open(batch_records=5, batch_bytes=10_000)
        began = now()
        await store(core, usage())
        await asyncio.sleep(6)
        await store(core, *[usage()] * 12)
        await asyncio.sleep(0.1)
        sizes = [len(each) for each in bench.service.batches]
        assert sizes == [1, 5, 5]
        assert bench.service.times[1] == began + 5
        await store(core, *[usage(room="ü" * 200)] * 30)
        await asyncio.sleep(6)
        assert max(len(json.dumps({"records": each}, ensure_ascii=False)) for each in bench.service.requests) < 10_000
        assert (len(bench.service.charged), bench.service.conflicts) == (43, [])
        assert sum(each.charged for each in bench.of(BatchAccepted)) == 43

    run(test())


@pytest.mark.parametrize(
    ("fault", "reason", "status"),
    [
        ("refuse", "network", None),
        ("lose", "network", None),
        ("hang", "timeout", None),
        ("cut", "unexpected_answer", 200),
        (httpx.Response(200, text='{"charged":1}'), "unexpected_answer", 200),
        (httpx.Response(400, text="<html>"), "unexpected_answer", 400),
        (httpx.Response(302, headers={"location": "https://other.example"}), "unexpected_answer", 302),
        (httpx.Response(429), "rate_limited", 429),
        (httpx.Response(503), "server_error", 503),
    ],
)
def test_a_batch_without_a_good_answer_is_sent_again(bench: Bench, fault: Any, reason: str, status: int | None) -> None:
    async def test() -> None:
        core = await bench.open()
        await asyncio.sleep(1)
        bench.service.faults = [fault]
        ids = await store(core, usage(), usage())
        await asyncio.sleep(40)
        assert [(each.reason, each.status, each.attempt) for each in bench.of(SendFailed)] == [(reason, status, 1)]
        first, second = bench.service.batches
        assert first == second
        assert (sorted(bench.service.charged), core.pending) == (sorted(ids), (0, 0))

    run(test())


def test_waits_double_up_to_a_minute_and_are_as_long_as_asked(bench: Bench) -> None:
    async def test() -> None:
        asked = [httpx.Response(429, headers={"retry-after": each}) for each in ("90", "999999")]
        bench.service.faults = ["refuse"] * 9 + asked
        await bench.open()
        await asyncio.sleep(4000)
        waits = [round(each.retry_after, 3) for each in bench.of(SendFailed)]
        assert waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 90, 3600]

    run(test())


def test_a_record_that_the_service_refuses_is_put_aside_and_holds_up_no_other(bench: Bench) -> None:
    async def test() -> None:
        bench.service.is_bad = lambda record: record["participant"] == "bad"
        core = await bench.open()
        people = ["a", "bad", "b", "c", "bad", "d"]
        await store(core, *[usage(participant=each) for each in people])
        await asyncio.sleep(6)
        assert sorted(each["participant"] for each in bench.service.charged.values()) == ["a", "b", "c", "d"]
        kept = [json.loads(each) for each in (bench.folder / "quarantine.jsonl").read_text().splitlines()]
        assert [each["record"]["participant"] for each in kept] == ["bad", "bad"]
        assert {each["message"] for each in kept} == {"invalid request: records/0/role"}
        assert len(bench.of(RecordQuarantined)) == 2
        assert (core.pending, bench.files) == ((0, 0), ["quarantine.jsonl"])

    run(test())


def test_a_service_that_refuses_even_an_empty_batch_condemns_no_record(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        await asyncio.sleep(1)
        bench.service.faults = [httpx.Response(400, json={"error": "maintenance"}) for _ in range(6)]
        await store(core, usage())
        await asyncio.sleep(60)
        assert (bench.of(RecordQuarantined), len(bench.service.charged)) == ([], 1)

    run(test())


def test_the_quarantine_keeps_no_half_line_and_without_it_the_segment_stays(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        bench.service.is_bad = lambda record: True
        core = await bench.open(batch_records=1)
        write = os.write
        await store(core, usage())
        with monkeypatch.context() as patch:
            patch.setattr("os.write", lambda file, octets: write(file, octets[:9]) if len(octets) > 100 else full())
            await asyncio.sleep(6)
        await store(core, usage())
        await asyncio.sleep(6)
        assert [json.loads(each)["message"] for each in (bench.folder / "quarantine.jsonl").read_text().splitlines()]
        assert bench.files == ["0000000001.kept", "quarantine.jsonl"]
        names = [each.file.name for each in bench.of(RecordQuarantined)]
        assert names == ["0000000001.kept", "quarantine.jsonl"]

    run(test())


def test_a_body_that_is_too_large_for_a_proxy_is_halved(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        await asyncio.sleep(1)
        bench.service.faults = [httpx.Response(413)]
        await store(core, *[usage()] * 4)
        await asyncio.sleep(6)
        assert [len(each) for each in bench.service.batches] == [4, 2, 2]
        assert core.pending == (0, 0)

    run(test())


def test_a_key_that_is_refused_is_read_again_and_records_are_kept(bench: Bench, tmp_path: Path) -> None:
    async def test() -> None:
        # A function is called in a thread, which takes time, so the key changes here.
        keys = {"key": Secret("old")}
        bench.service.accepts = lambda key: key == "new"
        core = await bench.open(key=keys["key"])
        await store(core, usage())
        await asyncio.sleep(30)
        # It is not repeated for a minute.
        assert (bench.service.keys, len(bench.of(KeyRefused))) == (["old"], 1)
        await asyncio.sleep(60)
        assert (set(bench.service.keys), core.pending) == ({"old"}, (1, 1))
        keys["key"]._text = "new"
        await asyncio.sleep(100)
        assert core.pending == (0, 0)

    run(test())


def test_a_key_that_cannot_be_read_stops_the_sending_alone(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open(key=f"{KEY}\n{KEY}")
        await store(core, usage())
        await asyncio.sleep(10)
        assert (bench.service.requests, core.pending) == ([], (1, 1))
        assert KEY not in repr(bench.of(KeyUnreadable)[0])

    run(test())


def test_counts_that_do_not_add_up_are_told_and_the_segment_is_kept(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        await asyncio.sleep(1)
        counts = {"charged": 1, "duplicates": 0, "unbilled": 0, "admitted": True}
        bench.service.faults = [httpx.Response(200, json=counts)]
        await store(core, usage(), usage())
        await asyncio.sleep(6)
        path = bench.folder / "0000000001.kept"
        assert bench.of(CountsDiffer) == [CountsDiffer(2, 1, 0, 0, path)]
        assert (bench.files, core.pending) == ([path.name], (0, 0))

    run(test())


def test_whether_to_admit_is_asked_every_15_seconds_and_stays_while_the_service_is_away(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        admitted = [core.admitted]
        await asyncio.sleep(1)
        admitted.append(core.admitted)
        bench.service.admitted = False
        await asyncio.sleep(15)
        assert ([*admitted, core.admitted], bench.service.times) == ([None, True, False], [0, 15])
        bench.service.faults = ["refuse"] * 9
        await asyncio.sleep(60)
        assert core.admitted is False
        assert bench.of(AdmittedChanged) == [AdmittedChanged(True, None), AdmittedChanged(False, True)]

    run(test())


def test_a_close_sends_for_a_while_and_leaves_the_rest(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        await asyncio.sleep(1)
        bench.service.faults = ["hang"]
        await store(core, usage())
        began = now()
        assert (await core.close(2), now() - began) == (1, 2)
        with pytest.raises(UsageError) as caught:
            await store(core, usage())
        assert caught.value.code == "closed"
        # It does not wait for the answer to an empty batch.
        bench.service.faults = [None, "hang"]
        core = await bench.open()
        await asyncio.sleep(20)
        began = now()
        assert (await core.close(5), now() - began, len(bench.service.charged)) == (0, 0, 1)

    run(test())


# Sessions.


def start(core: Core, **fields: Any) -> Any:
    return core.sessions.start(usage(**{"seconds": 0, "egress_bytes": 0, "ingress_bytes": 0, **fields}))


def charged(bench: Bench) -> list[tuple[str, int, int]]:
    return [(each["tier"], each["seconds"], each["egress_bytes"]) for each in bench.service.charged.values()]


def test_a_session_becomes_a_record_every_30_seconds_for_each_role_and_tier_and_loses_nothing(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        session = start(core, room="lobby", participant="ann")
        session.add(10, 1)
        await asyncio.sleep(20.4)
        session.change(None, "2k")
        session.add(20, 1)
        await asyncio.sleep(20.4)
        session.add(30, 1)
        await asyncio.sleep(0.4)
        await session.end()
        late: list[Callable[[], Any]] = [lambda: session.add(1, 0), lambda: session.change("host", None)]
        for work in late:
            with pytest.raises(UsageError) as caught:
                work()
            assert caught.value.code == "closed"
        assert await core.close(5) == 0
        # 20.4 s of HD, of which a fraction waits for the end; 20.8 s of 2k, of which 9.6 s were over at the first cut.
        assert charged(bench) == [("hd", 20, 10), ("2k", 9, 20), ("2k", 12, 30)]

    run(test())


def test_wrong_counts_roles_and_tiers_are_refused(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        session = start(core)
        session.add(2**53 - 1, 0)
        wrong: list[Callable[[], Any]] = [
            lambda: session.add(-1, 0),
            lambda: session.add(0, 0.5),
            lambda: session.add(1, 0),
            lambda: session.change("king", None),
            lambda: start(core, session_id="a.b"),
        ]
        for work in wrong:
            with pytest.raises(UsageError) as caught:
                work()
            assert caught.value.code == "invalid_usage"

    run(test())


def test_what_a_session_used_is_on_disk_every_second_and_becomes_a_record_after_a_crash(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        session = start(core)
        session.add(100, 0)
        await asyncio.sleep(10.1)
        after = bench.crash()
        [kept] = after.read("running.records")
        assert (kept["seconds"], kept["egress_bytes"]) == (10, 100)
        await (await after.open()).close(5)
        assert (charged(after), after.files) == ([("hd", 10, 100)], [])
        # It is the same record, so this one is no second charge.
        await session.end()
        assert [each["id"] for each in bench.read("0000000001.segment")] == [kept["id"]]
        # Its record is on disk too: it is reported once.
        both = bench.crash()
        assert both.files == ["0000000001.segment", "running.records"]
        await (await both.open()).close(5)
        assert [[each["id"] for each in batch] for batch in both.service.batches] == [[kept["id"]]] * 2
        # And none is left after the record was sent and deleted, or when no session runs.
        await asyncio.sleep(6)
        assert bench.crash().files == []

    run(test())


def test_a_checkpoint_does_not_outlive_the_records_that_it_holds(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open(batch_records=1)
        session = start(core)
        session.add(100, 0)
        # The record is sent and deleted less than a second after the checkpoint.
        await asyncio.sleep(30.4)
        assert (charged(bench), bench.crash().files) == ([("hd", 30, 100)], [])

    run(test())


def test_an_interval_that_the_disk_refused_is_stored_later_under_its_id(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        core = await bench.open()
        session = start(core)
        session.add(100, 0)
        await asyncio.sleep(29.9)
        [kept] = bench.read("running.records")
        with monkeypatch.context() as patch:
            patch.setattr("os.write", full)
            await asyncio.sleep(1.5)
            # What is not stored stays, and the checkpoint too.
            assert len(bench.of(CheckpointFailed)) >= 1
            assert code_of(bench.of(IntervalNotStored)[0].cause) == "spool_failed"
            with pytest.raises(UsageError):
                await session.end()
        await session.end()
        records = [each for name in bench.files if name.endswith(".segment") for each in bench.read(name)]
        assert [(each["id"], each["seconds"], each["egress_bytes"]) for each in records] == [(kept["id"], 31, 100)]

    run(test())


def test_a_session_that_fits_no_record_stops_nothing_else(bench: Bench) -> None:
    async def test() -> None:
        core = await bench.open()
        start(core, tenant="x" * 65_536)
        start(core, participant="ann")
        await asyncio.sleep(31)
        assert len(bench.of(IntervalNotStored)) == 1
        assert await core.close(5) == 0
        assert sum(each["seconds"] for each in bench.service.charged.values()) == 31

    run(test())


# What programs have.


def test_threads_use_a_reporter_without_an_event_loop(
    service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "boxoffice")
    service.answers = [Answer({"charged": 0, "duplicates": 0, "unbilled": 0, "admitted": True})]
    problems: list[BaseException] = []
    told = threading.Event()

    def listen(event: object) -> None:
        try:
            reporter.record(usage())
        except RuntimeError as error:
            problems.append(error)
        told.set()
        raise ValueError("what a listener raises is logged")

    (tmp_path / "key").write_text(f"  {KEY}\n")
    reporter = UsageReporter.open(
        url=service.url, key=tmp_path / "key", spool=tmp_path / "spool", relay_id="r", on_event=listen
    )
    assert told.wait(60)
    assert "callback" in str(problems[0])
    ids: list[str] = []

    def work(at: int) -> None:
        session = reporter.start_session(role="host", tier="hd", participant=f"p{at}")
        for _ in range(100):
            session.add(egress_bytes=1)
        ids.extend(reporter.record(usage(participant=f"p{at}")))
        session.change(tier="audio")
        session.end()

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    reporter.sync()
    assert len(set(ids)) == 8
    assert (reporter.admitted, reporter.pending.records) == (True, 16)
    with reporter:
        # The answer counts no records, so a person looks at the file.
        assert reporter.close(seconds=60) == reporter.close() == 0
    for call in (
        lambda: reporter.record(usage()),
        lambda: reporter.start_session(role="host", tier="hd"),
        reporter.sync,
    ):
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.code == "closed"
    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert sum(each["egress_bytes"] for each in service.requests[-1].body["records"]) == 8 * 50_000_000 + 800
    assert KEY not in caplog.text
    assert "a listener failed" in caplog.text


def test_a_program_that_ends_without_a_close_is_not_held_up_and_leaves_its_records(tmp_path: Path) -> None:
    program = """if True:
        import sys, time
        from boxoffice.relay import RevocationFeed
        from boxoffice.relay.usage import ParticipantUsage, UsageReporter

        nowhere = "http://127.0.0.1:1"
        feed = RevocationFeed(url=nowhere, tenants=["t"], issuer="", audience="", jwks_url=nowhere)
        options = {"key": lambda: time.sleep(3600), "spool": sys.argv[1], "relay_id": "r"}
        reporter = UsageReporter.open(url=nowhere, **options)
        counts = {"seconds": 1, "egress_bytes": 1, "ingress_bytes": 1}
        print(*reporter.record(ParticipantUsage(role="host", tier="hd", **counts)))
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(boxoffice.__file__).parents[1])}
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    bench = Bench(tmp_path)
    assert [each["id"] for each in bench.read("0000000001.segment")] == ended.stdout.split()


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://127.0.0.1"},
        {"url": "https://user@boxoffice.example"},
        {"url": "https://boxoffice.example?a=1"},
        {"relay_id": "a b"},
        {"interval_seconds": 0},
        {"batch_records": 5001},
        {"batch_bytes": 1024 * 1024},
        {"batch_seconds": -1},
        {"ca": b""},
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "url": "https://boxoffice.example",
        "key": KEY,
        "spool": tmp_path,
        "relay_id": "r",
        **wrong,
    }
    with pytest.raises(UsageError) as caught:
        UsageReporter.open(**given)
    assert caught.value.code == "invalid_options"
    with pytest.raises(UsageError):
        ReporterOptions(**given)
