"""The requirements in a server's refusal, beyond another token."""
from __future__ import annotations

from typing import Any, Mapping, Optional

from ._errors import BrokerError
from ._values import Token


def unknown_challenge(error: BrokerError) -> bool:
    """Whether the broker does not support challenges; the request is then repeated without one."""
    return error.kind == "invalidParameter" and error.details.get("field") == "challenge"


def only_proof_refused(challenge: Optional[str], nonce: Optional[str]) -> bool:
    """Whether the token will do with another proof: with the server's nonce, or for the URL after a redirect."""
    if challenge is None:
        return False
    return "invalid_dpop_proof" in challenge or (nonce is not None and "use_dpop_nonce" in challenge)


def carries(headers: Mapping[str, Any], token: Token) -> bool:
    """Whether the refused request had the token. A redirect to another host removes it; the refusal is then not of the token."""
    return bool(headers.get("Authorization") == token.authorization_header)
