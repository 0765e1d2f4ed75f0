"""The bodies of requests that are sent a second time."""
from __future__ import annotations

from typing import Any, Optional


def position_of(body: Any) -> Optional[int]:
    """The position where a file is read from; None for anything that has none, such as a pipe."""
    try:
        position: Optional[int] = body.tell()
    except (AttributeError, OSError):
        return None
    return position


def rewound(body: Any, position: Optional[int]) -> bool:
    """Whether the body can be sent again: it is in memory, or a file, which is now at that position."""
    if body is None or isinstance(body, (str, bytes, bytearray, memoryview)):
        return True
    if position is None:
        return False
    try:
        body.seek(position)
    except (AttributeError, OSError, ValueError):
        return False
    return True
