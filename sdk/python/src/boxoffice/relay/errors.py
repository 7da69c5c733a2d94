"""Errors of the relay half."""

from __future__ import annotations

from typing import Literal

UsageErrorCode = Literal[
    "invalid_options", "invalid_usage", "spool_in_use", "spool_failed", "spool_broken", "key_unreadable", "closed"
]


class AdmissionRefused(Exception):
    """A participant that may not come in. It never has a part of a token or a proof."""

    def __init__(self, code: str, reason: str | None = None) -> None:
        super().__init__(code if reason is None else f"{code} ({reason})")
        self.code = code
        """Why: a code of docs/tokens.md."""
        self.reason = reason
        """Why tokens were revoked, such as `kicked`, if that is the cause and known."""


class UsageError(Exception):
    """The reporter could not be opened, or did not accept usage."""

    def __init__(self, code: UsageErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        """Why: `invalid_options`; `invalid_usage`, which breaks a rule of the service; `spool_in_use` by another reporter;
        `spool_failed`: the disk failed, nothing of this call is stored, and all earlier calls are; `spool_broken`: a failed
        write could not be taken back, so nothing more is accepted until the next start; `key_unreadable`; or `closed`: the
        reporter is closed, or the session has ended.
        """
