"""Methods and their params on the wire."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Mapping, Optional, Union

from ._errors import BrokerError
from ._values import Account

LONGEST = 1 << 20


@dataclass(frozen=True)
class Client:
    """An app that is not registered with the broker: a client id at a provider."""

    client_id: str
    authority: str


App = Union[str, Client]
AccountName = Union[str, Account]


@dataclass(frozen=True)
class Request:
    method: str
    params: Mapping[str, Any]
    # May be sent again when the answer was lost.
    idempotent: bool = False

    def line(self, number: int) -> bytes:
        text = json.dumps({"jsonrpc": "2.0", "id": number, "method": self.method, "params": self.params})
        if len(text) >= LONGEST:
            raise BrokerError("invalidParameter", "The request is longer than 1 MiB; ask for less at a time.")
        return text.encode() + b"\n"


def app_params(app: App) -> Dict[str, Any]:
    if isinstance(app, Client):
        return {"clientId": app.client_id, "authority": app.authority}
    return {"app": app}


def account_params(account: AccountName) -> Dict[str, str]:
    return {"id": account.id} if isinstance(account, Account) else {"username": account}


def silent_params(
    app: App, scopes: Iterable[str], account: Optional[AccountName], force_refresh: bool,
    minimum_lifetime: Optional[int], rejected_token: Optional[str], claims: Optional[str], challenge: Optional[str],
    token_type: str, resources: Optional[Iterable[str]], authority: Optional[str] = None,
) -> Dict[str, Any]:
    params = token_params(app, scopes, account, claims, challenge, token_type, resources)
    if authority is not None:
        # With a client id, it replaces the app's own.
        params["authority"] = authority
    if force_refresh:
        params["forceRefresh"] = True
    if minimum_lifetime is not None:
        params["minimumLifetime"] = int(minimum_lifetime)
    if rejected_token is not None:
        params["rejectedToken"] = rejected_token
    return params


def interactive_params(
    app: App, scopes: Iterable[str], account: Optional[AccountName], claims: Optional[str], challenge: Optional[str],
    token_type: str, resources: Optional[Iterable[str]], **more: Any,
) -> Dict[str, Any]:
    params = token_params(app, scopes, account, claims, challenge, token_type, resources)
    params.update((name, value) for name, value in more.items() if value is not None)
    params["presentation"] = "client"
    return params


def token_params(
    app: App, scopes: Iterable[str], account: Optional[AccountName], claims: Optional[str], challenge: Optional[str],
    token_type: str, resources: Optional[Iterable[str]],
) -> Dict[str, Any]:
    if isinstance(scopes, str):
        raise TypeError("scopes is a list of strings, not one string")
    params = app_params(app)
    params["scopes"] = list(scopes)
    if account is not None:
        params["account"] = account_params(account)
    if claims is not None:
        params["claims"] = claims
    if challenge is not None:
        params["challenge"] = challenge
    if token_type != "Bearer":
        params["tokenType"] = token_type
    if resources is not None:
        params["resource"] = list(resources)
    return params


def proof_params(app: App, account: Optional[AccountName], method: str, url: str, access_token: str, nonce: Optional[str],
                 ) -> Dict[str, Any]:
    params = app_params(app)
    params.update(tokenType="DPoP", httpMethod=method, url=url, accessToken=access_token)
    if account is not None:
        params["account"] = account_params(account)
    if nonce is not None:
        params["nonce"] = nonce
    return params
