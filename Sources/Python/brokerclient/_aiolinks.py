"""The connections of one `Broker`, one for each event loop."""
from __future__ import annotations

import asyncio
import os
import time
import weakref
from typing import List, Optional

from ._aiolink import Link


class Links:
    """Holds loops and links weakly: a connection ends with its loop, and at the latest with its `Broker`."""

    def __init__(self) -> None:
        self._links: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[Link]] = (
            weakref.WeakKeyDictionary())
        # When the last connection ended, unless there is another one since.
        self.lost_at: Optional[float] = None

    def usable(self) -> Optional[Link]:
        """The connection of the running loop."""
        link = self._of(asyncio.get_running_loop())
        if link is None or link.ending is not None or link.process != os.getpid():
            return None
        return link

    def keep(self, link: Link) -> None:
        for other in self._all():
            # A loop that was closed in the middle of its tasks has left its connection open.
            if other.loop.is_closed():
                other.hang_up()
        self._links[link.loop] = weakref.ref(link)
        self.lost_at = None
        link.ended = self._lost

    def leave(self, link: Link) -> None:
        """Calls that wait at this connection may still get their answers."""
        if self._of(link.loop) is link:
            del self._links[link.loop]
            link.ended = None
            self._lost()

    def hang_up(self) -> None:
        """Ends all connections, from any thread."""
        for link in self._all():
            link.hang_up()

    async def close(self) -> None:
        own = self.usable()
        if own is not None:
            own.close()
        self.hang_up()
        if own is not None:
            await own.closed()

    def _all(self) -> List[Link]:
        links = [self._of(loop) for loop in [kept() for kept in self._links.keyrefs()] if loop is not None]
        return [link for link in links if link is not None]

    def _of(self, loop: asyncio.AbstractEventLoop) -> Optional[Link]:
        kept = self._links.get(loop)
        return kept() if kept is not None else None

    def _lost(self) -> None:
        self.lost_at = time.monotonic()
