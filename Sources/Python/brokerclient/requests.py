"""Tokens for `requests`: `requests.get(url, auth=BrokerAuth(app="work", scopes=["api"]))`."""
from __future__ import annotations

from typing import Any, Iterable, Optional

from requests import PreparedRequest, RequestException, Response
from requests.auth import AuthBase

from ._body import position_of, rewound
from ._broker import Broker
from ._challenge import carries, only_proof_refused, unknown_challenge
from ._errors import BrokerError
from ._requests import AccountName, App
from ._values import Token

__all__ = ["BrokerAuth"]


class BrokerAuth(AuthBase):
    """Sets the header of each request, and repeats a refused one once with another token.

    A body that cannot be rewound, such as a generator or a pipe, is sent once: the caller gets the refusal.
    Without a token it raises `requests.RequestException`, whose `__cause__` is the `BrokerError`.
    """

    def __init__(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None, token_type: str = "Bearer",
        broker: Optional[Broker] = None,
    ) -> None:
        self._app, self._scopes, self._account, self._token_type = app, list(scopes), account, token_type
        self._broker = broker or Broker()

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        token = self._acquire(request)
        self._authorize(request, token)
        position = position_of(request.body)

        def refused(response: Response, **options: Any) -> Response:
            if response.status_code != 401 or not carries(response.request.headers, token):
                return response
            return self._again(response, token, position, options)

        request.register_hook("response", refused)  # type: ignore[no-untyped-call,unused-ignore]
        return request

    def _again(self, response: Response, token: Token, position: Optional[int], options: Any) -> Response:
        challenge, nonce = response.headers.get("WWW-Authenticate"), response.headers.get("DPoP-Nonce")
        request = response.request.copy()
        if not only_proof_refused(challenge, nonce):
            token = self._acquire(request, token.access_token, challenge)
        if not rewound(request.body, position):
            return response
        # The connection is free after the response has been read.
        response.content
        response.close()
        self._authorize(request, token, nonce)
        adapter: Any = response.connection  # type: ignore[attr-defined,unused-ignore]
        again: Response = adapter.send(request, **options)
        again.history.append(response)
        again.request = request
        return again

    def _acquire(
        self, request: PreparedRequest, rejected: Optional[str] = None, challenge: Optional[str] = None
    ) -> Token:
        try:
            return self._broker.acquire_token_silent(
                self._app, self._scopes, account=self._account, rejected_token=rejected, challenge=challenge,
                token_type=self._token_type)
        except BrokerError as error:
            if challenge is not None and unknown_challenge(error):
                return self._acquire(request, rejected)
            raise RequestException(str(error), request=request) from error

    def _authorize(self, request: PreparedRequest, token: Token, nonce: Optional[str] = None) -> None:
        request.headers["Authorization"] = token.authorization_header
        if token.token_type != "DPoP":
            return
        try:
            request.headers["DPoP"] = self._broker.proof(
                self._app, token, request.method or "GET", request.url or "", nonce=nonce)
        except BrokerError as error:
            raise RequestException(str(error), request=request) from error
