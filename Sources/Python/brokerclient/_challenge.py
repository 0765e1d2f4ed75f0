"""The requirements in a server's refusal, beyond another token."""
from __future__ import annotations

from typing import Any, Mapping, Optional

from ._errors import BrokerError
from ._values import Token


def unknown_challenge(error: BrokerError) -> bool:
    """Whether the broker does not support challenges; the request is then repeated without one."""
    return error.kind == "invalidParameter" and error.details.get("field") == "challenge"


def nonce_wanted(challenge: Optional[str], nonce: Optional[str]) -> bool:
    """Whether the token was valid, and only the proof lacks the server's nonce."""
    return nonce is not None and challenge is not None and "use_dpop_nonce" in challenge


def carries(headers: Mapping[str, Any], token: Token) -> bool:
    """Whether the refused request had the token. A redirect to another host removes it; the refusal is then not of the token."""
    return bool(headers.get("Authorization") == token.authorization_header)
