"""What blocks: requests, streams and pauses. `_async/io.py` has the same with `await`."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc
import httpx

from boxoffice._failures import of_call, timed_out, too_long, unreachable
from boxoffice._kinds import ANSWER_BYTES_MAX
from boxoffice._values import whole_answer
from boxoffice.errors import BoxofficeError, ClientClosed

T = TypeVar("T")
Event = threading.Event
Lock = threading.Lock
HttpClient = httpx.Client
Channel = grpc.Channel
insecure_channel = grpc.insecure_channel
secure_channel = grpc.secure_channel

_LOOK_SECONDS = 1.0


def send(client: httpx.Client, request: httpx.Request, seconds: float) -> httpx.Response:
    """Send a request, and return the answer with its body."""
    ends_at = time.monotonic() + seconds
    request.extensions["timeout"] = httpx.Timeout(seconds).as_dict()
    try:
        answer = client.send(request, stream=True)
        try:
            body = bytearray()
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > ANSWER_BYTES_MAX:
                    raise too_long(answer.status_code, answer.headers)
                # Each wait for a part has the limit of the whole.
                if time.monotonic() > ends_at:
                    raise timed_out()
        finally:
            answer.close()
        return whole_answer(answer, body)
    except httpx.TimeoutException:
        raise timed_out() from None
    except httpx.RequestError as cause:
        raise unreachable() from cause


def unary(channel: Channel, path: str, message: bytes, metadata: Any, seconds: float) -> bytes:
    """Make a call with one answer."""
    try:
        call: Any = channel.unary_unary(path)
        answer: bytes = call(message, timeout=seconds, metadata=metadata)
        return answer
    except grpc.RpcError as cause:
        raise _error_of(cause) from None


class Stream:
    """The answers of one call, until it is cancelled. A thread cancels it after a silence, or with the client."""

    def __init__(
        self, channel: Channel, path: str, message: bytes, metadata: Any, closed: Event, silence: float
    ) -> None:
        call: Any = channel.unary_stream(path)
        self._call = call(message, metadata=metadata)
        self._closed = closed
        self._silence = silence
        self._waits_since: float | None = None
        threading.Thread(target=self._look, name="boxoffice-stream", daemon=True).start()

    def _look(self) -> None:
        while self._call.is_active():
            since = self._waits_since
            is_silent = since is not None and time.monotonic() - since > self._silence
            if self._closed.wait(min(_LOOK_SECONDS, self._silence)) or is_silent:
                self.cancel()
                return

    def next(self) -> bytes | None:
        """Return the next answer; None at the end. While the caller is busy elsewhere, silence means nothing."""
        if self._closed.is_set():
            raise ClientClosed()
        self._waits_since = time.monotonic()
        try:
            answer: bytes | None = next(self._call, None)
            return answer
        except grpc.RpcError as cause:
            raise (ClientClosed() if self._closed.is_set() else _error_of(cause)) from None
        finally:
            self._waits_since = None

    def cancel(self) -> None:
        self._call.cancel()


def _error_of(error: Any) -> BoxofficeError:
    return of_call(error.code().name, error.details() or "", error.trailing_metadata() or ())


def in_time(work: T, seconds: float) -> T:
    """The work is done already. What does it has the time limit itself."""
    return work


def until_closed(work: T, closed: Event) -> T:
    """The work is done already. Raises `ClientClosed` if the client was closed meanwhile."""
    if closed.is_set():
        raise ClientClosed()
    return work


def pause(closed: Event, seconds: float) -> None:
    """Wait for so long. Raises `ClientClosed` if the client is closed meanwhile."""
    if closed.wait(seconds):
        raise ClientClosed()


@contextmanager
def holding(lock: Lock, seconds: float) -> Generator[float, None, None]:
    """Hold a lock. What is inside has as many seconds as are left after the wait for it, which may end with `Timeout`."""
    ends_at = time.monotonic() + seconds
    if not lock.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
        raise timed_out()
    try:
        yield max(ends_at - time.monotonic(), 0.001)
    finally:
        lock.release()


def close_http(client: httpx.Client) -> None:
    client.close()


def settled(work: Future[T]) -> T:
    """Wait for work of another thread."""
    return work.result()
