"""One connection of an event loop: one task reads and passes each answer to its caller."""
from __future__ import annotations

import asyncio
import itertools
import os
from typing import Callable, Dict, Optional

from . import _errors
from ._lines import Assembler
from ._link import Message, Unsent, unsent
from ._requests import Request
from ._socket import NotRunning, connect, shut_down


class Link:
    """The loop keeps it through the reader, which alone closes the socket. Others shut the connection down."""

    def __init__(
        self, path: str, patience: float, notified: Optional[Callable[[Message], None]] = None,
        ended: Optional[Callable[[], None]] = None,
    ) -> None:
        self._path, self._patience, self._notified, self.ended = path, patience, notified, ended
        self._numbers = itertools.count(1)
        self._calls: Dict[int, asyncio.Future[Message]] = {}
        self.loop = asyncio.get_running_loop()
        self.process = os.getpid()
        self.ending: Optional[BaseException] = None

    async def open(self) -> Link:
        self._socket = await self.loop.run_in_executor(None, connect, self._path, self._patience)
        self._sending = asyncio.Lock()
        self._reader = self.loop.create_task(self._read())
        return self

    async def ask(self, request: Request, probed: bool = True) -> Message:
        number = next(self._numbers)
        line = request.line(number)
        if self.ending is not None:
            raise unsent(self.ending)
        sent = True
        answer: asyncio.Future[Message] = self.loop.create_future()
        self._calls[number] = answer
        try:
            sent = await self._send(line)
            while True:
                silence = self._patience if probed else 1.5 * self._patience
                done, _ = await asyncio.wait([answer], timeout=silence)
                if done and not sent and self.ending is not None:
                    raise unsent(self.ending)
                if done:
                    return answer.result()
                if not probed or not await answers(self._path, self._patience):
                    self.close(_errors.silent())
        finally:
            del self._calls[number]
            if answer.done() and not answer.cancelled():
                answer.exception()

    def close(self, ending: Optional[BaseException] = None) -> None:
        if self.ending is not None:
            return
        self.ending = ending or _errors.lost()
        shut_down(self._socket)
        if self.ended is not None:
            self.ended()
        if self.loop.is_closed():
            return
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(self.ending)

    async def closed(self) -> None:
        """Waits until the reader has closed the socket."""
        await asyncio.wait([self._reader])

    def hang_up(self) -> None:
        """Ends the connection from any thread, and after the loop has been closed."""
        shut_down(self._socket)
        if self.loop.is_closed():
            self._socket.close()

    async def _send(self, line: bytes) -> bool:
        async with self._sending:
            overdue = _errors.silent()
            # Before Python 3.12, asyncio.wait_for swallows a cancellation that comes just after the end of the sending.
            timer = self.loop.call_later(2.5 * self._patience, self.close, overdue)
            try:
                await self.loop.sock_sendall(self._socket, line)
            except (OSError, ValueError):
                # A broker that refused the connection may have sent the reason before it hung up.
                return self.ending is overdue
            except asyncio.CancelledError:
                # Part of a line may have been sent.
                self.close()
                raise
            finally:
                timer.cancel()
            return True

    async def _read(self) -> None:
        lines = Assembler()
        try:
            while (data := await self.loop.sock_recv(self._socket, 1 << 16)) and self.ending is None:
                for message in lines.append(data):
                    self._deliver(message)
        except OSError:
            pass
        except _errors.BrokerError as error:
            self.close(error)
        finally:
            self.close()
            self._socket.close()

    def _deliver(self, message: Message) -> None:
        if "method" in message:
            if self._notified is not None:
                self._notified(message)
            return
        number = message.get("id")
        if number is None and "error" in message:
            raise _errors.answered(message["error"])
        answer = self._calls.get(number) if isinstance(number, int) else None
        if answer is not None and not answer.done():
            answer.set_result(message)


async def answers(path: str, patience: float) -> bool:
    """Whether the broker answers on a second connection: anything but silence counts."""
    try:
        link = await Link(path, patience).open()
    except _errors.BrokerError as error:
        return not error.retryable or isinstance(error.__cause__, NotRunning)
    try:
        await link.ask(Request("broker.status", {}), probed=False)
    except _errors.BrokerError as error:
        return error.kind != "brokerNotAvailable"
    except Unsent:
        return True
    finally:
        link.close()
    return True
