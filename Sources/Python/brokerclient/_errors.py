"""Errors, with the broker's messages."""
from __future__ import annotations

from typing import Any, Mapping, Optional


class BrokerError(Exception):
    """The broker's error, or why it could not be reached.

    `kind` is one of the protocol's kinds, or `brokerNotAvailable`, `brokerNotTrusted`, `connectionLost` and
    `browserNotAvailable`, which this library raises. `details` has the other members of the error.
    """

    def __init__(self, kind: str, message: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(kind, message, details)
        self.kind = kind
        self.message = message
        self.details: Mapping[str, Any] = details or {}

    @property
    def reason(self) -> Optional[str]:
        return self.details.get("reason")

    @property
    def retryable(self) -> bool:
        return bool(self.details.get("retryable", False))

    @property
    def correlation_id(self) -> Optional[str]:
        return self.details.get("correlationId")

    def __str__(self) -> str:
        return self.message


class InteractionRequired(BrokerError):
    """A person must sign in or consent."""


class BrokerUnavailable(BrokerError):
    """No broker answers, or the listener is not trusted."""


class AccessDenied(BrokerError):
    """This program may not get the token, or not yet (`grantRequired`)."""


_CLASSES = {
    "interactionRequired": InteractionRequired,
    "accessDenied": AccessDenied,
    "grantRequired": AccessDenied,
}
_CODES = {-32600: "invalidParameter", -32601: "unsupported", -32602: "invalidParameter", -32700: "invalidParameter"}


def answered(error: Mapping[str, Any]) -> BrokerError:
    """The error for an `error` object of JSON-RPC, or for its `data`."""
    data = error.get("data", error)
    details: Mapping[str, Any] = data if isinstance(data, dict) else {}
    code = error.get("code")
    fallback = _CODES.get(code, "internal") if isinstance(code, int) else "internal"
    kind = str(details.get("kind", fallback))
    message = str(error.get("message", "The broker gave no reason."))
    return _CLASSES.get(kind, BrokerError)(kind, message, details)


def unavailable(message: str, kind: str = "brokerNotAvailable", retryable: bool = True) -> BrokerUnavailable:
    return BrokerUnavailable(kind, message, {"retryable": retryable})


def lost() -> BrokerUnavailable:
    return unavailable(
        "The broker went away before it answered, and may or may not have acted; check its state, or try again.",
        "connectionLost")


def silent() -> BrokerUnavailable:
    return unavailable(
        "The broker does not answer; journalctl --user-unit brokerd may show the reason, "
        "systemctl --user restart brokerd restarts it.")


def not_understood() -> BrokerError:
    return BrokerError(
        "invalidResponse", "The process on the socket does not speak this version of the broker's protocol; "
        "update the older of the two.")
