"""Work that goes on beside the program, whether it uses an event loop or threads."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from boxoffice.relay.errors import UsageError

T = TypeVar("T")

_log = logging.getLogger("boxoffice")

_FIRST_WAIT = 0.5


class Background:
    """An event loop in a thread of its own, which does not hold up the end of the program."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._lock = threading.Lock()
        self._is_ending = False
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start work in the loop. Raises `UsageError` with `closed` after `stop()`, and in a process that was forked."""
        with self._lock:
            if threading.current_thread() is not self._thread and not self._is_ending and self._thread.is_alive():
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        self._refuse_callback()
        raise UsageError("closed", "it is closed, or of the process that this one was forked from")

    def stop(self) -> None:
        """End the loop and what still runs in it."""
        self._refuse_callback()
        with self._lock:
            if not self._is_ending and self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._is_ending = True
        self._thread.join()

    def _refuse_callback(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("it was called by a callback, which would wait for itself")

    def _run(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(cancel_others())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


async def cancel_others() -> None:
    """End all tasks of the loop but this one."""
    # What has just been started learns that it came too late.
    await asyncio.sleep(0)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def in_thread(work: Callable[[], T]) -> T:
    """Do what may block. The program may end meanwhile, as it may not with `asyncio.to_thread`."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as cause:
            error = cause
        # The loop may have ended meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="boxoffice-blocking", daemon=True).start()
    return await done


def tell(listener: Callable[..., object] | None, *given: object) -> None:
    """Call a listener. Its errors are logged, and interrupt nothing."""
    try:
        if listener is not None:
            listener(*given)
    except Exception:
        _log.exception("a listener failed")


class Backoff:
    """The wait after a failure: exponential with full jitter, without a limit on attempts."""

    def __init__(self, seconds_max: float) -> None:
        self._seconds_max = seconds_max
        self.failures = 0
        """Failures since the last success."""

    def next(self, at_least: float = 0.0) -> float:
        """Count a failure, and return the seconds to wait."""
        ceiling = min(self._seconds_max, _FIRST_WAIT * 2.0 ** min(self.failures, 30))
        self.failures += 1
        return max(at_least, random.random() * ceiling)
