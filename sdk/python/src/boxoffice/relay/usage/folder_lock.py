"""Exclusive ownership of a folder, for the lifetime of a process.

The owner listens on a Unix socket in the folder. The operating system closes it with the process, however it ends and in any
container, so a dead owner holds nothing and pids are not needed. A process that wants the folder listens first and then
connects to the other sockets: of two at once, the later one to connect finds the other listening. So at most one gets the
folder. The SDKs of all languages do the same.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
import sys
from pathlib import Path

from boxoffice.relay.errors import UsageError

_PREFIX = "lock."
# The socket is dead or gone. Any other error comes from a live owner.
_DEAD = (errno.ECONNREFUSED, errno.ENOENT)
_CONNECT_SECONDS_MAX = 5.0


class FolderLock:
    """The lock of a folder. `directory` is a descriptor of it, open until the release."""

    def __init__(self, folder: Path, directory: int) -> None:
        self._folder, self._directory = folder, directory
        self._name = _PREFIX + secrets.token_hex(6)
        self._server: asyncio.Server | None = None

    async def take(self) -> None:
        """Raise `spool_in_use` while another reporter owns the folder."""
        listening = socket.socket(socket.AF_UNIX)
        try:
            listening.bind(self._address_of(self._name))
            self._server = await asyncio.start_unix_server(lambda _, writer: writer.close(), sock=listening)
        except BaseException:
            listening.close()
            raise
        try:
            others = [name for name in self._names() if name != self._name]
            # An earlier owner may have mistaken our socket for a dead one and removed it.
            if any(self._answers(name) for name in others) or self._name not in self._names():
                raise UsageError("spool_in_use", f"the spool {self._folder} is in use by another reporter")
            for name in others:
                (self._folder / name).unlink(missing_ok=True)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others have the folder."""
        if self._server is not None:
            self._server.close()
        (self._folder / self._name).unlink(missing_ok=True)

    def _names(self) -> list[str]:
        return [each.name for each in self._folder.iterdir() if each.name.startswith(_PREFIX)]

    def _address_of(self, name: str) -> str:
        """Return the path of a socket. Paths are limited to about 100 bytes; Linux offers a short one for an open folder."""
        return f"/proc/self/fd/{self._directory}/{name}" if sys.platform == "linux" else str(self._folder / name)

    def _answers(self, name: str) -> bool:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(_CONNECT_SECONDS_MAX)
            try:
                asking.connect(self._address_of(name))
            except OSError as error:
                return error.errno not in _DEAD
            return True
