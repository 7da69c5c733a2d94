"""The errors that answers become."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote

from google.protobuf.message import DecodeError

from boxoffice._contract import message_type
from boxoffice._kinds import KINDS, KINDS_BY_STATUS, REASONS, Internal, Invalid, Timeout, Unavailable
from boxoffice.errors import BoxofficeError, FieldViolation


def invalid(field: str, description: str) -> Invalid:
    """Return the error of a mistake that is found before anything is sent."""
    return Invalid(f"{field} {description}".strip(), fields=[FieldViolation(field, description)])


def timed_out() -> Timeout:
    return Timeout("there was no answer in time", code="DEADLINE_EXCEEDED")


def unreachable() -> Unavailable:
    return Unavailable("the service was not reached, or did not answer", code="UNAVAILABLE")


def too_long(status: int, headers: Mapping[str, str]) -> BoxofficeError:
    return Internal("the answer is too long", code=status) if status < 300 else of_answer(status, headers, "")


def of_call(code: str, message: str, trailers: Iterable[tuple[str, str | bytes]]) -> BoxofficeError:
    """Return the error of a failed call of the control plane."""
    metadata = dict(trailers)
    details = metadata.get("grpc-status-details-bin", b"")
    found = _details(details) if isinstance(details, bytes) else {}
    known_code, kind = REASONS.get(found.get("reason", ""), ("", Internal))
    # A reason only counts together with its own code. With another code it is not a known reason.
    if known_code != code:
        kind = KINDS.get(code, Internal)
    request_id = metadata.get("x-request-id")
    # Without details, gRPC itself failed, and its message may help.
    return kind(
        message or f"the control plane answered {code}",
        code=code,
        **{**found, **({"request_id": request_id} if isinstance(request_id, str) else {})},
    )


def _details(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        status: Any = message_type("google.rpc.Status").FromString(text)
        for each in status.details:
            name = each.type_url.rpartition("/")[2]
            if name == "google.rpc.ErrorInfo":
                info: Any = message_type(name).FromString(each.value)
                found["reason"] = info.reason
                found["metadata"] = dict(info.metadata)
                # Proxies may drop the trailer, which comes first.
                found["request_id"] = found["metadata"].pop("request_id", None)
            elif name == "google.rpc.BadRequest":
                request: Any = message_type(name).FromString(each.value)
                found["fields"] = [FieldViolation(wrong.field, wrong.description) for wrong in request.field_violations]
            elif name == "google.rpc.RetryInfo":
                delay = getattr(message_type(name).FromString(each.value), "retry_delay")  # noqa: B009
                found["retry_after"] = max(delay.seconds + delay.nanos / 1e9, 0)
    except DecodeError:
        # Without readable details, code and message remain.
        pass
    return found


def of_answer(status: int, headers: Mapping[str, str], body: str) -> BoxofficeError:
    """Return the error of an answer of the REST interface; `body` may be anything."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        read = None
    given: dict[str, Any] = read if isinstance(read, dict) else {}
    error, reason = given.get("error"), given.get("code")
    message = error if isinstance(error, str) else f"the service answered {status}"
    return KINDS_BY_STATUS.get(status, Internal)(
        message,
        code=status,
        reason="NO_CREDIT" if status == 402 else reason.upper() if isinstance(reason, str) else "",
        request_id=headers.get("x-request-id"),
        fields=[_violation(headers.get("invalid-field", ""), message)] if status == 400 else [],
        retry_after=retry_after(headers.get("retry-after")),
    )


def _violation(header: str, message: str) -> FieldViolation:
    """The description is what the message says of the field."""
    try:
        field = unquote(header, errors="strict")
    except UnicodeDecodeError:
        field = ""
    what = message.removeprefix("invalid request: ")
    return FieldViolation(field, what.removeprefix(f"{field} ") if field else what)


def retry_after(header: str | None) -> float | None:
    """Return the seconds of `Retry-After`, which has them or a date. Source: RFC 9110, 10.2.3."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        return max(parsedate_to_datetime(header).timestamp() - time.time(), 0)
    except (ValueError, OverflowError):
        return None
