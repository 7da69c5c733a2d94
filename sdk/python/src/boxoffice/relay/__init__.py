"""For relays: admission, revocations, and in `boxoffice.relay.usage` reports of usage.

docs/tokens.md explains the checks, their order and their codes.
"""

from boxoffice.relay.errors import AdmissionRefused
from boxoffice.relay.feed import RevocationFeed, RevocationsError
from boxoffice.relay.key_source import KeySource
from boxoffice.relay.verifier import (
    Admission,
    Attempt,
    Revocations,
    TokenVerifier,
    check_revocations,
    hash_of,
    verify_revocations,
)

__all__ = [
    "Admission",
    "AdmissionRefused",
    "Attempt",
    "KeySource",
    "RevocationFeed",
    "Revocations",
    "RevocationsError",
    "TokenVerifier",
    "check_revocations",
    "hash_of",
    "verify_revocations",
]
