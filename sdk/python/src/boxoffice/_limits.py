"""What all clients have in common: their options, and when calls are repeated."""

from __future__ import annotations

import random
import re
import ssl
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from boxoffice._failures import invalid
from boxoffice._kinds import Timeout, Unavailable
from boxoffice.errors import BoxofficeError
from boxoffice.secret import Secret, reveal

T = TypeVar("T")

_FIRST_WAIT = 0.5
_WAIT_MAX = 10.0
_OPTIONS = ("timeout", "attempt_timeout", "idempotency_key")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a client. Raises `Invalid` for wrong ones."""

    url: str
    control_url: str | None
    api_key: Secret
    tenant: str | None
    timeout: float
    attempt_timeout: float
    retries: int
    ca: bytes | None

    def __post_init__(self) -> None:
        check_url("url", self.url)
        if self.control_url is not None:
            check_url("control_url", self.control_url)
        # Other keys would be refused further down with a message that contains the key.
        if not re.fullmatch(r"[\x21-\x7e]*", reveal(self.api_key)):
            raise invalid("api_key", "must be printable ASCII characters")
        if self.retries < 0:
            raise invalid("retries", "must not be negative")
        if self.timeout <= 0 or self.attempt_timeout <= 0:
            raise invalid("timeout", "must be more than 0 seconds")

    @property
    def authorization(self) -> dict[str, str]:
        """The header with the key, if there is one."""
        return {"authorization": f"Bearer {self.api_key.reveal()}"} if self.api_key else {}


def http_trust(ca: bytes | None) -> ssl.SSLContext | bool:
    """Return what httpx trusts: the given certificate authorities alone, or those it comes with. Raises `Invalid`."""
    if ca is None:
        return True
    wrong = invalid("ca", "must be certificates in PEM")
    # An empty text counts as none: the system's authorities would be trusted.
    if b"-----BEGIN CERTIFICATE-----" not in ca:
        raise wrong
    try:
        return ssl.create_default_context(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise wrong from None


def check_url(name: str, value: str) -> None:
    """Raise `Invalid` for what is no address of a service. Paths are appended to it."""
    try:
        parts = urlsplit(value)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_http = False
    if not is_http:
        raise invalid(name, "must begin with http:// or https://")
    if "@" in parts.netloc or re.search(r"[?#\s]", value):
        raise invalid(name, "must have no user, query or fragment")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list."""

    items: list[T]
    next_page_token: str
    """Token of the next page; empty for the last page."""


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a request, and the options of the call, which are given side by side."""
    options = {name: value for name, value in given.items() if name in _OPTIONS and value is not None}
    return {name: value for name, value in given.items() if name not in _OPTIONS}, options


def key_of(options: Mapping[str, Any], pattern: str, description: str) -> str:
    """Return the idempotency key of a call, which is random unless it is given."""
    key = options.get("idempotency_key", "")
    if "idempotency_key" not in options:
        return str(uuid.uuid4())
    # An empty one would be taken for none, and the call would take effect with each of its attempts.
    if not isinstance(key, str) or not re.fullmatch(pattern, key):
        raise invalid("idempotency_key", description)
    return key


def is_transient(error: BoxofficeError) -> bool:
    """Tell whether a call may be repeated that takes effect once. Source: specification 7.3."""
    return isinstance(error, (Unavailable, Timeout))


def is_transient_rest(error: BoxofficeError) -> bool:
    """Tell the same of REST. Internal errors of the service may also be temporary. Source: specification 7.1."""
    return is_transient(error) or error.code == 500


def wait_after(failures: int, error: BoxofficeError) -> float:
    """Return how long to wait: exponential with full jitter, and at least what the service asks for."""
    return (error.retry_after or 0.0) + random.random() * min(_WAIT_MAX, _FIRST_WAIT * 2.0 ** min(failures, 10))


MayRetry = Callable[[BoxofficeError], bool]
