import asyncio
import contextlib
import gc
import threading
import unittest

from brokerclient import BrokerError, BrokerUnavailable, InteractionRequired
from brokerclient.aio import Broker

import scene
from scene import SCOPES, Request


class AsyncTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.scene = scene.shared()
        self.broker = Broker(self.scene.socket, patience=600)

    async def test_tasks_share_one_connection(self):
        before = self.scene.status()["connections"]
        tokens = await asyncio.gather(*[self.broker.acquire_token_silent("notes", SCOPES) for _ in range(200)])
        self.assertEqual({token.account.username for token in tokens}, {"alice"})
        self.assertLessEqual(self.scene.status()["connections"], before + 1)
        self.assertIn(tokens[0].account, await self.broker.accounts("notes"))

    async def test_a_watch_has_each_token_until_the_broker_is_locked(self):
        tokens = self.broker.watch("notes", SCOPES)
        first = await tokens.__anext__()
        other = await self.broker.acquire_token_silent("notes", SCOPES, force_refresh=True)
        self.assertNotEqual(first.access_token, other.access_token)
        self.assertEqual((await tokens.__anext__()).access_token, other.access_token)
        await self.broker.call(Request("broker.lock", {}))
        try:
            with self.assertRaises(BrokerError) as raised:
                await tokens.__anext__()
            self.assertEqual(raised.exception.kind, "locked")
        finally:
            await self.broker.call(Request("broker.unlock", {}))

    async def test_a_sign_in(self):
        token = await self.broker.acquire_token_interactive("notes", SCOPES, prompt="login", open_url=scene.sign_in)
        self.assertEqual(token.account.username, "alice")

    async def test_a_cancelled_sign_in_ends_at_the_broker(self):
        shown = asyncio.Event()
        loop = asyncio.get_running_loop()
        before = self.scene.status()["connections"]
        task = asyncio.create_task(self.broker.acquire_token_interactive(
            "notes", SCOPES, prompt="login", open_url=lambda url: loop.call_soon_threadsafe(shown.set)))
        await shown.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        while self.scene.status()["connections"] > before:
            await asyncio.sleep(0.01)

    async def test_who_never_signed_in_has_to(self):
        self.scene.register("empty", client="demo-two")
        with self.assertRaises(InteractionRequired):
            await self.broker.acquire_token_silent("empty", SCOPES)

    async def test_without_a_broker(self):
        with self.assertRaises(BrokerUnavailable):
            await Broker("/nonexistent/broker.sock").accounts()

    async def test_a_restart(self):
        await self.broker.acquire_token_silent("notes", SCOPES)
        self.scene.stop()
        self.scene.start()
        self.assertEqual((await self.broker.acquire_token_silent("notes", SCOPES)).account.username, "alice")

    async def test_a_broker_that_hangs(self):
        broker = Broker(self.scene.socket, patience=1)
        with self.scene.hanging(), self.assertRaisesRegex(BrokerUnavailable, "does not answer"):
            await broker.acquire_token_silent("notes", SCOPES)
        # A busy machine may take longer than this patience again.
        while True:
            try:
                return await broker.acquire_token_silent("notes", SCOPES)
            except BrokerUnavailable:
                continue


class LoopTests(unittest.TestCase):
    def test_one_broker_serves_one_loop_after_another(self):
        broker = Broker(scene.shared().socket)
        for _ in range(2):
            token = asyncio.run(broker.acquire_token_silent("notes", SCOPES))
            self.assertEqual(token.account.username, "alice")

    def test_two_loops_have_a_connection_each_until_one_of_them_closes_both(self):
        broker = Broker(scene.shared().socket)
        loops = [asyncio.new_event_loop() for _ in range(2)]
        before = scene.connections()
        for loop in loops * 10:
            loop.run_until_complete(broker.acquire_token_silent("notes", SCOPES))
        self.assertEqual(scene.connections(), before + 2)
        loops[0].run_until_complete(broker.close())
        self.assertEqual(scene.connections(), before + 1)
        loops[1].run_until_complete(settled())
        self.assertEqual(scene.connections(), before)
        for loop in loops:
            self.assertEqual(
                loop.run_until_complete(broker.acquire_token_silent("notes", SCOPES)).account.username, "alice")
            loop.run_until_complete(broker.close())
            loop.close()

    def test_a_dropped_broker_leaves_no_connection(self):
        async def run():
            before = scene.connections()
            for _ in range(20):
                await Broker(scene.shared().socket).acquire_token_silent("notes", SCOPES)
            await settled()
            self.assertEqual(scene.connections(), before)

        asyncio.run(run())

    def test_a_broker_may_be_dropped_in_another_thread(self):
        async def run():
            before = scene.connections()
            brokers = [Broker(scene.shared().socket)]
            await brokers[0].acquire_token_silent("notes", SCOPES)
            thread = threading.Thread(target=brokers.clear)
            thread.start()
            thread.join()
            await settled()
            self.assertEqual(scene.connections(), before)

        asyncio.run(run(), debug=True)

    def test_a_closed_loop_leaves_no_connection(self):
        for finish in (lambda broker: broker.close(), lambda broker: broker.accounts()):
            before = scene.connections()
            with self.closed_loop() as broker:
                # The next loop's connection takes the place of the closed one's.
                asyncio.run(finish(broker))
                self.assertEqual(scene.connections(), before)

    def test_a_broker_may_be_dropped_after_its_loop_was_closed(self):
        before = scene.connections()
        with self.closed_loop() as broker:
            del broker
            self.assertEqual(scene.connections(), before)

    @contextlib.contextmanager
    def closed_loop(self):
        """A `Broker` with a connection in a loop that was closed before its tasks had ended."""
        loop, held = asyncio.new_event_loop(), [Broker(scene.shared().socket)]
        loop.run_until_complete(held[0].acquire_token_silent("notes", SCOPES))
        with self.assertLogs("asyncio"):
            loop.close()
            yield held.pop()
            gc.collect()


async def settled():
    """Lets the loop run several times, so that it notices connections that have ended."""
    for _ in range(10):
        await asyncio.sleep(0)
