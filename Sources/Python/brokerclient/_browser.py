"""The person's browser."""
from __future__ import annotations

from ._errors import BrokerError


def open_page(url: str) -> None:
    """Opens a sign-in page with the commands of `$BROWSER`, or the desktop's."""
    import webbrowser

    if not url.startswith(("https://", "http://")):
        raise BrokerError(
            "invalidResponse", "The broker named a sign-in page that is not a web address, so it was not opened.")
    try:
        opened = webbrowser.open(url)
    except Exception:
        opened = False
    if not opened:
        raise BrokerError(
            "browserNotAvailable", "No browser could be started; set BROWSER to a browser's command, or sign in with "
            "brokerctl login --no-browser.")
