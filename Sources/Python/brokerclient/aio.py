"""The broker, for asyncio."""
from __future__ import annotations

import asyncio
import os
import threading
import weakref
from typing import Any, AsyncIterator, Callable, Iterable, List, Mapping, Optional, Union

from . import _errors, _requests
from ._aiolink import Link
from ._aiolinks import Links
from ._browser import open_page
from ._link import Message, Unsent
from ._requests import AccountName, App, Request
from ._retry import PAUSE, Attempts, tells_of_stop
from ._socket import resolve
from ._values import Account, Token
from ._watch import read

__all__ = ["Broker"]


class Broker:
    """Like `brokerclient.Broker`, with coroutines. Each event loop gets a connection of its own.

    `close` ends all of them, and so does the end of the `Broker` itself.
    """

    def __init__(self, socket: Union[str, os.PathLike[str], None] = None, *, patience: float = 10.0) -> None:
        self._path = resolve(socket)
        self._patience = patience
        self._links = Links()
        weakref.finalize(self, self._links.hang_up).atexit = False

    async def acquire_token_silent(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None, force_refresh: bool = False,
        minimum_lifetime: Optional[int] = None, rejected_token: Optional[str] = None, claims: Optional[str] = None,
        challenge: Optional[str] = None, token_type: str = "Bearer", resources: Optional[Iterable[str]] = None,
        authority: Optional[str] = None,
    ) -> Token:
        """A token from the broker's cache or by a refresh, without a prompt."""
        params = _requests.silent_params(
            app, scopes, account, force_refresh, minimum_lifetime, rejected_token, claims, challenge, token_type,
            resources, authority)
        return Token.read(await self.call(Request("token.acquireSilent", params, idempotent=True)))

    async def acquire_token_interactive(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None, claims: Optional[str] = None,
        challenge: Optional[str] = None, token_type: str = "Bearer", resources: Optional[Iterable[str]] = None,
        login_hint: Optional[str] = None, domain_hint: Optional[str] = None, prompt: Optional[str] = None,
        extra_scopes_to_consent: Optional[List[str]] = None,
        extra_query_parameters: Optional[Mapping[str, str]] = None, timeout: Optional[int] = None,
        open_url: Callable[[str], None] = open_page,
    ) -> Token:
        """A token after the person has signed in; `open_url` is called in a thread. Cancelling the call cancels the sign-in."""
        params = _requests.interactive_params(
            app, scopes, account, claims, challenge, token_type, resources, loginHint=login_hint,
            domainHint=domain_hint, prompt=prompt, extraScopesToConsent=extra_scopes_to_consent,
            extraQueryParameters=extra_query_parameters, timeout=timeout)
        return await self._sign_in(Request("token.acquireInteractive", params), open_url)

    async def accounts(self, app: Optional[App] = None) -> List[Account]:
        """The accounts of an app's group, or all of the person's."""
        params = {} if app is None else _requests.app_params(app)
        result = await self.call(Request("accounts.list", params, idempotent=True))
        return [Account.read(account) for account in result["accounts"]]

    async def proof(self, app: App, token: Token, method: str, url: str, *, nonce: Optional[str] = None) -> str:
        """The `DPoP` header for one request with a token of type DPoP."""
        params = _requests.proof_params(app, token.account, method, url, token.access_token, nonce)
        return str((await self.call(Request("token.proof", params, idempotent=True)))["proof"])

    async def watch(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None,
        minimum_lifetime: Optional[int] = None, claims: Optional[str] = None, challenge: Optional[str] = None,
        token_type: str = "Bearer", resources: Optional[Iterable[str]] = None,
    ) -> AsyncIterator[Token]:
        """A token, and each next one before the last expires; ends by raising the reason.

        It needs a broker with the method `token.watch`; one without it gives a `BrokerError` of kind `unsupported`.
        """
        params = _requests.silent_params(
            app, scopes, account, False, minimum_lifetime, None, claims, challenge, token_type, resources)
        request = Request("token.watch", params, idempotent=True)
        attempts = Attempts(request)
        while True:
            arrived: asyncio.Queue[Optional[Message]] = asyncio.Queue()
            try:
                link = await Link(
                    self._path, self._patience, arrived.put_nowait, lambda: arrived.put_nowait(None)).open()
                try:
                    first = read(await link.ask(request))
                    attempts = Attempts(request)
                    if first is not None:
                        yield first
                    while (message := await arrived.get()) is not None:
                        if (token := read(message)) is not None:
                            yield token
                    raise link.ending or _errors.lost()
                finally:
                    link.close()
            except Unsent:
                attempts.unsent()
            except _errors.BrokerError as error:
                attempts.failed(error)
            await asyncio.sleep(PAUSE)

    async def call(self, request: Request) -> Any:
        """The result of any method of the protocol."""
        attempts = Attempts(request)
        while True:
            try:
                link = await self._connected(attempts)
                message = await link.ask(request)
            except Unsent:
                attempts.unsent()
            except _errors.BrokerError as error:
                attempts.failed(error)
            else:
                if tells_of_stop(message):
                    self._links.leave(link)
                if (result := attempts.result(message)) is not None:
                    return result
            await asyncio.sleep(PAUSE)

    async def close(self) -> None:
        """Ends the connections of all loops; the next request opens another."""
        await self._links.close()

    async def _connected(self, attempts: Attempts) -> Link:
        if (link := self._links.usable()) is not None:
            return link
        if self._links.lost_at is not None:
            attempts.begin(self._links.lost_at)
        link = await Link(self._path, self._patience).open()
        if (other := self._links.usable()) is not None:
            # Another task connected first.
            link.close()
            return other
        self._links.keep(link)
        return link

    async def _sign_in(self, request: Request, open_url: Callable[[str], None]) -> Token:
        """Uses a separate connection, whose end cancels the sign-in."""
        loop = asyncio.get_running_loop()

        def notified(message: Message) -> None:
            if message["method"] == "interaction.open":
                # Not in the loop's own threads, whose end it would delay: a browser may stay in the foreground until it is closed.
                threading.Thread(target=show, args=(message["params"]["url"],), daemon=True).start()

        def show(url: str) -> None:
            try:
                open_url(url)
            except BaseException as error:
                loop.call_soon_threadsafe(link.close, error)

        link = await Link(self._path, self._patience, notified).open()
        try:
            message = await link.ask(request)
        except Unsent:
            raise _errors.lost() from None
        finally:
            link.close()
        if "error" in message:
            raise _errors.answered(message["error"])
        return Token.read(message["result"])
