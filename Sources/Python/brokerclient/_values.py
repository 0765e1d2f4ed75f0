"""The broker's results. Unknown members are ignored."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional


@dataclass(frozen=True)
class Account:
    """A signed-in person at one provider."""

    id: str
    username: str
    name: Optional[str] = None
    environment: Optional[str] = None
    tenant_id: Optional[str] = None
    home_account_id: Optional[str] = None
    authority: Optional[str] = None
    signed_in: bool = True
    claims: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Account:
        return cls(
            value["id"], value["username"], value.get("name"), value.get("environment"), value.get("tenantId"),
            value.get("homeAccountId"), value.get("authority"), value.get("signedIn", True), value.get("claims", {}))


@dataclass(frozen=True)
class Token:
    """An access token. Its `repr` has no secrets, so it can be logged."""

    access_token: str = field(repr=False)
    token_type: str
    expires_on: int
    scopes: List[str]
    account: Optional[Account]
    id_token: Optional[str] = field(default=None, repr=False)
    authority: Optional[str] = None
    correlation_id: Optional[str] = None
    from_cache: bool = False
    rejected: bool = False

    @property
    def authorization_header(self) -> str:
        return f"{self.token_type} {self.access_token}"

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Token:
        account = value.get("account")
        return cls(
            value["accessToken"], value["tokenType"], value["expiresOn"], value["scopes"],
            Account.read(account) if account else None, value.get("idToken"), value.get("authority"),
            value.get("correlationId"), value.get("fromCache", False), value.get("rejected", False))
