"""Tokens that the broker sends unsolicited."""
from __future__ import annotations

import select
import socket
import time
from collections import deque
from typing import Deque, Iterator, Optional

from . import _errors
from ._lines import Assembler, send, wait
from ._link import Message, answers
from ._requests import Request
from ._retry import PAUSE, Attempts
from ._socket import connect, hang_up
from ._values import Token


class Watch:
    """One `token.watch` on a separate connection; it is repeated after a restart of the broker."""

    def __init__(self, path: str, patience: float, request: Request) -> None:
        self._path, self._patience, self._request = path, patience, request

    def tokens(self) -> Iterator[Token]:
        attempts = Attempts(Request(self._request.method, {}, idempotent=True))
        while True:
            try:
                for token in self._one_connection():
                    attempts = Attempts(Request(self._request.method, {}, idempotent=True))
                    yield token
            except _errors.BrokerError as error:
                attempts.failed(error)
                time.sleep(PAUSE)

    def _one_connection(self) -> Iterator[Token]:
        connection = connect(self._path, self._patience)
        try:
            try:
                if not send(connection, self._request.line(1), time.monotonic() + self._patience):
                    raise _errors.silent()
            except OSError:
                raise _errors.lost() from None
            lines, messages = Assembler(), deque[Message]()
            is_answered = False
            while True:
                while messages:
                    message = messages.popleft()
                    is_answered = is_answered or "method" not in message
                    if (token := read(message)) is not None:
                        yield token
                self._receive(connection, lines, messages, is_answered)
        finally:
            hang_up(connection)

    def _receive(
        self, connection: socket.socket, lines: Assembler, messages: Deque[Message], is_answered: bool
    ) -> None:
        try:
            data = connection.recv(1 << 16)
        except BlockingIOError:
            # The next token may take hours; silence before the answer may mean that the broker hangs.
            until = None if is_answered else time.monotonic() + self._patience
            if not wait(connection, select.POLLIN, until) and not answers(self._path, self._patience):
                raise _errors.silent() from None
            return
        except OSError:
            data = b""
        if not data:
            raise _errors.lost()
        messages.extend(lines.append(data))


def read(message: Message) -> Optional[Token]:
    """The token in a message; raises the error that ends the watch."""
    if "error" in message:
        raise _errors.answered(message["error"])
    if "result" in message:
        return Token.read(message["result"])
    if message.get("method") == "event.tokenChanged":
        return Token.read(message["params"]["token"])
    if message.get("method") == "event.tokenEnded":
        raise _errors.answered(message["params"]["error"])
    return None
