"""`PublicClientApplication` in the shape of MSAL for Python, with the broker behind it. MSAL itself is not needed."""
from __future__ import annotations

import time
from typing import Any, Dict, Iterable, List, Optional, Union

from ._broker import Broker
from ._errors import BrokerError, InteractionRequired
from ._requests import Client
from ._values import Account, Token

__all__ = ["PublicClientApplication"]

_RESERVED = {"openid", "profile", "offline_access"}
Answer = Dict[str, Any]


class PublicClientApplication:
    """`app` names the app's registration; without it the client id is used as it is. Other options of MSAL are ignored."""

    CONSOLE_WINDOW_HANDLE = object()

    def __init__(
        self, client_id: str, authority: Optional[str] = None, *, app: Optional[str] = None,
        broker: Optional[Broker] = None, **ignored: Any,
    ) -> None:
        self.client_id = client_id
        self._app: Union[str, Client] = app or Client(
            client_id, authority or "https://login.microsoftonline.com/common")
        self._broker = broker or Broker()

    def get_accounts(self, username: Optional[str] = None) -> List[Answer]:
        accounts = [account for account in self._broker.accounts(self._app) if account.signed_in]
        wanted = username.lower() if username else None
        return [shown(account) for account in accounts if wanted in (None, account.username.lower())]

    def acquire_token_silent(
        self, scopes: List[str], account: Optional[Answer], authority: Optional[str] = None,
        force_refresh: bool = False, claims_challenge: Optional[str] = None, **ignored: Any,
    ) -> Optional[Answer]:
        """None if there is no token; `acquire_token_silent_with_error` gives the reason."""
        answer = self.acquire_token_silent_with_error(scopes, account, authority, force_refresh, claims_challenge)
        return answer if answer and "access_token" in answer else None

    def acquire_token_silent_with_error(
        self, scopes: List[str], account: Optional[Answer], authority: Optional[str] = None,
        force_refresh: bool = False, claims_challenge: Optional[str] = None, **ignored: Any,
    ) -> Optional[Answer]:
        if account is None:
            return None
        try:
            return answer(self._broker.acquire_token_silent(
                self._app, allowed(scopes), account=found(account), force_refresh=force_refresh,
                claims=claims_challenge, authority=authority))
        except InteractionRequired as error:
            return None if error.reason in ("noTokens", "signedOut") else failure(error)
        except BrokerError as error:
            return failure(error)

    def acquire_token_interactive(
        self, scopes: List[str], prompt: Optional[str] = None, login_hint: Optional[str] = None,
        domain_hint: Optional[str] = None, claims_challenge: Optional[str] = None, timeout: Optional[int] = None,
        extra_scopes_to_consent: Optional[List[str]] = None, parent_window_handle: Any = None, **ignored: Any,
    ) -> Answer:
        try:
            return answer(self._broker.acquire_token_interactive(
                self._app, allowed(scopes), prompt=prompt, login_hint=login_hint, domain_hint=domain_hint,
                claims=claims_challenge, timeout=timeout, extra_scopes_to_consent=extra_scopes_to_consent))
        except BrokerError as error:
            return failure(error)

    def remove_account(self, account: Answer) -> None:
        self._broker.remove_account(found(account), self._app)


def allowed(scopes: Iterable[str]) -> List[str]:
    if isinstance(scopes, str):
        raise ValueError("The input scopes should be a list, not one string")
    if reserved := _RESERVED.intersection(scopes):
        raise ValueError(f"{', '.join(sorted(reserved))}: the library asks for these by itself")
    return list(scopes)


def shown(account: Account) -> Answer:
    return {
        "home_account_id": account.home_account_id, "environment": account.environment, "username": account.username,
        "local_account_id": account.id, "realm": account.tenant_id, "account_source": "broker",
    }


def found(account: Answer) -> Account:
    return Account(account["local_account_id"], account["username"])


def answer(token: Token) -> Answer:
    result: Answer = {
        "access_token": token.access_token, "token_type": token.token_type,
        "expires_in": max(0, token.expires_on - int(time.time())), "scope": " ".join(token.scopes),
        "token_source": "cache" if token.from_cache else "identity_provider",
    }
    if token.id_token is not None and token.account is not None:
        result.update(id_token=token.id_token, id_token_claims=dict(token.account.claims))
    return result


def failure(error: BrokerError) -> Answer:
    """An error in MSAL's format: the provider's error if there is one, otherwise the broker's kind."""
    needs_person = "interaction_required" if isinstance(error, InteractionRequired) else error.kind
    return {
        "error": error.details.get("oauthError", needs_person), "error_description": str(error),
        "suberror": error.details.get("subError"), "correlation_id": error.correlation_id,
    }
