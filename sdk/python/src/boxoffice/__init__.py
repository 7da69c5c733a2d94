"""The client of Boxoffice for back ends. `AsyncBoxoffice` is the same as `Boxoffice`, with `await`."""

from boxoffice import types
from boxoffice._async.calls import AsyncListing
from boxoffice._async.client import AsyncBoxoffice
from boxoffice._kinds import (
    Closed,
    Denied,
    Exists,
    Internal,
    Invalid,
    NotFound,
    Precondition,
    RateLimited,
    Timeout,
    Unauthenticated,
    Unavailable,
)
from boxoffice._limits import Page
from boxoffice._sync.calls import Listing
from boxoffice._sync.client import Boxoffice
from boxoffice.errors import BoxofficeError, ClientClosed, FieldViolation
from boxoffice.secret import Secret
from boxoffice.verify import (
    StatementRefused,
    WebhookRefused,
    data_of,
    verify_statement,
    verify_webhook,
    verify_webhook_events,
    verify_webhook_signature,
)

__all__ = [
    "AsyncBoxoffice",
    "AsyncListing",
    "Boxoffice",
    "BoxofficeError",
    "ClientClosed",
    "Closed",
    "Denied",
    "Exists",
    "FieldViolation",
    "Internal",
    "Invalid",
    "Listing",
    "NotFound",
    "Page",
    "Precondition",
    "RateLimited",
    "Secret",
    "StatementRefused",
    "Timeout",
    "Unauthenticated",
    "Unavailable",
    "WebhookRefused",
    "data_of",
    "types",
    "verify_statement",
    "verify_webhook",
    "verify_webhook_events",
    "verify_webhook_signature",
]
