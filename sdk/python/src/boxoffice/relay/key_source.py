"""The source of the relay key. It is read again after a 401, so that a key can be replaced."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from boxoffice._async.io import in_time
from boxoffice.relay.background import in_thread
from boxoffice.relay.errors import UsageError
from boxoffice.secret import Secret, reveal

KeySource = str | Secret | Path | Callable[[], "str | Secret"]
"""The key itself, a file that holds it, or a function that fetches it, which is called in a thread of its own."""

_READ_SECONDS_MAX = 30.0


async def read_key(source: KeySource) -> str:
    """Read the key. White space around it does not matter. Raises `UsageError` with `key_unreadable`."""
    try:
        given = (
            source
            if isinstance(source, (str, Secret))
            else await in_time(in_thread(_reader(source)), _READ_SECONDS_MAX)
        )
        key = reveal(given).strip()
    except Exception as cause:
        raise UsageError("key_unreadable", "the relay key cannot be read") from cause
    # With other characters in a header, the request would fail with a message that quotes the key.
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise UsageError("key_unreadable", "what the source returned is not a key")
    return key


def _reader(source: Path | Callable[[], str | Secret]) -> Callable[[], str | Secret]:
    return source.read_text if isinstance(source, Path) else source
