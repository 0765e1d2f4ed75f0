"""Tokens for Azure's libraries: `BrokerCredential(app="work")` is a `TokenCredential`."""
from __future__ import annotations

from typing import Any, Optional

from azure.core.credentials import AccessToken, AccessTokenInfo, TokenRequestOptions

from .._broker import Broker
from .._errors import BrokerError
from .._requests import AccountName, App
from .._values import Token
from ._shared import access_token, azure_error, claims_of, token_info

__all__ = ["BrokerCredential"]


class BrokerCredential:
    """Raises `CredentialUnavailableError` without a broker, otherwise `ClientAuthenticationError`.

    The tenant is that of the app's registration; `tenant_id` and `enable_cae` are accepted and ignored.
    """

    def __init__(
        self, app: App, *, account: Optional[AccountName] = None, broker: Optional[Broker] = None
    ) -> None:
        self._app, self._account = app, account
        self._broker = broker or Broker()

    def get_token(
        self, *scopes: str, claims: Optional[str] = None, tenant_id: Optional[str] = None, enable_cae: bool = False,
        **kwargs: Any,
    ) -> AccessToken:
        return access_token(self._acquire(scopes, {"claims": claims} if claims else None))

    def get_token_info(self, *scopes: str, options: Optional[TokenRequestOptions] = None) -> AccessTokenInfo:
        return token_info(self._acquire(scopes, options))

    def close(self) -> None:
        self._broker.close()

    def __enter__(self) -> BrokerCredential:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _acquire(self, scopes: "tuple[str, ...]", options: Optional[TokenRequestOptions]) -> Token:
        try:
            return self._broker.acquire_token_silent(
                self._app, scopes, account=self._account, claims=claims_of(options))
        except BrokerError as error:
            raise azure_error(error) from error
