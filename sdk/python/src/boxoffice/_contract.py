"""Messages of the contract of the control plane, which are known to this package alone."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_PACKAGE = "boxoffice.control.v1"


@cache
def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    text = files("boxoffice").joinpath("_contract.binpb").read_bytes()
    for file in FileDescriptorSet.FromString(text).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


@cache
def method(name: str) -> MethodDescriptor:
    """Return a method, such as `RoomService.CreateRoom`."""
    service, _, own = name.partition(".")
    found: MethodDescriptor = _pool().FindServiceByName(f"{_PACKAGE}.{service}").methods_by_name[own]
    return found


def path(found: MethodDescriptor) -> str:
    """Return the path of a method in HTTP/2."""
    return f"/{found.containing_service.full_name}/{found.name}"


def message_class(desc: Descriptor) -> type[Message]:
    """Return the class of a message."""
    return GetMessageClass(desc)


def message_type(full_name: str) -> type[Message]:
    """Return the class of a message of any package, such as `google.rpc.Status`."""
    return GetMessageClass(_pool().FindMessageTypeByName(full_name))
