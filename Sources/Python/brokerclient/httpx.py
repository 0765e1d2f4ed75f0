"""Tokens for `httpx`, both of its clients: `httpx.Client(auth=BrokerAuth(app="work", scopes=["api"]))`."""
from __future__ import annotations

from typing import Any, AsyncGenerator, Dict, Generator, Iterable, Optional

import httpx

from . import aio
from ._body import rewound
from ._broker import Broker
from ._challenge import carries, only_proof_refused, unknown_challenge
from ._errors import BrokerError
from ._requests import AccountName, App
from ._values import Token

__all__ = ["BrokerAuth"]


class BrokerAuth(httpx.Auth):
    """Sets the header of each request, and repeats a refused one once with another token.

    A body that httpx reads from a stream or a file is sent once: the caller gets the refusal. Forms are repeated.
    Without a token it raises `httpx.RequestError`, whose `__cause__` is the `BrokerError`.
    """

    def __init__(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None, token_type: str = "Bearer",
        broker: Optional[Broker] = None, async_broker: Optional[aio.Broker] = None,
    ) -> None:
        self._app, self._scopes = app, list(scopes)
        self._options: Dict[str, Any] = {"account": account, "token_type": token_type}
        self._broker = broker or Broker()
        self._async_broker = async_broker or aio.Broker()

    def close(self) -> None:
        """Ends the connection of synchronous clients."""
        self._broker.close()

    async def aclose(self) -> None:
        """Ends the connections of synchronous and of asyncio clients."""
        self._broker.close()
        await self._async_broker.close()

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        try:
            token = self._acquire()
            self._authorize(request, token)
            response = yield request
            # After a redirect, only the last request was refused.
            request = response.request
            if response.status_code != 401 or not carries(request.headers, token):
                return
            challenge, nonce = header(response, "WWW-Authenticate"), header(response, "DPoP-Nonce")
            if not only_proof_refused(challenge, nonce):
                token = self._acquire(token.access_token, challenge)
            if not repeatable(request):
                return
            self._authorize(request, token, nonce)
        except BrokerError as error:
            raise httpx.RequestError(str(error), request=request) from error
        yield request

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        try:
            token = await self._acquire_async()
            await self._authorize_async(request, token)
            response = yield request
            # After a redirect, only the last request was refused.
            request = response.request
            if response.status_code != 401 or not carries(request.headers, token):
                return
            challenge, nonce = header(response, "WWW-Authenticate"), header(response, "DPoP-Nonce")
            if not only_proof_refused(challenge, nonce):
                token = await self._acquire_async(token.access_token, challenge)
            if not repeatable(request):
                return
            await self._authorize_async(request, token, nonce)
        except BrokerError as error:
            raise httpx.RequestError(str(error), request=request) from error
        yield request

    def _acquire(self, rejected: Optional[str] = None, challenge: Optional[str] = None) -> Token:
        try:
            return self._broker.acquire_token_silent(
                self._app, self._scopes, rejected_token=rejected, challenge=challenge, **self._options)
        except BrokerError as error:
            if challenge is None or not unknown_challenge(error):
                raise
        return self._acquire(rejected)

    async def _acquire_async(self, rejected: Optional[str] = None, challenge: Optional[str] = None) -> Token:
        try:
            return await self._async_broker.acquire_token_silent(
                self._app, self._scopes, rejected_token=rejected, challenge=challenge, **self._options)
        except BrokerError as error:
            if challenge is None or not unknown_challenge(error):
                raise
        return await self._acquire_async(rejected)

    def _authorize(self, request: httpx.Request, token: Token, nonce: Optional[str] = None) -> None:
        request.headers["Authorization"] = token.authorization_header
        if token.token_type == "DPoP":
            request.headers["DPoP"] = self._broker.proof(
                self._app, token, request.method, str(request.url), nonce=nonce)

    async def _authorize_async(self, request: httpx.Request, token: Token, nonce: Optional[str] = None) -> None:
        request.headers["Authorization"] = token.authorization_header
        if token.token_type == "DPoP":
            request.headers["DPoP"] = await self._async_broker.proof(
                self._app, token, request.method, str(request.url), nonce=nonce)


def header(response: httpx.Response, name: str) -> Optional[str]:
    value: Optional[str] = response.headers.get(name)
    return value


def repeatable(request: httpx.Request) -> bool:
    """Whether the body can be sent again: it is in memory, or a form, which httpx reads from the start."""
    if isinstance(request.stream, httpx.ByteStream):
        return True
    fields = getattr(request.stream, "fields", None)
    return fields is not None and all(rewound(getattr(field, "file", None), 0) for field in fields)
