"""Like `brokerclient.azure`, for the libraries' asyncio variants."""
from __future__ import annotations

from typing import Any, Optional

from azure.core.credentials import AccessToken, AccessTokenInfo, TokenRequestOptions

from .._errors import BrokerError
from .._requests import AccountName, App
from .._values import Token
from ..aio import Broker
from ._shared import access_token, azure_error, claims_of, token_info

__all__ = ["BrokerCredential"]


class BrokerCredential:
    """Raises `CredentialUnavailableError` without a broker, otherwise `ClientAuthenticationError`."""

    def __init__(
        self, app: App, *, account: Optional[AccountName] = None, broker: Optional[Broker] = None
    ) -> None:
        self._app, self._account = app, account
        self._broker = broker or Broker()

    async def get_token(
        self, *scopes: str, claims: Optional[str] = None, tenant_id: Optional[str] = None, enable_cae: bool = False,
        **kwargs: Any,
    ) -> AccessToken:
        return access_token(await self._acquire(scopes, {"claims": claims} if claims else None))

    async def get_token_info(self, *scopes: str, options: Optional[TokenRequestOptions] = None) -> AccessTokenInfo:
        return token_info(await self._acquire(scopes, options))

    async def close(self) -> None:
        await self._broker.close()

    async def __aenter__(self) -> BrokerCredential:
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.close()

    async def _acquire(self, scopes: "tuple[str, ...]", options: Optional[TokenRequestOptions]) -> Token:
        try:
            return await self._broker.acquire_token_silent(
                self._app, scopes, account=self._account, claims=claims_of(options))
        except BrokerError as error:
            raise azure_error(error) from error
