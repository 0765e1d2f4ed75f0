import asyncio
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
