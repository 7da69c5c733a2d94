"""The REST interface."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from boxoffice._async import io
from boxoffice._async.calls import AsyncCalls, AsyncListing
from boxoffice._failures import invalid, of_answer
from boxoffice._kinds import Internal
from boxoffice._limits import Options, Page, is_transient_rest, key_of, split
from boxoffice._values import read, read_answer, to_json, to_query

T = TypeVar("T")

_REPEATABLE_POSTS = ("POST /v1/usage", "POST /v1/usage/lookup", "POST /v1/rates/simulate")
"""They change nothing, or what they report has ids."""

_WITHOUT_BODY = ("POST /v1/billing/portal", "POST /v1/webhooks/{id}/test")

_SIGNUP = "POST /v1/signup"
"""There is no tenant yet whose idempotency key it could be, so it is never repeated."""


class AsyncRest:
    """Requests, which are repeated if that is safe."""

    def __init__(self, options: Options, client: io.HttpClient, calls: AsyncCalls) -> None:
        self._options = options
        self._client = client
        self.calls = calls

    async def call(self, name: str, given: Mapping[str, Any], kind: type[T]) -> T:
        """Make a request, such as `GET /v1/keys`. All attempts of a write have the same key, so it takes effect once."""
        answer = await self.send(name, given)
        try:
            return read_answer(kind, answer)
        except ValueError as cause:
            raise Internal(f"the answer is no {kind.__name__}", code=200) from cause

    async def field(self, name: str, given: Mapping[str, Any], field: str, kind: type[T]) -> T:
        """Make a request whose answer holds one thing."""
        answer = await self.send(name, given)
        try:
            return read(kind, answer.get(field))
        except ValueError as cause:
            raise Internal(f"the answer has no {field}", code=200) from cause

    async def items(self, name: str, given: Mapping[str, Any], field: str, kind: type[T]) -> list[T]:
        """Make a request whose answer is a list."""
        page, _ = await self._page(name, given, field, kind)
        return page

    def pages(self, name: str, given: Mapping[str, Any], field: str, kind: type[T]) -> AsyncListing[T]:
        """All items of a list, page by page."""
        values = dict(given)
        first, size = values.pop("page_token", ""), values.pop("page_size", 0)

        async def read_page(cursor: str) -> Page[T]:
            asked = {**values, "limit": size or None, "cursor": cursor or None}
            return Page(*await self._page(name, asked, field, kind))

        return AsyncListing(first, read_page)

    async def _page(self, name: str, given: Mapping[str, Any], field: str, kind: type[T]) -> tuple[list[T], str]:
        answer = await self.send(name, given)
        try:
            return [read(kind, each) for each in answer[field]], answer.get("next_cursor") or ""
        except (KeyError, TypeError, ValueError) as cause:
            raise Internal(f"the answer has no {field}", code=200) from cause

    async def send(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make a request, and return the members of its answer, if there are any."""
        values, options = split(given)
        method, _, pattern = name.partition(" ")
        path = re.sub(r"{(\w+)}", lambda found: _segment(found[1], values.pop(found[1], None)), pattern)
        headers = dict(self._options.authorization)
        is_write = method != "GET" and name not in _REPEATABLE_POSTS and name != _SIGNUP
        if is_write:
            headers["idempotency-key"] = key_of(
                options, r"[\x21-\x7e]{1,255}", "must be 1 to 255 visible ASCII characters"
            )
        query, body = (to_query(values), None) if method in ("GET", "DELETE") else ({}, to_json(values))
        content = None if body is None or name in _WITHOUT_BODY else json.dumps(body).encode()
        if content is not None:
            headers["content-type"] = "application/json"

        async def attempt(seconds: float) -> dict[str, Any]:
            url = self._options.url.rstrip("/") + path
            request = self._client.build_request(method, url, params=query, headers=headers, content=content)
            answer = await io.send(self._client, request, seconds)
            text = answer.content.decode(errors="replace")
            if not 200 <= answer.status_code < 300:
                raise of_answer(answer.status_code, answer.headers, text)
            return _object(text, answer.status_code)

        return await self.calls.attempt(attempt, options, lambda error: name != _SIGNUP and is_transient_rest(error))


def _segment(name: str, value: object) -> str:
    """A part of a path. Addresses drop the parts `.` and `..`. Source: RFC 3986, 5.2.4."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise invalid(name, 'must be a text, and not empty, "." or ".."')
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise invalid(name, "must be well-formed") from None


def _object(text: str, status: int) -> dict[str, Any]:
    if text == "":
        return {}
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Internal("the answer is no JSON", code=status)
    return answer
