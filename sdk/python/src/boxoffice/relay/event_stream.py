"""Reads server-sent events. Source: HTML, 9.2.6, without reconnection."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncGenerator, AsyncIterable

# A line feed that a later chunk may still add to a carriage return is waited for.
_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")


async def read_events(chunks: AsyncIterable[bytes], characters_max: int) -> AsyncGenerator[tuple[str, str], None]:
    """Yield the name and the data of each event. What is incomplete at the end is left out.

    Raises `ValueError` if one event has more than `characters_max` characters.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = event = ""
    data: list[str] = []
    size = 0
    async for chunk in chunks:
        text = decoder.decode(chunk)
        rest += text
        lines = _LINE_END.split(rest) if "\n" in text or "\r" in text else [rest]
        rest = lines.pop()
        for line in lines:
            size += len(line)
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                event = value
            elif name == "data":
                data.append(value)
            if line != "":
                continue
            if data:
                yield event or "message", "\n".join(data)
            event, data, size = "", [], 0
        if size + len(rest) > characters_max:
            raise ValueError("an event is too long")
