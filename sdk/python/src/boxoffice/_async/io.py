"""What waits with `await`: requests, streams and pauses. `_sync/io.py` has the same without."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import grpc
import httpx

from boxoffice._failures import of_call, timed_out, too_long, unreachable
from boxoffice._kinds import ANSWER_BYTES_MAX
from boxoffice._values import whole_answer
from boxoffice.errors import BoxofficeError, ClientClosed

T = TypeVar("T")
Event = asyncio.Event
Lock = asyncio.Lock
HttpClient = httpx.AsyncClient
Channel = grpc.aio.Channel
insecure_channel = grpc.aio.insecure_channel
secure_channel = grpc.aio.secure_channel


async def send(client: httpx.AsyncClient, request: httpx.Request, seconds: float) -> httpx.Response:
    """Send a request, and return the answer with its body."""
    try:
        return await in_time(_read(client, request), seconds)
    except httpx.RequestError as cause:
        raise unreachable() from cause


async def _read(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    answer = await client.send(request, stream=True)
    try:
        body = bytearray()
        async for chunk in answer.aiter_bytes():
            body += chunk
            if len(body) > ANSWER_BYTES_MAX:
                raise too_long(answer.status_code, answer.headers)
    finally:
        await answer.aclose()
    return whole_answer(answer, body)


async def unary(channel: Channel, path: str, message: bytes, metadata: Any, seconds: float) -> bytes:
    """Make a call with one answer."""
    try:
        call: Any = channel.unary_unary(path)
        answer: bytes = await call(message, timeout=seconds, metadata=metadata)
        return answer
    except grpc.aio.AioRpcError as cause:
        raise _error_of(cause) from None


class Stream:
    """The answers of one call, until it is cancelled."""

    def __init__(
        self, channel: Channel, path: str, message: bytes, metadata: Any, closed: Event, silence: float
    ) -> None:
        call: Any = channel.unary_stream(path)
        self._call = call(message, metadata=metadata)
        self._closed = closed
        self._silence = silence

    async def next(self) -> bytes | None:
        """Return the next answer; None at the end. While the caller is busy elsewhere, silence means nothing."""
        try:
            answer: Any = await until_closed(self._call.read(), self._closed, self._silence)
            return None if answer is grpc.aio.EOF else answer
        except grpc.aio.AioRpcError as cause:
            raise _error_of(cause) from None

    def cancel(self) -> None:
        self._call.cancel()


def _error_of(error: grpc.aio.AioRpcError) -> BoxofficeError:
    return of_call(error.code().name, error.details() or "", error.trailing_metadata() or ())


async def in_time(work: Awaitable[T], seconds: float) -> T:
    """Wait for the work, for so long at most."""
    # `asyncio.wait_for` forgets a cancellation at the moment in which the work fails, before Python 3.12.
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait([working], timeout=seconds)
        if working.done():
            return working.result()
        raise timed_out()
    finally:
        _give_up(working)


async def until_closed(work: Awaitable[T], closed: Event, seconds: float | None = None) -> T:
    """Wait for the work, unless the client is closed before. `seconds`: no longer than that."""
    working, closing = asyncio.ensure_future(work), asyncio.ensure_future(closed.wait())
    try:
        await asyncio.wait([working, closing], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientClosed() if closed.is_set() else timed_out()
    finally:
        _give_up(working)
        _give_up(closing)


def _give_up(task: asyncio.Future[Any]) -> None:
    task.cancel()
    # A failure that comes later concerns no one, and is not to be logged.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


async def pause(closed: Event, seconds: float) -> None:
    """Wait for so long. Raises `ClientClosed` if the client is closed meanwhile."""
    await until_closed(asyncio.sleep(seconds), closed)


@asynccontextmanager
async def holding(lock: Lock, seconds: float) -> AsyncGenerator[float, None]:
    """Hold a lock. What is inside has so many seconds: `in_time` ends it with the wait for the lock."""
    async with lock:
        yield seconds


async def close_http(client: httpx.AsyncClient) -> None:
    await client.aclose()


async def settled(work: Future[T]) -> T:
    """Wait for work of another thread. It goes on if the wait is cancelled."""
    return await asyncio.shield(asyncio.wrap_future(work))
