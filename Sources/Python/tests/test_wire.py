import asyncio
import pathlib
import select
import unittest

from brokerclient import Broker, BrokerError, BrokerUnavailable, InteractionRequired
from brokerclient.aio import Broker as AsyncBroker

from scripted import TOKEN, Peer, speaking


def tokens_of(broker_of):
    """Both `Broker` classes with one interface."""
    def sync_silent(path, patience=10, **options):
        return Broker(path, patience=patience).acquire_token_silent("work", ["api"], **options)

    def async_silent(path, patience=10, **options):
        return asyncio.run(AsyncBroker(path, patience=patience).acquire_token_silent("work", ["api"], **options))

    def sync_watch(path, seen, patience=10):
        for token in Broker(path, patience=patience).watch("work", ["api"], minimum_lifetime=60):
            seen.append(token.access_token)

    def async_watch(path, seen, patience=10):
        async def run():
            async for token in AsyncBroker(path, patience=patience).watch("work", ["api"], minimum_lifetime=60):
                seen.append(token.access_token)

        asyncio.run(run())

    return {"threads": (sync_silent, sync_watch), "asyncio": (async_silent, async_watch)}[broker_of]


class Wire:
    def setUp(self):
        self.silent, self.watch = tokens_of(self.kind)

    def test_only_the_given_params_are_on_the_wire(self):
        options = dict(
            challenge='Bearer error="x"', rejected_token="old", minimum_lifetime=60, force_refresh=True, claims="{}",
            token_type="DPoP", resources=["r"], account="alice", authority="https://id.example/guest")
        with speaking(self.first, self.second) as path:
            self.assertEqual(self.silent(path, **options).access_token, "secret-one")
            self.silent(path)

    def first(self, peer):
        self.assertEqual(peer.answer(TOKEN)["params"], {
            "app": "work", "scopes": ["api"], "challenge": 'Bearer error="x"', "rejectedToken": "old",
            "minimumLifetime": 60, "forceRefresh": True, "claims": "{}", "tokenType": "DPoP", "resource": ["r"],
            "account": {"username": "alice"}, "authority": "https://id.example/guest"})

    def second(self, peer):
        self.assertEqual(peer.answer(TOKEN)["params"], {"app": "work", "scopes": ["api"]})

    def test_the_socket_may_be_named_by_a_path_object(self):
        with speaking(lambda peer: peer.answer(TOKEN)) as path:
            self.assertEqual(self.silent(pathlib.Path(path)).access_token, "secret-one")

    def test_the_client_waits_for_a_slow_broker(self):
        def script(peer):
            request = peer.read()
            # A second connection checks whether it answers.
            with Peer(peer.listener) as probe:
                self.assertEqual(probe.answer({})["method"], "broker.status")
            peer.write(id=request["id"], result=TOKEN)

        with speaking(script) as path:
            self.assertEqual(self.silent(path, patience=3).access_token, "secret-one")

    def test_a_request_that_the_broker_does_not_read_is_given_up(self):
        def script(peer):
            end = select.poll()
            end.register(peer.connection, 0)
            end.poll()

        with speaking(script) as path, self.assertRaisesRegex(BrokerUnavailable, "does not answer"):
            # More than the socket holds.
            self.silent(path, patience=0.2, challenge="x" * 1_000_000)

    def test_a_request_with_a_lost_answer_is_repeated_once(self):
        with speaking(lambda peer: peer.read(), lambda peer: peer.answer(TOKEN)) as path:
            self.assertEqual(self.silent(path).access_token, "secret-one")
        with speaking(lambda peer: peer.read(), lambda peer: peer.read()) as path:
            with self.assertRaises(BrokerUnavailable) as raised:
                self.silent(path)
        self.assertEqual(raised.exception.kind, "connectionLost")

    def test_a_broker_that_stops_is_left_for_the_next_one(self):
        stopping = lambda peer: peer.refuse("serverUnavailable", reason="shuttingDown")
        with speaking(stopping, lambda peer: peer.answer(TOKEN)) as path:
            self.assertEqual(self.silent(path).access_token, "secret-one")

    def test_a_refused_connection_reports_the_reason(self):
        def script(peer):
            peer.write(id=None, error={"code": -32000, "message": "Not you.", "data": {"kind": "accessDenied"}})
            peer.read()

        with speaking(script) as path, self.assertRaisesRegex(BrokerError, "Not you."):
            self.silent(path)

    def test_an_invalid_answer_is_reported_as_such(self):
        def script(peer):
            peer.read()
            peer.connection.sendall(b"HTTP/1.1 400 Bad Request\n")

        with speaking(script) as path, self.assertRaises(BrokerError) as raised:
            self.silent(path)
        self.assertEqual(raised.exception.kind, "invalidResponse")

    def test_a_watch_has_each_token_and_ends_with_the_error(self):
        def script(peer):
            request = peer.answer({**TOKEN, "watch": "w1"})
            self.assertEqual(request["method"], "token.watch")
            self.assertEqual(request["params"], {"app": "work", "scopes": ["api"], "minimumLifetime": 60})
            changed = {"watch": "w1", "token": {**TOKEN, "accessToken": "secret-two"}}
            peer.write(method="event.tokenChanged", params=changed)
            error = {"code": -32000, "message": "Sign in.", "data": {"kind": "interactionRequired", "reason": "signedOut"}}
            peer.write(method="event.tokenEnded", params={"watch": "w1", "error": error})
            self.assertIsNone(peer.read())

        seen = []
        with speaking(script) as path, self.assertRaises(InteractionRequired) as raised:
            self.watch(path, seen)
        self.assertEqual(seen, ["secret-one", "secret-two"])
        self.assertEqual(raised.exception.reason, "signedOut")

    def test_a_watch_continues_at_the_next_broker(self):
        seen = []
        ending = lambda peer: (peer.answer({**TOKEN, "accessToken": "secret-two"}), peer.write(
            method="event.tokenEnded", params={"watch": "w", "error": {"kind": "locked", "message": "Locked."}}))
        with speaking(lambda peer: peer.answer(TOKEN), ending) as path, self.assertRaisesRegex(BrokerError, "Locked."):
            self.watch(path, seen)
        self.assertEqual(seen, ["secret-one", "secret-two"])

    def test_a_watch_waits_for_a_slow_broker(self):
        def script(peer):
            request = peer.read()
            with Peer(peer.listener) as probe:
                self.assertEqual(probe.answer({})["method"], "broker.status")
            peer.write(id=request["id"], result={**TOKEN, "watch": "w"})
            error = {"kind": "locked", "message": "Locked."}
            peer.write(method="event.tokenEnded", params={"watch": "w", "error": error})

        seen = []
        with speaking(script) as path, self.assertRaisesRegex(BrokerError, "Locked."):
            self.watch(path, seen, patience=3)
        self.assertEqual(seen, ["secret-one"])

    def test_a_watch_at_a_broker_that_hangs_reports_it(self):
        def script(peer):
            peer.read()
            with Peer(peer.listener) as probe:
                probe.read()
                # The client hangs up.
                self.assertIsNone(peer.read())

        with speaking(script) as path, self.assertRaisesRegex(BrokerUnavailable, "does not answer"):
            self.watch(path, [], patience=0.5)

    def test_a_watch_at_a_broker_without_it_is_unsupported(self):
        def script(peer):
            peer.write(id=peer.read()["id"], error={"code": -32601, "message": "No such method."})

        with speaking(script) as path, self.assertRaises(BrokerError) as raised:
            self.watch(path, [])
        self.assertEqual(raised.exception.kind, "unsupported")


class ThreadWireTests(Wire, unittest.TestCase):
    kind = "threads"


class AsyncWireTests(Wire, unittest.TestCase):
    kind = "asyncio"

    def test_a_cancelled_request_ends_wherever_it_is(self):
        def script(peer):
            peer.answer(TOKEN)
            while peer.read():
                pass

        async def cancel(path, steps):
            broker = AsyncBroker(path)
            await broker.acquire_token_silent("work", ["api"])
            task = asyncio.create_task(broker.acquire_token_silent("work", ["api"]))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await broker.close()

        for steps in range(7):
            with self.subTest(steps=steps), speaking(script) as path:
                asyncio.run(cancel(path, steps))
