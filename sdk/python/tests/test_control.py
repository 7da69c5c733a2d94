"""The control plane without `await`. The conformance suite tries the same with it, against the service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any

import grpc
import pytest
from conftest import Answer, Service

from boxoffice import ClientClosed, Internal, Invalid, NotFound, Timeout, Unavailable, _contract, types


def fail(context: grpc.ServicerContext, code: grpc.StatusCode) -> None:
    context.set_trailing_metadata((("x-request-id", "req_1"),))
    context.abort(code, "not now")


def test_all_attempts_of_a_change_have_one_key(service: Service) -> None:
    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        if len(service.calls) < 3:
            fail(context, grpc.StatusCode.UNAVAILABLE)
        yield {
            "room": {"name": values["room"], "state": "live", "create_time": datetime(2026, 1, 1, tzinfo=timezone.utc)}
        }

    service.on_call = on_call
    with service.client() as client:
        room = client.rooms.create(room="lobby", policy={"max_participants": 5})
    assert (room.name, room.state, room.create_time) == ("lobby", "live", datetime(2026, 1, 1, tzinfo=timezone.utc))
    assert len({values["idempotency_key"] for _, values in service.calls}) == 1
    assert service.calls[0][1]["policy"]["max_participants"] == 5
    assert service.calls[0][1]["tenant"] == "t_1"


def test_a_refusal_has_its_kind_and_request_id(service: Service) -> None:
    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        fail(context, grpc.StatusCode.NOT_FOUND)
        yield {}

    service.on_call = on_call
    with service.client() as client, pytest.raises(NotFound, match=r"not now .*req_1") as caught:
        client.rooms.get(room="lobby")
    assert (caught.value.code, caught.value.request_id) == ("NOT_FOUND", "req_1")


def test_close_between_attempts_leaves_the_failure_of_the_last_one(service: Service) -> None:
    client = service.client()

    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        client.close()
        fail(context, grpc.StatusCode.UNAVAILABLE)
        yield {}

    service.on_call = on_call
    with pytest.raises(Unavailable, match="not now"):
        client.rooms.create(room="lobby")
    assert len(service.calls) == 1


def test_an_attempt_has_a_limit(service: Service) -> None:
    ended = threading.Event()

    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        ended.wait(5)
        yield {}

    service.on_call = on_call
    with service.client(retries=0) as client, pytest.raises(Timeout):
        client.rooms.get(room="lobby", attempt_timeout=0.1)
    ended.set()


def test_an_answer_of_another_form_is_internal(service: Service) -> None:
    service.on_call = lambda *_: iter([{}])
    with service.client() as client:
        calls = (
            lambda: client.rooms.get(room="lobby"),
            lambda: client.moderation.kick(room="lobby", username="bob"),
            lambda: next(client.rooms.watch()),
        )
        for call in calls:
            with pytest.raises(Internal, match="the answer"):
                call()


def test_a_time_that_no_datetime_has_is_internal(service: Service) -> None:
    answer: Any = _contract.message_class(_contract.method("RoomService.GetRoom").output_type)()
    answer.room.create_time.seconds = 2**60
    service.on_call = lambda *_: iter([answer.SerializeToString()])
    with service.client() as client, pytest.raises(Internal, match="no message"):
        client.rooms.get(room="lobby")


def test_the_tenant_is_looked_up_once(service: Service) -> None:
    service.answers = [Answer({"tenant": {"id": "t_9"}})]
    service.on_call = lambda *_: iter([{"room": {"name": "lobby"}}])
    with service.client(tenant=None) as client:
        for _ in range(3):
            client.rooms.get(room="lobby")
    assert len(service.requests) == 1
    assert [values["tenant"] for _, values in service.calls] == ["t_9"] * 3


def test_the_wait_for_another_threads_look_up_has_the_limit_of_an_attempt(service: Service) -> None:
    service.answers = [Answer({"tenant": {"id": "t_9"}})]
    service.on_call = lambda *_: iter([{"room": {"name": "lobby"}}])
    with service.client(tenant=None, retries=0) as client:
        client._looking_up.acquire()
        looked_up = threading.Timer(2, client._looking_up.release)
        looked_up.start()
        with pytest.raises(Timeout):
            client.rooms.get(room="lobby", attempt_timeout=0.1)
        looked_up.cancel()
    assert service.requests == []


def test_threads_share_one_connection(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    two_open = threading.Barrier(2)

    def open_slowly(*target: Any, **options: Any) -> grpc.Channel:
        opened.append(target)
        with suppress(threading.BrokenBarrierError):
            two_open.wait(0.2)
        return grpc.insecure_channel(*target, **options)

    monkeypatch.setattr("boxoffice._sync.io.insecure_channel", open_slowly)
    service.on_call = lambda *_: iter([{"room": {"name": "lobby"}}])
    with service.client() as client, ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: client.rooms.get(room="lobby"), range(2)))
    assert len(opened) == 1


def test_a_stream_is_opened_again_after_its_last_event(service: Service) -> None:
    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        at = int(values["resume_token"] or 0)
        yield {"event": {"type": "room_created", "room_uid": f"rm_{at}"}, "resume_token": f"{at + 1}"}
        if at == 1:
            fail(context, grpc.StatusCode.UNAVAILABLE)

    service.on_call = on_call
    with service.client() as client:
        events = client.rooms.watch(resume_token="0")
        seen = [next(events) for _ in range(4)]
    assert [(each.room_uid, each.resume_token) for each in seen] == [(f"rm_{at}", f"{at + 1}") for at in range(4)]


def test_a_silent_stream_is_opened_again(service: Service) -> None:
    ended = threading.Event()

    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        if len(service.calls) == 1:
            ended.wait(5)
        yield {"event": {"type": "bookmark"}, "resume_token": "1"}

    service.on_call = on_call
    with service.client() as client:
        assert next(client.rooms.watch(silence=0.1)).type == "bookmark"
    ended.set()
    assert len(service.calls) == 2


def test_close_ends_a_stream_that_waits(service: Service) -> None:
    ended = threading.Event()

    def on_call(name: str, values: dict[str, Any], context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        yield {"event": {"type": "bookmark"}, "resume_token": "1"}
        ended.wait(5)

    service.on_call = on_call
    client = service.client()
    events = client.rooms.watch()
    next(events)
    threading.Timer(0.2, client.close).start()
    with pytest.raises(ClientClosed):
        next(events)
    ended.set()


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("policy.max_participants", {"policy": {"max_participants": "many"}}),
    ("policy.allow", {"policy": {"allow": True}}),
    ("room", {"room": 7}),
    ("rooms", {"rooms": "lobby"}),
    ("idempotency_key", {"idempotency_key": ""}),
]


@pytest.mark.parametrize(("field", "request_"), WRONG)
def test_what_the_contract_has_not_is_refused_before_it_is_sent(
    service: Service, field: str, request_: dict[str, Any]
) -> None:
    with service.client() as client, pytest.raises(Invalid) as caught:
        client.rooms.create(**{"room": "lobby", **request_})
    assert [each.field for each in caught.value.fields] == [field]
    assert service.calls == []


def test_lengths_and_changes_go_to_their_fields(service: Service) -> None:
    service.on_call = lambda *_: iter([{"watchdog": {"id": "wd_1", "empty_for": timedelta(seconds=90)}}])
    with service.client() as client:
        changed: types.Watchdog = client.watchdogs.update(
            id="wd_1", empty_for=timedelta(milliseconds=1500), actor={"username": "ann"}
        )
    assert changed.empty_for == timedelta(seconds=90)
    [(_, values)] = service.calls
    assert values["watchdog"]["empty_for"] == timedelta(milliseconds=1500)
    assert values["update_mask"] == {"paths": ["empty_for"]}
    assert "actor" in values
