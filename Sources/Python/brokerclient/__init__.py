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
    from . import aio as aio
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
    # Only its users pay for the import of `asyncio`.
    if name == "aio":
        import importlib
        return importlib.import_module(".aio", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
