"""The broker, for threads."""
from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Union

from . import _errors, _requests
from ._browser import open_page
from ._link import Link, Message, Unsent
from ._requests import AccountName, App, Request
from ._retry import PAUSE, Attempts, tells_of_stop
from ._socket import resolve
from ._values import Account, Token
from ._watch import Watch


class Broker:
    """A connection to the broker. Any number of threads may share it; it survives a fork and a restart of the broker.

    `socket` is the path of the broker's socket, unless `BROKER_SOCKET` or `XDG_RUNTIME_DIR` locate it. If nothing
    arrives for `patience` seconds, a second connection checks whether the broker answers.
    """

    def __init__(self, socket: Union[str, os.PathLike[str], None] = None, *, patience: float = 10.0) -> None:
        self._path = resolve(socket)
        self._patience = patience
        self._link: Optional[Link] = None
        self._left_at: Optional[float] = None
        self._renew()

    def acquire_token_silent(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None, force_refresh: bool = False,
        minimum_lifetime: Optional[int] = None, rejected_token: Optional[str] = None, claims: Optional[str] = None,
        challenge: Optional[str] = None, token_type: str = "Bearer", resources: Optional[Iterable[str]] = None,
        authority: Optional[str] = None,
    ) -> Token:
        """A token from the broker's cache or by a refresh, without a prompt.

        `rejected_token` is one that a server refused, `challenge` the `WWW-Authenticate` header that it came with.
        `authority` replaces the app's for this request only, such as a tenant where the person is a guest.
        A broker that does not know `challenge` refuses it (`invalidParameter`).
        """
        params = _requests.silent_params(
            app, scopes, account, force_refresh, minimum_lifetime, rejected_token, claims, challenge, token_type,
            resources, authority)
        return self._token(Request("token.acquireSilent", params, idempotent=True))

    def acquire_token_interactive(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None, claims: Optional[str] = None,
        challenge: Optional[str] = None, token_type: str = "Bearer", resources: Optional[Iterable[str]] = None,
        login_hint: Optional[str] = None, domain_hint: Optional[str] = None, prompt: Optional[str] = None,
        extra_scopes_to_consent: Optional[List[str]] = None,
        extra_query_parameters: Optional[Mapping[str, str]] = None, timeout: Optional[int] = None,
        open_url: Callable[[str], None] = open_page,
    ) -> Token:
        """A token after the person has signed in in the browser, which `open_url` opens."""
        params = _requests.interactive_params(
            app, scopes, account, claims, challenge, token_type, resources, loginHint=login_hint,
            domainHint=domain_hint, prompt=prompt, extraScopesToConsent=extra_scopes_to_consent,
            extraQueryParameters=extra_query_parameters, timeout=timeout)
        return self._sign_in(Request("token.acquireInteractive", params), open_url)

    def accounts(self, app: Optional[App] = None) -> List[Account]:
        """The accounts of an app's group, or all of the person's."""
        params = {} if app is None else _requests.app_params(app)
        result = self.call(Request("accounts.list", params, idempotent=True))
        return [Account.read(account) for account in result["accounts"]]

    def remove_account(self, account: AccountName, app: App) -> None:
        """Removes an account's tokens from one app."""
        params = {"account": _requests.account_params(account), **_requests.app_params(app)}
        self.call(Request("accounts.remove", params))

    def proof(
        self, app: App, token: Token, method: str, url: str, *, nonce: Optional[str] = None
    ) -> str:
        """The `DPoP` header for one request with a token of type DPoP."""
        params = _requests.proof_params(app, token.account, method, url, token.access_token, nonce)
        return str(self.call(Request("token.proof", params, idempotent=True))["proof"])

    def watch(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None,
        minimum_lifetime: Optional[int] = None, claims: Optional[str] = None, challenge: Optional[str] = None,
        token_type: str = "Bearer", resources: Optional[Iterable[str]] = None,
    ) -> Iterator[Token]:
        """A token, and each next one before the last expires; ends by raising the reason.

        It needs a broker with the method `token.watch`; one without it gives a `BrokerError` of kind `unsupported`.
        The iterator has a connection of its own, which its `close` ends.
        """
        params = _requests.silent_params(
            app, scopes, account, False, minimum_lifetime, None, claims, challenge, token_type, resources)
        return Watch(self._path, self._patience, Request("token.watch", params)).tokens()

    def call(self, request: Request) -> Any:
        """The result of any method of the protocol."""
        attempts = Attempts(request)
        while True:
            try:
                link = self._connected(attempts)
                message = link.ask(request)
            except Unsent:
                attempts.unsent()
            except _errors.BrokerError as error:
                attempts.failed(error)
            else:
                if tells_of_stop(message):
                    self._leave(link)
                if (result := attempts.result(message)) is not None:
                    return result
            time.sleep(PAUSE)

    def close(self) -> None:
        """Ends the connection; the next request opens another."""
        if self._link is not None:
            self._link.close()

    def _token(self, request: Request) -> Token:
        return Token.read(self.call(request))

    def _connected(self, attempts: Attempts) -> Link:
        # After a fork the locks may be held by threads that do not exist here.
        if self._process != os.getpid():
            self._renew()
        link = self._link
        if link is not None and link.ending is None:
            return link
        if (lost_at := link.ended_at if link is not None else self._left_at) is not None:
            attempts.begin(lost_at)
        with self._lock:
            link = self._link
            if link is None or link.ending is not None:
                link = self._link = Link(self._path, self._patience)
            return link

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._link = None
        self._process = os.getpid()

    def _leave(self, link: Link) -> None:
        with self._lock:
            if self._link is link:
                self._link, self._left_at = None, time.monotonic()

    def _sign_in(self, request: Request, open_url: Callable[[str], None]) -> Token:
        """Uses a separate connection, whose end cancels the sign-in."""
        def show(url: str) -> None:
            try:
                open_url(url)
            except BaseException as error:
                link.close(error)

        def notified(message: Message) -> None:
            if message["method"] == "interaction.open":
                # A browser may stay in the foreground until it is closed.
                threading.Thread(target=show, args=(message["params"]["url"],), daemon=True).start()

        link = Link(self._path, self._patience, notified)
        try:
            message = link.ask(request)
        except Unsent:
            raise _errors.lost() from None
        finally:
            link.close()
        if "error" in message:
            raise _errors.answered(message["error"])
        return Token.read(message["result"])
