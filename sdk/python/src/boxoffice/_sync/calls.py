# Made by scripts/make-python.ts from _async. Not to be edited.
"""Time limits and retries of calls, and the end of a client."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from boxoffice._sync import io
from boxoffice._limits import MayRetry, Options, Page, wait_after
from boxoffice.errors import BoxofficeError, ClientClosed

T = TypeVar("T")

_log = logging.getLogger("boxoffice")


class Listing(Generic[T]):
    """A complete list: iterate over it for the items, or over `pages()`. Each iteration reads it again."""

    def __init__(self, first: str, read: Callable[[str], Page[T]]) -> None:
        self._first = first
        self._read = read

    def __iter__(self) -> Generator[T, None, None]:
        for page in self.pages():
            for item in page.items:
                yield item

    def pages(self) -> Generator[Page[T], None]:
        """Read page after page."""
        token = self._first
        while True:
            page = self._read(token)
            yield page
            token = page.next_page_token
            if not token:
                return


class Calls:
    """The calls of a client. When it is closed, those in progress still finish, with no further attempt."""

    def __init__(self, options: Options, release: Callable[[], None]) -> None:
        self.options = options
        self.closed = io.Event()
        self._release = release
        self._lock = threading.Lock()
        self._running = 0

    def begin(self) -> None:
        """Begin a call or a stream. Each ends with `end()`."""
        with self._lock:
            if self.closed.is_set():
                raise ClientClosed()
            self._running += 1

    def end(self) -> None:
        """End it. The last one after `close()` releases what the client holds."""
        with self._lock:
            self._running -= 1
            is_last = self.closed.is_set() and self._running == 0
        if is_last:
            self._release()

    def close(self) -> None:
        """Let nothing begin any more."""
        with self._lock:
            is_idle = not self.closed.is_set() and self._running == 0
            self.closed.set()
        if is_idle:
            self._release()

    def attempt(self, attempt: Callable[[float], T], given: dict[str, Any], may_retry: MayRetry) -> T:
        """Attempt until it succeeds, fails permanently, or there is no time for another attempt.

        An attempt is given the seconds that it may take.
        """
        ends_at = time.monotonic() + given.get("timeout", self.options.timeout)
        seconds_max = given.get("attempt_timeout", self.options.attempt_timeout)
        failures = 0
        self.begin()
        try:
            while True:
                try:
                    return attempt(max(min(seconds_max, ends_at - time.monotonic()), 0.001))
                except BoxofficeError as error:
                    if not may_retry(error) or failures >= self.options.retries:
                        raise
                    wait = wait_after(failures, error)
                    if time.monotonic() + wait >= ends_at:
                        raise
                    _log.info("trying again in %.1f s: %s", wait, error)
                    with suppress(ClientClosed):
                        io.pause(self.closed, wait)
                    # `ClientClosed` would say that nothing was sent.
                    if self.closed.is_set():
                        raise
                failures += 1
        finally:
            self.end()
