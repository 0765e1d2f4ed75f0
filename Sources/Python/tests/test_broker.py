import os
import pickle
import subprocess
import sys
import threading
import unittest

from brokerclient import Broker, BrokerError, Client, InteractionRequired

import scene
from scene import SCOPES, Request


class BrokerTests(unittest.TestCase):
    def setUp(self):
        self.scene = scene.shared()
        self.broker = self.scene.broker

    def test_a_token_says_whose_it_is_and_its_repr_has_no_secrets(self):
        token = self.broker.acquire_token_silent("notes", SCOPES)
        self.assertEqual(token.account.username, "alice")
        self.assertIn("notes.read", token.scopes)
        self.assertEqual(token.authorization_header, f"Bearer {token.access_token}")
        self.assertNotIn(token.access_token, repr(token))
        self.assertNotIn(token.id_token, repr(token))

    def test_an_account_is_named_by_itself_or_its_username(self):
        [account] = self.broker.accounts("notes")
        for named in (account, "alice"):
            self.assertEqual(self.broker.acquire_token_silent("notes", SCOPES, account=named).account, account)
        self.assertIn(account, self.broker.accounts())

    def test_a_client_that_is_not_registered_is_named_by_id_and_authority(self):
        with self.assertRaises(InteractionRequired):
            self.broker.acquire_token_silent(Client("demo-two", self.scene.issuer), SCOPES)

    def test_who_never_signed_in_has_to(self):
        self.scene.register("empty", client="demo-two")
        with self.assertRaises(InteractionRequired) as raised:
            self.broker.acquire_token_silent("empty", SCOPES)
        self.assertEqual(raised.exception.reason, "noTokens")
        self.assertTrue(raised.exception.correlation_id)

    def test_an_unknown_app_is_an_error_with_the_brokers_kind_and_sentence(self):
        with self.assertRaises(BrokerError) as raised:
            self.broker.acquire_token_silent("nobody", SCOPES)
        self.assertEqual(raised.exception.kind, "appNotFound")
        self.assertIn("brokerctl apps", str(raised.exception))
        copy = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((copy.kind, copy.message), (raised.exception.kind, raised.exception.message))

    def test_a_token_that_was_rejected_is_replaced_once(self):
        old = self.broker.acquire_token_silent("notes", SCOPES)
        new = self.broker.acquire_token_silent("notes", SCOPES, rejected_token=old.access_token)
        self.assertNotEqual(old.access_token, new.access_token)
        again = self.broker.acquire_token_silent("notes", SCOPES, rejected_token=old.access_token)
        self.assertEqual(again.access_token, new.access_token)

    def test_a_challenge_is_read_by_the_broker(self):
        challenge = 'Bearer error="insufficient_user_authentication", acr_values="gold"'
        with self.assertRaises(InteractionRequired) as raised:
            self.broker.acquire_token_silent("notes", SCOPES, challenge=challenge)
        self.assertEqual(raised.exception.reason, "claimsChallenge")
        with self.assertRaises(BrokerError) as raised:
            self.broker.acquire_token_silent("notes", SCOPES, challenge='Basic realm="x"')
        self.assertEqual((raised.exception.kind, raised.exception.details["field"]), ("invalidParameter", "challenge"))

    def test_a_watch_has_each_token_until_the_account_is_removed(self):
        self.scene.register("watching", group="watching")
        self.scene.sign_in("watching")
        tokens = self.broker.watch("watching", SCOPES)
        first = next(tokens)
        other = self.broker.acquire_token_silent("watching", SCOPES, force_refresh=True)
        self.assertNotEqual(first.access_token, other.access_token)
        self.assertEqual(next(tokens).access_token, other.access_token)
        self.broker.remove_account(first.account, "watching")
        with self.assertRaises(InteractionRequired):
            next(tokens)

    def test_signing_out_works_at_once(self):
        self.scene.register("leaving", group="leaving")
        self.scene.sign_in("leaving")
        account = self.broker.acquire_token_silent("leaving", SCOPES).account
        self.broker.remove_account(account, "leaving")
        with self.assertRaises(InteractionRequired):
            self.broker.acquire_token_silent("leaving", SCOPES)

    def test_a_page_that_cannot_be_opened_ends_the_sign_in(self):
        def fail(url):
            raise BrokerError("browserNotAvailable", "No browser.")

        with self.assertRaises(BrokerError) as raised:
            self.broker.acquire_token_interactive("notes", SCOPES, prompt="login", open_url=fail)
        self.assertEqual(raised.exception.kind, "browserNotAvailable")

    def test_scopes_are_no_text(self):
        with self.assertRaises(TypeError):
            self.broker.acquire_token_silent("notes", "notes.read")

    def test_32_threads_share_one_connection(self):
        broker, failures = Broker(self.scene.socket), []
        before = self.scene.status()["connections"]
        barrier = threading.Barrier(33)

        def ask():
            barrier.wait()
            try:
                for _ in range(20):
                    assert broker.acquire_token_silent("notes", SCOPES).account.username == "alice"
                    try:
                        broker.acquire_token_silent("nobody", SCOPES)
                    except BrokerError as error:
                        assert error.kind == "appNotFound"
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=ask) for _ in range(32)]
        for thread in threads:
            thread.start()
        barrier.wait()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        # Threads of other tests may end in the meantime.
        self.assertLessEqual(self.scene.status()["connections"], before + 1)
        broker.close()

    def test_a_fork_has_a_connection_of_its_own_and_leaves_the_parents_alone(self):
        broker = Broker(self.scene.socket)
        broker.acquire_token_silent("notes", SCOPES)
        # A thread of the parent, which the child does not have, may hold it like this.
        with broker._lock:
            child = os.fork()
            if child == 0:
                try:
                    token = broker.acquire_token_silent("notes", SCOPES)
                    os._exit(0 if token.account.username == "alice" else 1)
                except BaseException:
                    os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(broker.acquire_token_silent("notes", SCOPES).account.username, "alice")

    def test_nothing_of_the_network_is_imported_with_the_package(self):
        program = "import brokerclient, sys; print([m for m in ('socket', 'ssl', 'http', 'asyncio') if m in sys.modules])"
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout, "[]\n")

    def test_methods_of_another_broker_are_unsupported_here(self):
        with self.assertRaises(BrokerError) as raised:
            self.broker.call(Request("token.unheardOf", {}))
        self.assertEqual(raised.exception.kind, "unsupported")
