"""Requests and answers in the forms that the interfaces have."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime, timedelta, timezone
from functools import cache, partial
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import httpx
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from boxoffice._contract import message_class
from boxoffice._failures import invalid
from boxoffice.secret import Secret, reveal

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def whole_answer(answer: httpx.Response, body: bytearray) -> httpx.Response:
    """Return an answer over REST with its body, which was read to its end and is no longer compressed."""
    headers = [each for each in answer.headers.multi_items() if each[0].lower() != "content-encoding"]
    return httpx.Response(answer.status_code, headers=headers, content=bytes(body))


def read(kind: type[T], value: object) -> T:
    """Return an answer as the dataclass of its type. Raises `ValueError` for what has another form."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{kind.__name__} is no object")
    # What an older service does not have is None, whatever the type says.
    given = {
        name: None if value.get(wire) is None else convert(value[wire])
        for name, wire, convert in _members(cast(Any, kind))
    }
    return kind(**given)


def read_answer(kind: type[T], value: object) -> T:
    """Return a whole answer in the same way. It is not empty, unless its type requires nothing."""
    if not value and any(each.default is MISSING for each in fields(cast(Any, kind))):
        raise ValueError(f"{kind.__name__} is empty")
    return read(kind, value)


@cache
def _members(kind: type) -> list[tuple[str, str, Callable[[Any], Any]]]:
    hints = get_type_hints(kind)
    return [(each.name, each.name.rstrip("_"), _reader(hints[each.name])) for each in fields(kind)]


def _reader(hint: Any) -> Callable[[Any], Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _reader(next(each for each in inner if each is not type(None)))
    if origin is list:
        return partial(_read_list, _reader(inner[0]))
    if origin is dict:
        return partial(_read_dict, _reader(inner[1]))
    if hint is datetime:
        return _read_time
    if hint is int:
        return _read_int
    if hint is Secret:
        return Secret
    return partial(read, cast(Any, hint)) if is_dataclass(hint) else lambda value: value


def _read_list(item: Callable[[Any], Any], value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("no list")
    return [item(each) for each in value]


def _read_dict(item: Callable[[Any], Any], value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no object")
    return {name: item(each) for name, each in value.items()}


def _read_int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("no integer")
    return value


def _read_time(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    # Python 3.10 reads three or six digits of a second, and no Z.
    found = re.fullmatch(r"(.{19})(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", str(value))
    if not found:
        raise ValueError("no time")
    time, digits, zone = found.groups()
    fraction = (digits or "").ljust(6, "0")[:6]
    return datetime.fromisoformat(f"{time}.{fraction}{'+00:00' if zone == 'Z' else zone}")


def plain(message: Message) -> dict[str, Any]:
    """Return the fields of a message that are given, as `read()` takes them."""
    return {
        field.name: [_item(field, each) for each in getattr(message, field.name)]
        if field.is_repeated
        else _item(field, getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _item(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        return _words(field.enum_type).get(value, str(value) if value else "")
    if field.message_type is None:
        return value
    length = partial(timedelta, seconds=getattr(value, "seconds", 0), microseconds=getattr(value, "nanos", 0) // 1000)
    if field.message_type.full_name == "google.protobuf.Timestamp":
        return _EPOCH + length()
    if field.message_type.full_name == "google.protobuf.Duration":
        return length()
    return plain(value)


@cache
def _words(enum: EnumDescriptor) -> dict[int, str]:
    shared = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {each.number: each.name.removeprefix(shared).lower() for each in enum.values if each.number != 0}


def to_message(desc: Descriptor, values: Mapping[str, Any], inside: str = "") -> Message:
    """Return a request as its message. Raises `Invalid`, with the path of the field, for what the contract has not."""
    message = message_class(desc)()
    chosen: dict[str, str] = {}
    for name, value in values.items():
        if value is None:
            continue
        path = inside + name
        field = desc.fields_by_name.get(name.rstrip("_"))
        if field is None:
            raise invalid(path, f"is no field of {desc.name}")
        oneof = field.containing_oneof
        if oneof is not None and chosen.setdefault(oneof.name, name) != name:
            raise invalid(path, f"excludes {chosen[oneof.name]}")
        try:
            _set(message, field, value, path)
        except (TypeError, ValueError, AttributeError, OverflowError) as cause:
            raise invalid(path, f"has no value of its type: {type(value).__name__}") from cause
    return message


def _set(message: Message, field: FieldDescriptor, value: Any, path: str) -> None:
    if field.is_repeated:
        if isinstance(value, str):
            raise TypeError("a text is no list")
        wired = [_wire(field, each, f"{path}[{at}]") for at, each in enumerate(value)]
        getattr(message, field.name).extend(wired)
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(_wire(field, value, path))
    else:
        setattr(message, field.name, _wire(field, value, path))


def _wire(field: FieldDescriptor, value: Any, path: str) -> Any:
    if field.enum_type is not None:
        numbers = {word: number for number, word in _words(field.enum_type).items()}
        if value not in numbers:
            raise invalid(path, f"must be one of {', '.join(numbers)}")
        return numbers[value]
    if field.message_type is None:
        return reveal(value) if isinstance(value, Secret) else value
    if field.message_type.full_name == "google.protobuf.Timestamp":
        return _length(field, _aware(value, path) - _EPOCH)
    if field.message_type.full_name == "google.protobuf.Duration":
        if value.microseconds % 1000 != 0:
            raise invalid(path, "must be whole milliseconds")
        return _length(field, value)
    return to_message(field.message_type, value, f"{path}.")


def _length(field: FieldDescriptor, value: timedelta) -> Message:
    seconds, rest = divmod(value, timedelta(seconds=1))
    nanos = round(rest / timedelta(microseconds=1)) * 1000
    made: Message = message_class(cast(Descriptor, field.message_type))(seconds=seconds, nanos=nanos)
    return made


def _aware(value: datetime, path: str) -> datetime:
    if value.tzinfo is None:
        raise invalid(path, "must be a time with a time zone")
    return value.astimezone(timezone.utc)


def to_json(value: Any, path: str = "") -> Any:
    """Return a value of a request as JSON has it. What is None is left out."""
    if isinstance(value, datetime):
        return _aware(value, path).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, Mapping):
        return {name.rstrip("_"): to_json(each, name) for name, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [to_json(each, path) for each in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise invalid(path, f"cannot be a {type(value).__name__}")


_USUAL_IF_EMPTY = ("limit", "cursor", "wait_seconds")


def to_query(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a query. What is None, False or an empty list is left out, and what is usual if it is empty."""
    query: dict[str, str] = {}
    for name, value in to_json(values).items():
        if value is True:
            query[name] = "true"
        elif isinstance(value, list):
            if value:
                query[name] = ",".join(str(each) for each in value)
        elif value is not False and (value or name not in _USUAL_IF_EMPTY):
            query[name] = str(value)
    return query
