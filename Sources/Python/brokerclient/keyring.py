"""A backend of `keyring`, for pip and twine: tokens for the package indexes of named hosts.

    KEYRING_PROPERTY_APP=packages KEYRING_PROPERTY_HOSTS=pypi.example.org KEYRING_PROPERTY_SCOPES=packages.read
"""
from __future__ import annotations

from typing import Optional
from urllib.parse import urlsplit

from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential
from keyring.errors import KeyringError, PasswordDeleteError, PasswordSetError

from ._broker import Broker
from ._errors import BrokerError

__all__ = ["BrokerKeyring"]


class BrokerKeyring(KeyringBackend):
    """Gives tokens to the hosts in `hosts` only; stores nothing."""

    # Below the backends that store passwords: it is selected only if the user chooses it.
    priority = 0.5

    app = ""
    hosts = ""
    scopes = ""
    username = "oauth2"

    def get_password(self, service: str, username: Optional[str]) -> Optional[str]:
        if not self.app or not self._serves(service):
            return None
        try:
            return Broker().acquire_token_silent(self.app, self.scopes.split()).access_token
        except BrokerError as error:
            raise KeyringError(str(error)) from error

    def get_credential(self, service: str, username: Optional[str]) -> Optional[SimpleCredential]:
        password = self.get_password(service, username)
        return None if password is None else SimpleCredential(username or self.username, password)

    def set_password(self, service: str, username: str, password: str) -> None:
        raise PasswordSetError("The broker keeps no passwords; sign in with brokerctl login.")

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError("The broker keeps no passwords; brokerctl accounts sign-out ends a sign-in.")

    def _serves(self, service: str) -> bool:
        """Pip passes the index's URL, then its host."""
        url = urlsplit(service if "://" in service else f"https://{service}")
        if url.scheme != "https" or url.hostname is None:
            return False
        return url.netloc.rpartition("@")[2].lower() in self.hosts.lower().split()
