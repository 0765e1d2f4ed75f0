"""The location of the broker's socket, and a trusted connection to it."""
from __future__ import annotations

import os
import socket
import stat
import struct
import weakref
from typing import Optional, Union

from ._errors import BrokerUnavailable, unavailable

_EVERYBODYS = "/run/brokerd/broker.sock"
_open: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def resolve(path: Union[str, os.PathLike[str], None]) -> str:
    """The named socket, or this person's, or the machine's."""
    return os.fspath(path or "") or os.environ.get("BROKER_SOCKET") or _usual()


def _usual() -> str:
    """The place where systemd starts a broker: this person's or the machine's."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if not runtime.startswith("/"):
        runtime = f"/run/user/{os.geteuid()}"
    own = f"{runtime}/brokerd/broker.sock"
    return _EVERYBODYS if not os.path.exists(own) and os.path.exists(_EVERYBODYS) else own


def connect(path: str, patience: float) -> socket.socket:
    """A connection to a broker of this user or of root.

    While a busy broker's queue is full, the kernel blocks: at most `patience`.
    """
    try:
        status = os.stat(path)
        if not stat.S_ISSOCK(status.st_mode):
            raise unavailable(f"{path} is not a socket; name the broker's socket.", retryable=False)
        owner = status.st_uid
        if not _is_placed(path, owner):
            _believe(path, owner)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise not_running(path) from NotRunning()
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error
    try:
        limit = struct.pack("ll", int(patience), max(1, int(patience % 1 * 1_000_000)))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        connection.connect(path)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        _believe(path, struct.unpack("iII", peer)[1], owner)
    except BaseException as error:
        connection.close()
        if isinstance(error, (ConnectionRefusedError, FileNotFoundError)):
            raise not_running(path) from NotRunning()
        if isinstance(error, BlockingIOError):
            raise unavailable(f"The broker at {path} takes no new connection right now; try again.") from None
        if isinstance(error, OSError):
            raise _failed(path, error) from error
        raise
    connection.setblocking(False)
    _open.add(connection)
    return connection


class NotRunning(Exception):
    """No process listens; only a caller that lost a connection waits for one."""


def not_running(path: str) -> BrokerUnavailable:
    if path == _EVERYBODYS:
        advice = "Start it (as an administrator) with: systemctl start brokerd-system.socket"
    elif path == _usual():
        advice = "Start it with: systemctl --user start brokerd.socket"
    else:
        advice = "Start the broker that should listen there, or name another socket (BROKER_SOCKET)."
    return unavailable(f"No broker listens at {path}. {advice}")


def _is_placed(path: str, owner: int) -> bool:
    """Whether it is a sandbox's socket of a broker for all users.

    It is in the folder that root made for that, or mounted from there into this sandbox, where its owner is unknown. Each folder above
    it belongs to the socket's owner, root or this user, and no other user can write to it.
    """
    if not path.startswith("/run/brokerd-sandboxes/") and (owner != 65_534 or _is_known_here(owner)):
        return False
    folder = os.path.dirname(path)
    others: tuple[int, ...] = (owner,)
    while folder.startswith("/"):
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o022 or status.st_uid not in others:
            return False
        parent = os.path.dirname(folder)
        if parent == folder:
            return True
        folder, others = parent, (owner, os.geteuid(), 0)
    return False


def _is_known_here(uid: int) -> bool:
    """Whether this user namespace has such a uid (user_namespaces(7))."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as lines:
            ranges = [[int(word) for word in line.split()] for line in lines]
    except (OSError, ValueError):
        return True
    return any(first <= uid < first + count for first, _, count in ranges)


def _believe(path: str, uid: int, owner: int = 0) -> None:
    if uid not in (os.geteuid(), 0, owner):
        raise unavailable(
            f"The broker at {path} belongs to user {uid}, neither you nor root; nothing was sent to it.",
            "brokerNotTrusted", retryable=False)


def _failed(path: str, error: Exception) -> BrokerUnavailable:
    return unavailable(f"The broker at {path} cannot be reached: {error}.", retryable=False)


def hang_up(connection: socket.socket) -> None:
    shut_down(connection)
    connection.close()


def shut_down(connection: socket.socket) -> None:
    """Ends the connection, also for a child process that has a copy of it, and leaves the file descriptor open."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _leave_to_parent() -> None:
    for connection in list(_open):
        connection.close()
    _open.clear()


os.register_at_fork(after_in_child=_leave_to_parent)
