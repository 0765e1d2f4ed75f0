"""Tokens for Google's libraries: `Credentials(app="cloud", scopes=[…])` in place of `google.auth.default()`."""
from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Iterable, Optional

import google.auth.credentials
from google.auth.exceptions import RefreshError, TransportError

from ._broker import Broker
from ._errors import BrokerError, BrokerUnavailable
from ._requests import AccountName, App

__all__ = ["Credentials"]


class Credentials(google.auth.credentials.Credentials):
    """Raises `RefreshError`, or `TransportError` if no broker answers; `__cause__` is the `BrokerError`."""

    def __init__(
        self, app: App, scopes: Iterable[str], *, account: Optional[AccountName] = None,
        broker: Optional[Broker] = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._app, self._scopes_asked, self._account = app, list(scopes), account
        self._broker = broker or Broker()

    def before_request(self, request: Any, method: Any, url: Any, headers: Any) -> None:
        # The inherited method calls refresh for a token near its end, which no server has refused.
        if not self.valid:
            self._acquire()
        self.apply(headers)  # type: ignore[no-untyped-call]

    def refresh(self, request: Any) -> None:
        # Google's libraries call this after a server refused the token, at whatever age.
        self._acquire(rejected=self.token)

    def _acquire(self, rejected: Optional[str] = None) -> None:
        try:
            token = self._broker.acquire_token_silent(
                self._app, self._scopes_asked, account=self._account, rejected_token=rejected)
        except BrokerUnavailable as error:
            raise TransportError(str(error)) from error  # type: ignore[no-untyped-call]
        except BrokerError as error:
            raise RefreshError(str(error), retryable=error.retryable) from error  # type: ignore[no-untyped-call]
        self.token = token.access_token
        # google.auth compares times without a time zone.
        self.expiry = datetime.fromtimestamp(token.expires_on, timezone.utc).replace(tzinfo=None)
