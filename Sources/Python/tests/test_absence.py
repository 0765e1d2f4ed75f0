import os
import socket
import tempfile
import threading
import unittest
from unittest import mock

from brokerclient import Broker, BrokerUnavailable

import scene
from scene import SCOPES


class AbsenceTests(unittest.TestCase):
    def test_without_a_broker_the_error_says_how_to_start_it(self):
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": "/nonexistent"}):
            with self.assertRaisesRegex(BrokerUnavailable, "systemctl --user start") as raised:
                Broker("/nonexistent/brokerd/broker.sock").accounts()
            self.assertEqual(raised.exception.kind, "brokerNotAvailable")
            # systemd starts none at another place.
            with self.assertRaisesRegex(BrokerUnavailable, "listens at /elsewhere. Start the broker"):
                Broker("/elsewhere").accounts()

    def test_a_file_in_place_of_the_socket_is_an_error(self):
        with self.assertRaisesRegex(BrokerUnavailable, "not a socket"):
            Broker(__file__).accounts()

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a socket away")
    def test_a_socket_of_another_user_is_not_trusted(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            path = f"{folder}/s"
            listener.bind(path)
            listener.listen()
            os.chown(path, 4711, 4711)
            with self.assertRaisesRegex(BrokerUnavailable, "4711") as raised:
                Broker(path).accounts()
        self.assertEqual(raised.exception.kind, "brokerNotTrusted")

    @unittest.skipUnless(os.geteuid() == 0, "only root can listen as somebody else")
    def test_a_listener_of_another_user_is_not_trusted(self):
        # The socket's file is ours, but another user listens.
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            path = f"{folder}/s"
            listener.bind(path)
            os.seteuid(4711)
            try:
                listener.listen()
            finally:
                os.seteuid(0)
            with self.assertRaisesRegex(BrokerUnavailable, "4711") as raised:
                Broker(path).accounts()
        self.assertEqual(raised.exception.kind, "brokerNotTrusted")

    def test_the_socket_is_named_by_argument_then_variable_then_runtime_folder(self):
        kept = dict(os.environ)
        try:
            os.environ.update(BROKER_SOCKET="/named", XDG_RUNTIME_DIR="/runtime")
            self.assertEqual(Broker("/argument")._path, "/argument")
            self.assertEqual(Broker()._path, "/named")
            del os.environ["BROKER_SOCKET"]
            self.assertEqual(Broker()._path, "/runtime/brokerd/broker.sock")
        finally:
            os.environ.clear()
            os.environ.update(kept)


class RestartTests(unittest.TestCase):
    def setUp(self):
        self.scene = scene.shared()
        self.broker = Broker(self.scene.socket, patience=600)
        self.broker.acquire_token_silent("notes", SCOPES)

    def test_the_next_broker_answers_whoever_asked_the_last_one(self):
        self.scene.stop()
        self.scene.start()
        self.assertEqual(self.broker.acquire_token_silent("notes", SCOPES).account.username, "alice")

    def test_threads_that_ask_meanwhile_notice_nothing(self):
        failures, stopped = [], threading.Event()

        def ask():
            try:
                while not stopped.is_set():
                    self.broker.acquire_token_silent("notes", SCOPES)
            except Exception as failure:
                failures.append(failure)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        self.scene.stop()
        self.scene.start()
        stopped.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_a_broker_that_hangs_is_given_up_and_asked_again_when_it_goes_on(self):
        broker = Broker(self.scene.socket, patience=1)
        with self.scene.hanging(), self.assertRaisesRegex(BrokerUnavailable, "does not answer"):
            broker.acquire_token_silent("notes", SCOPES)
        # A busy machine may take longer than this patience again.
        while True:
            try:
                token = broker.acquire_token_silent("notes", SCOPES)
                break
            except BrokerUnavailable:
                continue
        self.assertEqual(token.account.username, "alice")
