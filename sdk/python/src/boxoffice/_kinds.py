# Made by scripts/make-error-kinds.ts from proto/boxoffice/control/v1/errors.json. Not to be edited.
"""What failures are to a program, and their reasons."""

from __future__ import annotations

from boxoffice.errors import BoxofficeError


class Unauthenticated(BoxofficeError):
    """The API key is not known."""


class Denied(BoxofficeError):
    """The key, or the actor, may not do that."""


class Invalid(BoxofficeError):
    """The request is wrong, or too large."""


class NotFound(BoxofficeError):
    """This tenant has no such resource."""


class Exists(BoxofficeError):
    """It exists already."""


class Closed(BoxofficeError):
    """The room has ended."""


class Precondition(BoxofficeError):
    """Something else has to change first."""


class Unavailable(BoxofficeError):
    """The service was not reached, or not now."""


class Internal(BoxofficeError):
    """A bug in the service."""


class Timeout(BoxofficeError):
    """There was no answer in time, or the call was cancelled."""


class RateLimited(BoxofficeError):
    """Too many requests."""


KINDS: dict[str, type[BoxofficeError]] = {
    "UNAUTHENTICATED": Unauthenticated,
    "PERMISSION_DENIED": Denied,
    "INVALID_ARGUMENT": Invalid,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": Exists,
    "FAILED_PRECONDITION": Precondition,
    "UNAVAILABLE": Unavailable,
    "INTERNAL": Internal,
    "CANCELLED": Timeout,
    "DEADLINE_EXCEEDED": Timeout,
    "RESOURCE_EXHAUSTED": Invalid,
    "UNIMPLEMENTED": Invalid,
}
"""By code, of failures whose reason is not known here."""

KINDS_BY_STATUS: dict[int, type[BoxofficeError]] = {
    400: Invalid,
    401: Unauthenticated,
    402: Precondition,
    403: Denied,
    404: NotFound,
    405: Invalid,
    409: Precondition,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: RateLimited,
    500: Internal,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
"""By status of a REST answer."""

REASONS: dict[str, tuple[str, type[BoxofficeError]]] = {
    "AGE_VERIFICATION_REQUIRED": ("FAILED_PRECONDITION", Precondition),
    "ALREADY_EXPIRED": ("FAILED_PRECONDITION", Precondition),
    "ALREADY_REVOKED": ("FAILED_PRECONDITION", Precondition),
    "ALREADY_ROTATED": ("FAILED_PRECONDITION", Precondition),
    "BANNED": ("PERMISSION_DENIED", Denied),
    "BUDGET_REACHED": ("FAILED_PRECONDITION", Precondition),
    "CAPABILITY_REQUIRED": ("PERMISSION_DENIED", Denied),
    "CEILING_EXCEEDED": ("PERMISSION_DENIED", Denied),
    "IDEMPOTENCY_KEY_REUSED": ("INVALID_ARGUMENT", Invalid),
    "IMMUTABLE_FIELD": ("INVALID_ARGUMENT", Invalid),
    "INSUFFICIENT_STANDING": ("PERMISSION_DENIED", Denied),
    "INTERNAL": ("INTERNAL", Internal),
    "INVALID_API_KEY": ("UNAUTHENTICATED", Unauthenticated),
    "INVALID_REQUEST": ("INVALID_ARGUMENT", Invalid),
    "NOT_FOUND": ("NOT_FOUND", NotFound),
    "NO_CREDIT": ("FAILED_PRECONDITION", Precondition),
    "OTHER_TENANT": ("PERMISSION_DENIED", Denied),
    "OVERLOADED": ("UNAVAILABLE", Unavailable),
    "QUOTA_EXCEEDED": ("FAILED_PRECONDITION", Precondition),
    "RELAY_KEY": ("PERMISSION_DENIED", Denied),
    "ROOM_ENDED": ("FAILED_PRECONDITION", Closed),
    "ROOM_EXISTS": ("ALREADY_EXISTS", Exists),
    "ROOM_FULL": ("FAILED_PRECONDITION", Precondition),
    "ROOM_LOCKED": ("FAILED_PRECONDITION", Precondition),
    "TENANT_NOT_ACTIVE": ("PERMISSION_DENIED", Denied),
    "TOO_MANY_BANS": ("FAILED_PRECONDITION", Precondition),
    "TOO_MANY_CALLS": ("UNAVAILABLE", Unavailable),
    "TOO_MANY_FAILED_KEYS": ("UNAVAILABLE", Unavailable),
    "TOO_MANY_REQUESTS": ("UNAVAILABLE", Unavailable),
    "TOO_MANY_STREAMS": ("UNAVAILABLE", Unavailable),
    "UNAVAILABLE": ("UNAVAILABLE", Unavailable),
    "USERNAME_CONFUSABLE": ("INVALID_ARGUMENT", Invalid),
    "WATCHDOG_EXISTS": ("ALREADY_EXISTS", Exists),
    "WATCHDOG_OVER": ("FAILED_PRECONDITION", Precondition),
}
"""By reason, the code that it comes with, and the kind."""

ANSWER_BYTES_MAX = 33_554_432
"""Longer answers are refused, so that a faulty proxy cannot fill the memory."""
