"""REST without `await`. The conformance suite tries the same with it, against the service."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Any

import httpx
import pytest
from conftest import KEY, Answer, Service

from boxoffice import (
    AsyncBoxoffice,
    Boxoffice,
    BoxofficeError,
    ClientClosed,
    Internal,
    Invalid,
    NotFound,
    Precondition,
    RateLimited,
    Timeout,
    Unavailable,
    types,
)

CREATED = {"id": "k1", "name": "a", "kind": "relay", "api_key": "svc_new", "created_at": "2026-11-30T12:00:00.5Z"}

DEEP = b"[" * 100_000


def test_all_attempts_of_a_write_have_one_key(service: Service) -> None:
    service.answers = [Answer(status=503), Answer(status=500), Answer(CREATED)]
    with service.client() as client:
        created = client.keys.create(name="a", kind="relay")
    keys = {each.headers["idempotency-key"] for each in service.requests}
    assert len(service.requests) == 3
    assert len(keys) == 1
    assert service.requests[0].body == {"name": "a", "kind": "relay"}
    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert created.api_key.reveal() == "svc_new"


def test_a_given_key_is_sent_and_reads_have_none(service: Service) -> None:
    service.answers = [Answer(CREATED), Answer({"thresholds": []})]
    with service.client() as client:
        client.keys.create(name="a", kind="relay", idempotency_key="order-7")
        assert client.alerts.get() == []
    assert [each.headers.get("idempotency-key") for each in service.requests] == ["order-7", None]


def test_a_signup_is_sent_once_and_without_a_key(service: Service) -> None:
    service.answers = [Answer(status=503)]
    with Boxoffice(url=service.url) as client, pytest.raises(Unavailable):
        client.sign_up(name="A", email="a@example.com")
    assert len(service.requests) == 1
    assert "authorization" not in service.requests[0].headers


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [(402, Precondition, "NO_CREDIT"), (404, NotFound, "GONE"), (429, RateLimited, "GONE"), (418, Internal, "GONE")],
)
def test_a_refusal_is_an_error_of_its_kind(
    service: Service, status: int, kind: type[BoxofficeError], reason: str
) -> None:
    headers = {"x-request-id": "req_1", "retry-after": "7"}
    service.answers = [Answer({"error": "no", "code": "gone"}, status, headers)]
    with service.client() as client, pytest.raises(kind) as caught:
        client.billing.get()
    error = caught.value
    assert (error.code, error.reason, error.request_id, error.retry_after) == (status, reason, "req_1", 7.0)
    assert str(error) == f"no ({status}, {reason}, request req_1)"


def test_an_invalid_field_is_named(service: Service) -> None:
    headers = {"invalid-field": "records%2F0%2Fseconds"}
    service.answers = [Answer({"error": "invalid request: records/0/seconds must be >= 0"}, 400, headers)]
    with service.client() as client, pytest.raises(Invalid) as caught:
        client.usage.report(
            records=[{"id": "a", "role": "host", "tier": "audio", "seconds": -1, "egress_bytes": 0, "ingress_bytes": 0}]
        )
    [field] = caught.value.fields
    assert (field.field, field.description) == ("records/0/seconds", "must be >= 0")


def test_pages_are_read_when_they_are_asked_for(service: Service) -> None:
    entry: Any = {"name": "a", "id": "1"}
    service.answers = [Answer({"records": [entry, entry], "next_cursor": "c1"}), Answer({"records": [entry]})]
    with service.client() as client:
        sizes = []
        for page in client.usage.records(
            room="", page_size=2, from_=datetime(2026, 11, 1, tzinfo=timezone.utc)
        ).pages():
            sizes.append((len(page.items), page.next_page_token, len(service.requests)))
    assert sizes == [(2, "c1", 1), (1, "", 2)]
    first, second = (httpx.URL(each.path).params for each in service.requests)
    assert dict(first) == {"room": "", "limit": "2", "from": "2026-11-01T00:00:00.000Z"}
    assert dict(second) == {**first, "cursor": "c1"}


def test_an_answer_that_comes_in_drops_has_the_limit_of_an_attempt(service: Service) -> None:
    service.answers = [Answer({"text": "x" * 100}, parts=20, pause=0.1)]
    began = time.monotonic()
    with service.client(retries=0, attempt_timeout=0.3) as client, pytest.raises(Timeout):
        client.billing.get()
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("body", ["text", [], {"tenant": 7}, {}, None, pytest.param(DEEP, id="deep")])
def test_an_answer_of_another_form_is_internal(service: Service, body: object) -> None:
    service.answers = [Answer(body)]
    with service.client() as client, pytest.raises(Internal):
        client.billing.get()


def test_a_refusal_whose_body_is_too_deep_is_an_error_of_its_kind(service: Service) -> None:
    service.answers = [Answer(DEEP, 404)]
    with service.client() as client, pytest.raises(NotFound, match="the service answered 404"):
        client.billing.get()


def test_an_answer_may_be_empty_if_its_type_requires_nothing(service: Service) -> None:
    service.answers = [Answer({})]
    with service.client() as client:
        assert client.billing.details() == types.BillingDetails()


def test_nothing_is_sent_after_close(service: Service) -> None:
    client = service.client()
    client.close()
    client.close()
    for call in (lambda: client.billing.get(), lambda: client.rooms.get(room="a"), lambda: next(client.rooms.watch())):
        with pytest.raises(ClientClosed):
            call()
    with pytest.raises(ClientClosed):
        next(client.webhooks.follow_events())
    assert service.requests == []
    assert service.calls == []


@pytest.mark.parametrize(
    "options",
    [
        {"url": "https://boxoffice.example?x=1"},
        {"url": "https://boxoffice.example#x"},
        {"url": "https://ann@boxoffice.example"},
        {"url": "ftp://boxoffice.example"},
        {"url": "https://boxoffice.example:99999"},
        {"control_url": "https://boxoffice.example/?"},
        {"control_url": "boxoffice"},
        {"timeout": 0},
        {"retries": -1},
        {"ca": b""},
        {"ca": b"the authorities"},
        {"ca": b"-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n"},
    ],
)
@pytest.mark.parametrize("kind", [Boxoffice, AsyncBoxoffice])
def test_wrong_options_are_refused(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=next(iter(options))):
        kind(**{"url": "https://boxoffice.example", "api_key": "k", **options})


def test_a_time_without_zone_is_refused(service: Service) -> None:
    with service.client() as client, pytest.raises(Invalid, match="time zone"):
        list(client.audit.list(from_=datetime(2026, 11, 1)))
    assert service.requests == []
