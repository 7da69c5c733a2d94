"""Texts that must not get into logs."""

from __future__ import annotations

from typing import NoReturn

_MASK = "[hidden]"


class Secret:
    """An API key, a token, or another text that must not get into logs.

    However it is printed, formatted or logged, it is `[hidden]`, also inside of other values. `reveal()` returns the text.
    It cannot be pickled, and is no JSON: store what `reveal()` returns.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({_MASK!r})"

    def __str__(self) -> str:
        return _MASK

    def __bool__(self) -> bool:
        return self._text != ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written: store what reveal() returns")


def reveal(secret: Secret | str) -> str:
    """Return the text of a secret that may be given as a text."""
    return secret.reveal() if isinstance(secret, Secret) else secret
