"""One connection for any number of threads: the first waiting thread reads for all."""
from __future__ import annotations

import itertools
import select
import socket
import threading
import time
from typing import Any, Callable, Dict, Optional

from . import _errors
from ._lines import Assembler, send, wait
from ._requests import Request
from ._socket import NotRunning, connect, hang_up

Message = Dict[str, Any]


class Unsent(Exception):
    """The connection ended before the request was sent."""


def unsent(ending: BaseException) -> BaseException:
    """The result of a request that was not sent: another attempt, unless the broker or its caller ended the connection."""
    if isinstance(ending, _errors.BrokerUnavailable):
        return Unsent()
    return ending


class _Call:
    def __init__(self) -> None:
        self.answer: Optional[Message] = None
        self.sent = True
        # Only for a call that waits while another one reads.
        self.turn: Optional[threading.Event] = None

    def wake(self) -> None:
        if self.turn is not None:
            self.turn.set()


class Link:
    """Answers are matched by id. The first caller reads; after it has its answer, the next one does."""

    def __init__(self, path: str, patience: float, notified: Optional[Callable[[Message], None]] = None) -> None:
        self._path, self._patience, self._notified = path, patience, notified
        self._socket = connect(path, patience)
        self._numbers = itertools.count(1)
        self._calls: Dict[int, _Call] = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._reading = False
        self._lines = Assembler()
        self.ending: Optional[BaseException] = None
        self.ended_at = 0.0

    def __del__(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()

    def ask(self, request: Request, probed: bool = True) -> Message:
        """The answer's message. `probed` is False for the liveness check itself."""
        number, call = next(self._numbers), _Call()
        line = request.line(number)
        with self._lock:
            if self.ending is not None:
                raise unsent(self.ending)
            self._calls[number] = call
        try:
            self._send(line, call)
            return self._wait(call, probed)
        finally:
            with self._lock:
                self._calls.pop(number, None)
            self._pass_on()

    def close(self, ending: Optional[BaseException] = None) -> None:
        with self._lock:
            if self.ending is None:
                self.ending, self.ended_at = ending or _errors.lost(), time.monotonic()
            hang_up(self._socket)
            for call in self._calls.values():
                call.wake()

    def _send(self, line: bytes, call: _Call) -> None:
        with self._sending:
            try:
                if send(self._socket, line, time.monotonic() + 2.5 * self._patience):
                    return
                self.close(_errors.silent())
            except (OSError, ValueError):
                # A broker that refused the connection may have sent the reason before it hung up.
                call.sent = False
            except BaseException:
                self.close()
                raise

    def _wait(self, call: _Call, probed: bool) -> Message:
        while True:
            with self._lock:
                if call.answer is not None:
                    return call.answer
                if self.ending is not None:
                    raise self.ending if call.sent else unsent(self.ending)
                turn = None if not self._reading else threading.Event()
                self._reading, call.turn = True, turn
            if turn is not None:
                turn.wait()
                continue
            try:
                self._read_until(call, probed)
            finally:
                self._reading = False

    def _read_until(self, call: _Call, probed: bool) -> None:
        while call.answer is None and self.ending is None:
            if not self._wait_for_bytes(probed):
                return
            try:
                data = self._socket.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                return self.close()
            try:
                messages = self._lines.append(data)
            except _errors.BrokerError as error:
                return self.close(error)
            for message in messages:
                self._deliver(message)

    def _wait_for_bytes(self, probed: bool) -> bool:
        patience = self._patience if probed else 1.5 * self._patience
        while self.ending is None:
            try:
                if wait(self._socket, select.POLLIN, time.monotonic() + patience):
                    return True
            except (OSError, ValueError):
                self.close()
            else:
                if not probed or not answers(self._path, self._patience):
                    self.close(_errors.silent())
        return False

    def _deliver(self, message: Message) -> None:
        if "method" in message:
            if self._notified is not None:
                self._notified(message)
            return
        number = message.get("id")
        if number is None and "error" in message:
            return self.close(_errors.answered(message["error"]))
        with self._lock:
            call = self._calls.get(number) if isinstance(number, int) else None
            if call is not None:
                call.answer = message
                call.wake()

    def _pass_on(self) -> None:
        """Wakes the next waiting caller, if none reads."""
        with self._lock:
            if self._reading or not self._calls:
                return
            waiting = next((call for call in self._calls.values() if call.answer is None), None)
            if waiting is not None:
                waiting.wake()


def answers(path: str, patience: float) -> bool:
    """Whether the broker answers on a second connection: anything but silence counts."""
    try:
        link = Link(path, patience)
    except _errors.BrokerError as error:
        return not error.retryable or isinstance(error.__cause__, NotRunning)
    try:
        link.ask(Request("broker.status", {}), probed=False)
    except _errors.BrokerError as error:
        return error.kind != "brokerNotAvailable"
    except Unsent:
        return True
    finally:
        link.close()
    return True
