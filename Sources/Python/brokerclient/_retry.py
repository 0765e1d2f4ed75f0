"""Decides after the outcome of one attempt. Pure, and shared by threads and asyncio."""
from __future__ import annotations

import time
from typing import Any, Dict, Optional

from . import _errors
from ._requests import Request
from ._socket import NotRunning

# How long to wait for a broker that went away.
PATIENCE = 3.0
PAUSE = 0.02


class Attempts:
    """The attempts of one request: sent again if it was not executed, and once more if it is idempotent."""

    def __init__(self, request: Request) -> None:
        self._idempotent = request.idempotent
        self._repeated = False
        self._deadline: Optional[float] = None

    def result(self, message: Dict[str, Any]) -> Any:
        """The result, or None for another attempt on a new connection."""
        if "error" not in message:
            if "result" not in message:
                raise _errors.not_understood()
            return message["result"]
        error = _errors.answered(message["error"])
        if error.reason == "shuttingDown" and self._take_repetition():
            return None
        raise error

    def failed(self, error: _errors.BrokerError) -> None:
        """Raises, unless there is another attempt."""
        if isinstance(error.__cause__, NotRunning):
            if self._deadline is None or time.monotonic() > self._deadline:
                raise error
            return
        if error.kind != "connectionLost" or not self._idempotent or not self._take_repetition():
            raise error

    def unsent(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise _errors.lost()
        self.begin()

    def begin(self, lost_at: Optional[float] = None) -> None:
        """The start of the wait for the next broker."""
        self._deadline = self._deadline or (lost_at or time.monotonic()) + PATIENCE

    def _take_repetition(self) -> bool:
        again = not self._repeated
        self._repeated = True
        self.begin()
        return again


def tells_of_stop(message: Dict[str, Any]) -> bool:
    error = message.get("error")
    data = error.get("data") if isinstance(error, dict) else None
    return isinstance(data, dict) and data.get("reason") in ("shuttingDown", "interrupted")
