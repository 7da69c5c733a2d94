"""Keys that are fetched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from relays import SigningKey

from boxoffice.relay import AdmissionRefused
from boxoffice.relay.keys import FetchedKeys, FixedKeys

OLD, NEW = SigningKey("old"), SigningKey("new")


class Jwks:
    """A service of keys, and a clock."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys: Any = [each.jwk for each in keys]
        self.answer: Callable[[], httpx.Response] = lambda: httpx.Response(200, json={"keys": self.keys})
        self.asked = 0
        self.now = 1000.0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        return self.answer()

    def open(self) -> FetchedKeys:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return FetchedKeys("https://boxoffice.example/.well-known/jwks.json", clock=lambda: self.now, http=http)


def code_of(keys: FetchedKeys | FixedKeys, kid: object) -> str:
    with pytest.raises(AdmissionRefused) as caught:
        keys.get(kid)
    return caught.value.code


def test_one_thread_fetches_however_many_ask() -> None:
    service = Jwks(OLD)
    keys, begun, found = service.open(), threading.Barrier(8), []
    answer = service.answer

    def slow() -> httpx.Response:
        # The others are on their way.
        begun.wait(30)
        return answer()

    service.answer = slow

    def ask(is_first: bool) -> None:
        if not is_first:
            begun.wait(30)
        found.append(keys.get("old"))

    threads = [threading.Thread(target=ask, args=(at == 0,)) for at in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert (len(found), service.asked) == (8, 1)


def test_they_serve_for_ten_minutes_then_one_that_was_removed_is_dropped() -> None:
    service = Jwks(OLD, NEW)
    keys = service.open()
    keys.get("old")
    service.keys = [NEW.jwk]
    service.now += 599
    keys.get("old")
    assert service.asked == 1
    service.now += 1
    assert (code_of(keys, "old"), service.asked) == ("TOKEN_UNKNOWN_KEY", 2)


def test_a_key_that_is_lacking_is_asked_for_at_once_but_not_again_within_30_seconds() -> None:
    service = Jwks(OLD)
    keys = service.open()
    keys.get("old")
    kids: list[object] = ["new", "other", None, {}]
    for kid in kids:
        assert code_of(keys, kid) == "TOKEN_UNKNOWN_KEY"
    assert service.asked == 1
    service.keys += [NEW.jwk]
    service.now += 30
    keys.get("new")
    assert service.asked == 2


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(302, headers={"location": "https://other.example"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"keys": 1}),
        httpx.Response(200, text="x" * (1 << 25)),
    ],
)
def test_without_the_service_they_are_used_for_an_hour_and_then_nothing_is_admitted(answer: httpx.Response) -> None:
    service = Jwks(OLD)
    keys, good = service.open(), service.answer
    keys.get("old")
    service.answer = lambda: answer
    service.now += 3599
    keys.get("old")
    service.now += 1
    assert code_of(keys, "old") == "KEYS_UNAVAILABLE"
    assert service.asked == 2
    service.answer = good
    service.now += 30
    keys.get("old")


def test_only_public_keys_for_signatures_count() -> None:
    others = [
        {**OLD.jwk, "kid": "private", "d": "AAAA"},
        {**OLD.jwk, "kid": "other use", "use": "enc"},
        {**OLD.jwk, "kid": "other algorithm", "alg": "ES384"},
        {**OLD.jwk, "kid": "no point", "x": OLD.jwk["y"]},
        {**OLD.jwk, "kid": 7},
        "no object",
    ]
    keys = FixedKeys({"keys": [*others, NEW.jwk]})
    for kid in ("private", "other use", "other algorithm", "no point", 7):
        assert code_of(keys, kid) == "TOKEN_UNKNOWN_KEY"
    keys.get("new")
