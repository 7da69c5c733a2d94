"""One attempt at `POST /v1/usage`, and the meaning of its answer. Source: specification 4.12 and 7.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import httpx

from boxoffice._async import io
from boxoffice._failures import retry_after
from boxoffice._jose import read_object
from boxoffice._kinds import Timeout

_ANSWER_SECONDS_MAX = 30
_RETRY_AFTER_SECONDS_MAX = 3600
"""A longer `Retry-After` is cut to this."""

RetryReason = Literal["network", "timeout", "server_error", "rate_limited", "unexpected_answer"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The service charged the batch."""

    charged: int
    duplicates: int
    unbilled: int
    admitted: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """The service will never accept this batch, and charged none of it."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class KeyRefused:
    """The service does not know the key."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Send the same batch again; `after` is the server's minimum wait in seconds."""

    reason: RetryReason
    status: int | None = None
    cause: Exception | None = None
    after: float = 0.0


async def post_usage(
    http: httpx.AsyncClient, url: str, key: str, body: bytes
) -> Accepted | Refused | KeyRefused | Retry:
    """Send a batch once."""
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        # An answer only counts if it is complete.
        answer = await io.send(
            http, http.build_request("POST", url, headers=headers, content=body), _ANSWER_SECONDS_MAX
        )
    except Exception as cause:
        return Retry("timeout" if isinstance(cause, Timeout) else "network", cause=cause)
    return _interpret(answer)


def _interpret(answer: httpx.Response) -> Accepted | Refused | KeyRefused | Retry:
    status, given = answer.status_code, read_object(answer.content) or {}
    if status == 200:
        return _accepted(given) or Retry("unexpected_answer", status)
    if status == 401:
        return KeyRefused()
    # Only the service itself may reject a record. Answers of proxies in between do not count.
    if status == 400 and isinstance(given.get("error"), str):
        return Refused(status, given["error"])
    if status == 413:
        return Refused(status, "the body is too large")
    after = min(retry_after(answer.headers.get("retry-after")) or 0.0, _RETRY_AFTER_SECONDS_MAX)
    reason: RetryReason = "rate_limited" if status == 429 else "server_error" if status >= 500 else "unexpected_answer"
    return Retry(reason, status, after=after)


def _accepted(given: dict[str, Any]) -> Accepted | None:
    counts = [given.get(name) for name in ("charged", "duplicates", "unbilled")]
    are_counts = all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in counts)
    if not are_counts or not isinstance(given.get("admitted"), bool):
        return None
    return Accepted(given["charged"], given["duplicates"], given["unbilled"], given["admitted"])
