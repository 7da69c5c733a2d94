# Made by scripts/make-python.ts from _async. Not to be edited.
"""The control plane over gRPC: one connection, retried calls, resumed streams."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Callable, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError

from boxoffice import _contract
from boxoffice._sync import io
from boxoffice._sync.calls import Calls, Listing
from boxoffice._failures import invalid
from boxoffice._kinds import ANSWER_BYTES_MAX, Internal, Timeout, Unavailable
from boxoffice._limits import Options, Page, is_transient, key_of, split, wait_after
from boxoffice._values import plain, read, read_answer, to_message
from boxoffice.errors import BoxofficeError
from boxoffice.types import WatchedEvent

T = TypeVar("T")

SILENCE = 40.0
"""Bookmarks come at least every 15 seconds: a stream that is silent for this long is dead."""

_CHANNEL_OPTIONS = [
    # Calls are retried here, where it is known which ones may be. The connection should follow quickly.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.max_receive_message_length", ANSWER_BYTES_MAX),
]

_log = logging.getLogger("boxoffice")


class Control:
    """Calls of the contract. A name of a method is one such as `RoomService.CreateRoom`."""

    def __init__(self, options: Options, calls: Calls, tenant: Callable[[float], str]) -> None:
        self._options = options
        self._calls = calls
        self._tenant = tenant
        self._metadata = tuple(options.authorization.items())
        self._opened: io.Channel | None = None
        self._opening = threading.Lock()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def _channel(self) -> io.Channel:
        """The connection is opened with the first call."""
        if self._options.control_url is None:
            raise invalid("control_url", "is needed for the control plane")
        with self._opening:
            if self._opened is None:
                self._opened = _open(self._options.control_url, self._options.ca)
            return self._opened

    def query(self, name: str, given: Mapping[str, Any], kind: type[T], field: str = "") -> T:
        """Make a call that may be repeated, and return its answer, or the field of it that is given."""
        answer = self._call(name, *split(given))
        return _read(kind, answer, field)

    def mutate(self, name: str, given: Mapping[str, Any], kind: type[T], field: str = "") -> T:
        """Make a call that may be repeated because all attempts have the same idempotency key."""
        values, options = split(given)
        key = key_of(options, r"[\x20-\x7e]{1,128}", "must be 1 to 128 printable ASCII characters")
        answer = self._call(name, {**values, "idempotency_key": key}, options)
        return _read(kind, answer, field)

    def _call(self, name: str, values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
        method = _contract.method(name)
        # Mistakes in the request are reported before the service is called.
        message: Any = to_message(method.input_type, values)

        def attempt(seconds: float) -> bytes:
            channel = self._channel()
            message.tenant = io.in_time(self._tenant(seconds), seconds)
            request = message.SerializeToString()
            return io.unary(channel, _contract.path(method), request, self._metadata, seconds)

        return _fields(method, self._calls.attempt(attempt, options, is_transient))

    def pages(self, name: str, given: Mapping[str, Any], field: str, kind: type[T]) -> Listing[T]:
        """All items of a list, page by page. `field` is the one that holds them."""
        values = dict(given)
        first = values.pop("page_token", "")

        def read_page(token: str) -> Page[T]:
            answer = self._call(name, *split({**values, "page_token": token}))
            return Page([read(kind, each) for each in answer[field]], answer["next_page_token"])

        return Listing(first, read_page)

    def watch(self, name: str, given: Mapping[str, Any], silence: float) -> Generator[WatchedEvent, None, None]:
        """Follow events without end. A broken stream is reopened after the last event: each comes once, in order."""
        method = _contract.method(name)
        message: Any = to_message(method.input_type, given)
        failures = 0
        self._calls.begin()
        try:
            while True:
                stream: io.Stream | None = None
                failure: BoxofficeError = Unavailable("the stream has ended")
                try:
                    channel = self._channel()
                    looked_up = self._tenant(self._options.timeout)
                    message.tenant = io.until_closed(looked_up, self._calls.closed)
                    request = message.SerializeToString()
                    path = _contract.path(method)
                    stream = io.Stream(channel, path, request, self._metadata, self._calls.closed, silence)
                    while (answer := stream.next()) is not None:
                        failures = 0
                        fields = _fields(method, answer)
                        yield read(WatchedEvent, {**_member(fields, "event"), "resume_token": fields["resume_token"]})
                        message.resume_token = fields["resume_token"] or message.resume_token
                except (Unavailable, Timeout) as error:
                    failure = error
                finally:
                    if stream is not None:
                        stream.cancel()
                wait = wait_after(failures, failure)
                _log.info("opening the stream again in %.1f s: %s", wait, failure)
                io.pause(self._calls.closed, wait)
                failures += 1
        finally:
            self._calls.end()


def _open(url: str, ca: bytes | None) -> io.Channel:
    parts = urlsplit(url)
    is_secure = parts.scheme == "https"
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    target = f"{host}:{parts.port or (443 if is_secure else 80)}"
    if is_secure:
        return io.secure_channel(target, grpc.ssl_channel_credentials(ca), options=_CHANNEL_OPTIONS)
    return io.insecure_channel(target, options=_CHANNEL_OPTIONS)


def _fields(method: MethodDescriptor, answer: bytes) -> dict[str, Any]:
    try:
        return plain(cast(Any, _contract.message_class(method.output_type)).FromString(answer))
    except (DecodeError, OverflowError) as cause:
        raise Internal("the answer is no message of the contract", code="INTERNAL") from cause


def _read(kind: type[T], answer: dict[str, Any], field: str) -> T:
    """Return an answer, or the field of it that is given."""
    try:
        return read_answer(kind, _member(answer, field) if field else answer)
    except ValueError as cause:
        raise Internal(f"the answer is no {kind.__name__}", code="INTERNAL") from cause


def _member(answer: dict[str, Any], field: str) -> Any:
    if field not in answer:
        raise Internal(f"the answer has no {field}", code="INTERNAL")
    return answer[field]
