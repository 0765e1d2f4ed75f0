"""What a server's refusal asks for, beyond another token."""
from __future__ import annotations

from typing import Optional

from ._errors import BrokerError


def unknown_challenge(error: BrokerError) -> bool:
    """Whether the broker is one that does not read challenges; it is asked again without."""
    return error.kind == "invalidParameter" and error.details.get("field") == "challenge"


def nonce_wanted(challenge: Optional[str], nonce: Optional[str]) -> bool:
    """Whether the token was right, and only the proof has to have the server's nonce."""
    return nonce is not None and challenge is not None and "use_dpop_nonce" in challenge
