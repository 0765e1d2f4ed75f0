"""Access tokens from the token broker: sign in once, and every program of the group has tokens.

    from brokerclient import Broker
    token = Broker().acquire_token_silent("work", ["api"])
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import AccessDenied, BrokerError, BrokerUnavailable, InteractionRequired
from ._requests import Client
from ._values import Account, Token

if TYPE_CHECKING:
    from ._broker import Broker as Broker

__all__ = [
    "AccessDenied", "Account", "Broker", "BrokerError", "BrokerUnavailable", "Client", "InteractionRequired", "Token",
]


def __getattr__(name: str) -> Any:
    # `socket` is imported with the first Broker, not with the package.
    if name == "Broker":
        from ._broker import Broker
        globals()["Broker"] = Broker
        return Broker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
