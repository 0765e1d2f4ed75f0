"""The requests and errors of both credentials."""
from __future__ import annotations

from typing import Optional

from azure.core.credentials import AccessToken, AccessTokenInfo, TokenRequestOptions
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import CredentialUnavailableError

from .._errors import BrokerError, BrokerUnavailable
from .._values import Token


def claims_of(options: Optional[TokenRequestOptions]) -> Optional[str]:
    return options.get("claims") if options else None


def access_token(token: Token) -> AccessToken:
    return AccessToken(token.access_token, token.expires_on)


def token_info(token: Token) -> AccessTokenInfo:
    return AccessTokenInfo(token.access_token, token.expires_on, token_type=token.token_type)


def azure_error(error: BrokerError) -> ClientAuthenticationError:
    """A chain of credentials continues with the next one if there is no broker, but not if a sign-in is needed."""
    if isinstance(error, BrokerUnavailable):
        return CredentialUnavailableError(message=str(error))
    return ClientAuthenticationError(message=str(error))
