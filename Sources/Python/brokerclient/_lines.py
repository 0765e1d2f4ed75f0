"""Lines of a non-blocking socket, and the messages in them."""
from __future__ import annotations

import json
import select
import socket
import time
from typing import Any, Dict, List, Optional

from ._errors import not_understood

LIMIT = 8 << 20


class Assembler:
    """Bytes in, messages out."""

    def __init__(self) -> None:
        self._parts: List[bytes] = []
        self._size = 0

    def append(self, data: bytes) -> List[Dict[str, Any]]:
        if b"\n" not in data:
            self._parts.append(data)
            self._size += len(data)
            if self._size > LIMIT:
                raise not_understood()
            return []
        *lines, rest = (b"".join(self._parts) + data).split(b"\n")
        self._parts, self._size = [rest] if rest else [], len(rest)
        return [_message(line) for line in lines if line]


def _message(line: bytes) -> Dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise not_understood() from None
    if not isinstance(message, dict):
        raise not_understood()
    return message


def send(connection: socket.socket, line: bytes, until: Optional[float]) -> bool:
    """Whether all of it was sent in time."""
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[connection.send(rest, socket.MSG_NOSIGNAL):]
        except BlockingIOError:
            if not wait(connection, select.POLLOUT, until):
                return False
    return True


def wait(connection: socket.socket, events: int, until: Optional[float]) -> bool:
    poll = select.poll()
    poll.register(connection, events)
    rest = None if until is None else max(0.0, until - time.monotonic()) * 1000
    return bool(poll.poll(rest))
