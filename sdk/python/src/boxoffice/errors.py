"""Errors of the client. Each kind of failure is a class of its own: see `_kinds.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """An invalid field of a request."""

    field: str
    """Its path: in the contract, such as `policy.max_participants`, or of REST, such as `records/0/seconds`; empty if no
    single field is wrong.
    """

    description: str
    """What it accepts."""


class BoxofficeError(Exception):
    """The service refused, failed, or was not reached, or the request was wrong before it was sent."""

    def __init__(
        self,
        message: str,
        *,
        code: str | int = "",
        reason: str = "",
        request_id: str | None = None,
        fields: Sequence[FieldViolation] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What happened, for people."""
        self.code = code
        """The name of a gRPC code such as `NOT_FOUND`, or the status of an HTTP answer. Empty: nothing was sent."""
        self.reason = reason
        """A stable identifier such as `NO_CREDIT`; empty if there is none."""
        self.request_id = request_id
        """Quote it to the operator of the service; None if there was no answer."""
        self.fields = tuple(fields)
        """The invalid fields, of `Invalid`."""
        self.metadata = dict(metadata or {})
        """Further details, such as the missing capability."""
        self.retry_after = retry_after
        """The minimum wait in seconds that the service asks for, if it does."""

    def __str__(self) -> str:
        details = [str(each) for each in (self.code, self.reason) if each]
        if self.request_id:
            details.append(f"request {self.request_id}")
        return f"{self.message} ({', '.join(details)})" if details else self.message


class ClientClosed(BoxofficeError):
    """The client was closed: nothing was sent."""

    def __init__(self, message: str = "the client is closed") -> None:
        super().__init__(message)
