"""What can go wrong, with the broker's words for it."""
from __future__ import annotations

from typing import Any, Mapping, Optional


class BrokerError(Exception):
    """What the broker answered, or why it could not be asked.

    `kind` is one of the protocol's kinds, or `brokerNotAvailable`, `brokerNotTrusted`, `connectionLost` and
    `browserNotAvailable`, which come from this side. `details` is the rest of what the broker said.
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
    """A person has to sign in or to consent."""


class BrokerUnavailable(BrokerError):
    """No broker answers, or what listens there is not to be believed."""


class AccessDenied(BrokerError):
    """This program may not have the token, or not yet (`grantRequired`)."""


_CLASSES = {
    "interactionRequired": InteractionRequired,
    "accessDenied": AccessDenied,
    "grantRequired": AccessDenied,
}
_CODES = {-32600: "invalidParameter", -32601: "unsupported", -32602: "invalidParameter", -32700: "invalidParameter"}


def answered(error: Mapping[str, Any]) -> BrokerError:
    """The error for an `error` object of JSON-RPC, or for what stands in its `data`."""
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
        "The broker went away before it answered, and may or may not have acted; look what it did, or try again.",
        "connectionLost")


def silent() -> BrokerUnavailable:
    return unavailable(
        "The broker does not answer; journalctl --user-unit brokerd may say why, "
        "systemctl --user restart brokerd ends it.")


def not_understood() -> BrokerError:
    return BrokerError(
        "invalidResponse", "What answers on the socket does not speak this version of the broker's protocol; "
        "update the older of the two.")
