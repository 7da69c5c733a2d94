"""The feed of revocations."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from conftest import Answer, Service
from relays import AUDIENCE, ISSUER, KEY, NOW, TENANT, Answers, SigningKey, Stream, now, run, snapshot

from boxoffice import Invalid
from boxoffice.relay import AdmissionRefused, RevocationFeed, Revocations, RevocationsError, TokenVerifier
from boxoffice.relay.event_stream import read_events
from boxoffice.relay.feed import Follower, FollowOptions
from boxoffice.relay.keys import FixedKeys

PATH = f"/v1/revocations/{TENANT}"
KICK = [["AAAAAAAAAAAAAAAAAAAAAA", 4]]
THIEF = SigningKey("k1")
SECRET = "svc_0123456789abcdef_secret"


@pytest.fixture(autouse=True)
def _longest_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 1.0)


class Following:
    """A relay that follows a tenant."""

    def __init__(self, *answers: Any, **options: Any) -> None:
        self.service = Answers(list(answers))
        self.errors: list[RevocationsError] = []
        self.changes: list[int] = []
        self.budgets: list[str] = []
        self._started = now()

        def changed(tenant: str, revocations: Revocations) -> None:
            self.changes.append(revocations.seq)

        given = FollowOptions(
            url=ISSUER,
            issuer=ISSUER,
            audience=AUDIENCE,
            keys=FixedKeys({"keys": [KEY.jwk]}),
            on_change=changed,
            on_budgets=self.budgets.append,
            on_error=self.errors.append,
            wall_clock=lambda: NOW + now() - self._started,
            **options,
        )
        self.follower = Follower(given, httpx.AsyncClient(transport=self.service, timeout=None), TENANT)
        self.task = asyncio.ensure_future(self.follower.run())

    @property
    def seq(self) -> int | None:
        return self.follower.snapshot.seq if self.follower.snapshot else None

    @property
    def codes(self) -> list[str]:
        return [each.code for each in self.errors]


def test_asks_for_the_first_snapshot_then_for_newer_ones_and_tells_of_each() -> None:
    async def test() -> None:
        relay = Following(snapshot(), snapshot(seq=9, epochs=KICK))
        await asyncio.sleep(0)
        assert relay.seq is None
        await asyncio.sleep(3)
        assert relay.service.asked == [PATH, f"{PATH}?after=7", f"{PATH}?after=9"]
        assert relay.follower.snapshot is not None
        assert list(relay.follower.snapshot.epochs) == KICK
        assert (relay.changes, relay.errors) == ([7, 9], [])

    run(test())


def test_an_equal_snapshot_extends_the_expiry_and_is_no_change() -> None:
    async def test() -> None:
        relay = Following(snapshot(), snapshot(exp=NOW + 85), snapshot(exp=NOW + 55))
        await asyncio.sleep(9)
        assert relay.follower.snapshot is not None
        assert (relay.follower.snapshot.exp, relay.changes) == (NOW + 85, [7])
        # They came at once, so polls of a service that does not wait are paused.
        assert relay.service.times == [0, 0, 1, 2]

    run(test())


@pytest.mark.parametrize(
    "make",
    [
        lambda: "no",
        lambda: snapshot(epochs=KICK, key=THIEF),
        lambda: snapshot({"kid": "thief"}, epochs=KICK),
        lambda: snapshot({"kid": {}}),
        lambda: snapshot({"cty": "JWT"}),
        lambda: snapshot({"alg": "none"}),
        lambda: snapshot({"typ": "JWT"}),
        lambda: snapshot(iss="https://other.example"),
        lambda: snapshot(aud="relay:other.example"),
        lambda: snapshot(tid="t_0000000000000000"),
        lambda: snapshot(exp=NOW),
        lambda: snapshot(seq=None),
        lambda: snapshot(seq="8"),
        lambda: snapshot(epochs=None),
        lambda: snapshot(bans=[["*", "country", "AQ", None]]),
        lambda: snapshot(bans=[["*", "range", "192.0.2.0/24", None]]),
        lambda: snapshot(mutes=[["x"]]),
        lambda: snapshot(closed=[1]),
    ],
)
def test_refuses_what_is_not_valid_and_keeps_what_it_has(make: Callable[[], str]) -> None:
    async def test() -> None:
        relay = Following(snapshot(seq=5), make())
        await asyncio.sleep(3)
        assert (relay.codes, relay.errors[0].tenant) == (["NOT_VALID"], TENANT)
        assert (relay.seq, relay.changes) == (5, [5])

    run(test())


def test_an_older_one_is_refused_while_the_current_one_is_fresh() -> None:
    async def test() -> None:
        relay = Following(snapshot(), snapshot(seq=6, exp=NOW + 99), None, None, snapshot(seq=2, exp=NOW + 200))
        await asyncio.sleep(9)
        assert (relay.codes, relay.seq) == (["OLDER"], 7)
        # Then it is not, because numbering restarted.
        await asyncio.sleep(90)
        assert relay.codes == ["OLDER", "NO_ANSWER", "NO_ANSWER"]
        assert relay.seq == 2

    run(test())


def test_waits_no_longer_than_5_seconds_unless_asked_to_and_then_half_a_minute() -> None:
    async def test() -> None:
        asked = [httpx.Response(429, headers={"retry-after": each}) for each in ("12", "3600")]
        relay = Following(*[httpx.ConnectError("away")] * 6, *asked, "x" * (2**24 + 1), httpx.Response(404))
        await asyncio.sleep(200)
        waits = [after - before for before, after in zip(relay.service.times, relay.service.times[1:], strict=False)]
        assert waits[:10] == [0.5, 1, 2, 4, 5, 5, 12, 30, 5, 5]
        assert relay.codes[:10] == ["NO_ANSWER"] * 6 + ["BAD_ANSWER"] * 4
        assert [each.status for each in relay.errors[6:10]] == [429, 429, 200, 404]

    run(test())


def test_waits_40_seconds_for_a_silent_service() -> None:
    async def test() -> None:
        relay = Following(snapshot())
        await asyncio.sleep(40)
        assert relay.codes == []
        await asyncio.sleep(2)
        assert relay.codes == ["NO_ANSWER"]

    run(test())


def test_a_stream_tells_revocations_and_with_a_relay_key_whether_the_tenant_is_admitted() -> None:
    async def test() -> None:
        stream = Stream()
        relay = Following(stream, relay_key=lambda tenant: SECRET)
        stream.send("revocations", snapshot())
        stream.send("later", "something")
        stream.send("admitted", '{"admitted":true}')
        await asyncio.sleep(1)
        assert (relay.seq, relay.follower.admitted, relay.budgets) == (7, True, [])
        stream.send("admitted", '{"admitted":false,"reached_budgets":["bu_1","bu_2"]}')
        stream.send("revocations", snapshot(seq=9))
        await asyncio.sleep(1)
        assert (relay.seq, relay.follower.admitted, relay.budgets) == (9, False, [TENANT])
        assert relay.follower.reached == {"bu_1", "bu_2"}
        stream.send("admitted", '{"admitted":true}')
        await asyncio.sleep(1)
        assert (relay.follower.reached, relay.budgets) == (frozenset(), [TENANT] * 2)
        stream.end()
        await asyncio.sleep(0.5)
        assert relay.follower.admitted is None
        await asyncio.sleep(0.6)
        headers = [relay.service.requests[0].headers.get(name) for name in ("accept", "authorization")]
        assert headers == ["text/event-stream", f"Bearer {SECRET}"]
        assert (relay.service.asked, relay.errors) == ([PATH, PATH], [])

    run(test())


def test_a_stream_is_opened_again_when_it_is_lost_or_silent_or_tells_what_is_not_valid() -> None:
    async def test() -> None:
        lost, silent, invalid, broken = streams = [Stream(), Stream(), Stream(), Stream()]
        relay = Following(*streams)
        for at, each in enumerate(streams):
            each.send("revocations", snapshot(seq=7 + at, exp=NOW + 90))
        lost.end(httpx.ReadError("lost"))
        await asyncio.sleep(1)
        assert (relay.codes, relay.seq) == (["NO_ANSWER"], 8)
        await asyncio.sleep(38)
        silent.send("later", "something")
        await asyncio.sleep(39)
        assert relay.codes == ["NO_ANSWER"]
        invalid.send("revocations", snapshot(key=THIEF))
        broken.send("admitted", "{")
        await asyncio.sleep(3)
        assert relay.codes == ["NO_ANSWER", "NO_ANSWER", "NOT_VALID", "NO_ANSWER"]
        # Each stream that has begun is a success.
        assert relay.service.times == [0, 0.5, 79.5, 80, 80.5]
        assert {each.headers["accept"] for each in relay.service.requests} == {"text/event-stream"}

    run(test())


@pytest.mark.parametrize("answer", [snapshot(), httpx.Response(401), httpx.Response(429), Stream])
def test_where_no_stream_is_offered_polls_without_a_key_follow_for_5_minutes(answer: Any) -> None:
    async def test() -> None:
        relay = Following(
            Stream() if answer is Stream else answer, snapshot(exp=NOW + 100), relay_key=lambda tenant: SECRET
        )
        await asyncio.sleep(12)
        assert relay.seq == 7
        await asyncio.sleep(388)
        asked = zip(relay.service.times, relay.service.requests, strict=True)
        streams = [time for time, request in asked if request.headers.get("authorization") == f"Bearer {SECRET}"]
        assert streams[0] == 0
        assert 300 <= streams[1] < 360
        assert len(relay.service.requests) > 5

    run(test())


def test_a_key_that_cannot_be_read_is_not_waited_for() -> None:
    async def test() -> None:
        relay = Following(snapshot(), relay_key=lambda tenant: f"{SECRET}\n{SECRET}")
        await asyncio.sleep(2)
        assert (relay.codes, relay.seq) == (["NO_ANSWER"], 7)
        assert SECRET not in repr(relay.errors[0]) + repr(relay.errors[0].__cause__)

    run(test())


def test_events_are_the_same_however_they_are_cut() -> None:
    text = ": hi\r\nevent: a\rdata:1\ndata: ü\n\nid: 4\n\ndata\r\n\r\nevent: b\ndata: cut".encode()

    async def read(size: int) -> list[tuple[str, str]]:
        async def chunks() -> Any:
            for at in range(0, len(text), size):
                yield text[at : at + size]

        return [each async for each in read_events(chunks(), 30)]

    for size in range(1, len(text) + 1):
        assert run(read(size)) == [("a", "1\nü"), ("message", "")], size


def test_a_feed_runs_beside_the_program_and_ends_with_it(service: Service) -> None:
    begun, closing = threading.Event(), threading.Event()
    problems: list[BaseException] = []

    def change(tenant: str, revocations: Revocations) -> None:
        try:
            feed.close()
        except RuntimeError as error:
            problems.append(error)
        begun.set()
        raise ValueError("what a listener raises is logged")

    service.answers = [
        Answer(snapshot(exp=2**40).encode()),
        Answer(snapshot(seq=8, exp=2**40).encode(), parts=9, pause=0.2),
    ]
    options: Any = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": {"keys": [KEY.jwk]}}
    feed = RevocationFeed(url=service.url, tenants=[TENANT], on_change=change, **options)
    verifier = TokenVerifier(revocations=feed.get, **options)
    assert begun.wait(30)
    closing.set()
    feed.close()
    snapshot_of, other = feed.get(TENANT), feed.get("t_0000000000000000")
    assert (snapshot_of.seq if snapshot_of else None, other) == (7, None)
    assert (feed.admitted(TENANT), feed.budget_reached(TENANT, ["bu_1"])) == (None, False)
    assert "callback" in str(problems[0])
    with pytest.raises(AdmissionRefused):
        verifier._token("no")
    with pytest.raises(Invalid):
        RevocationFeed(url="ftp://127.0.0.1", tenants=[], **options)
    with pytest.raises(Invalid):
        TokenVerifier(issuer=ISSUER, audience=AUDIENCE)
