"""Each adapter in its real framework."""
import asyncio
import base64
import datetime
import io
import json
import os
import tempfile
import time
import unittest
from unittest import mock

import azure.core.exceptions
import azure.core.rest
import azure.identity
import azure.identity.aio
import google.auth.exceptions
import google.auth.transport.requests
import httpx
import keyring
import keyring.core
import keyring.errors
import requests
from azure.core import PipelineClient
from azure.core.pipeline.policies import BearerTokenCredentialPolicy

import brokerclient.azure.aio
from brokerclient import Broker, InteractionRequired
from brokerclient.aio import Broker as AsyncBroker
from brokerclient.google import Credentials
from brokerclient.httpx import BrokerAuth as HttpxAuth
from brokerclient.msal import PublicClientApplication
from brokerclient.requests import BrokerAuth as RequestsAuth

import scene
from api import payload, served
from scene import SCOPES
from scripted import TOKEN, speaking

NOWHERE = "/nonexistent/broker.sock"
REFUSED = (401, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
MOVED = (307, {"Location": "/other"})
PROOF_REFUSED = (401, {"WWW-Authenticate": 'DPoP error="invalid_dpop_proof"'})


class AdapterTests(unittest.TestCase):
    def setUp(self):
        self.scene = scene.shared()
        self.broker = self.scene.broker
        self.scene.register("empty", client="demo-two")

    def app(self, name):
        """A separate app: a token is replaced only once a minute for an app and account."""
        self.scene.register(name, group=name)
        self.scene.sign_in(name)
        return name

    def bound(self):
        """The options for tokens that are bound to a key."""
        self.scene.register("bound", group="bound")
        self.scene.sign_in("bound", token_type="DPoP")
        return {"app": "bound", "token_type": "DPoP"}

    def assert_signed_again(self, api):
        """After the redirect the same token has a proof for the other URL."""
        self.assertEqual(len({request["authorization"] for request in api.requests}), 1)
        urls = [payload(request["dpop"])["htu"] for request in api.requests]
        self.assertEqual(urls, [api.url, api.url, api.url.replace("/items", "/other")])

    def pipe(self, content):
        reading, writing = os.pipe()
        with open(writing, "wb") as end:
            end.write(content)
        file = open(reading, "rb")
        self.addCleanup(file.close)
        return file

    def token(self):
        return self.broker.acquire_token_silent("notes", SCOPES).access_token


class RequestsTests(AdapterTests):
    def session(self):
        session = requests.Session()
        session.trust_env = False
        self.addCleanup(session.close)
        return session

    def auth(self, app="notes", **more):
        return RequestsAuth(app=app, scopes=SCOPES, broker=self.broker, **more)

    def test_a_request_has_the_header(self):
        with served() as api:
            self.assertEqual(self.session().get(api.url, auth=self.auth()).status_code, 200)
        self.assertEqual(api.requests[0]["authorization"], f"Bearer {self.token()}")

    def test_a_refused_request_is_sent_once_more_with_another_token(self):
        with served(REFUSED) as api:
            response = self.session().post(api.url, data=b"body", auth=self.auth(self.app("refused-requests")))
        self.assertEqual(response.status_code, 200)
        first, second = api.requests
        self.assertNotEqual(first["authorization"], second["authorization"])
        self.assertEqual((first["body"], second["body"]), (b"body", b"body"))

    def test_a_file_is_sent_again_from_the_same_position(self):
        with tempfile.TemporaryFile() as file, served(REFUSED) as api:
            file.write(b"skipped body")
            file.seek(8)
            response = self.session().put(api.url, data=file, auth=self.auth(self.app("refused-file")))
        self.assertEqual(response.status_code, 200)
        self.assertEqual([request["body"] for request in api.requests], [b"body", b"body"])

    def test_a_body_that_cannot_be_sent_again_is_sent_once_and_the_refusal_is_the_answer(self):
        bodies = {"generator": (part for part in [b"hello ", b"world"]), "pipe": self.pipe(b"hello world")}
        for kind, body in bodies.items():
            auth = self.auth(self.app(f"refused-{kind}"))
            with self.subTest(kind), served(REFUSED) as api:
                self.assertEqual(self.session().put(api.url, data=body, auth=auth).status_code, 401)
                self.assertEqual([request["body"] for request in api.requests], [b"hello world"])
                # The caller's next attempt has another token.
                self.assertEqual(self.session().put(api.url, data=b"hello", auth=auth).status_code, 200)
                first, second = api.requests
                self.assertNotEqual(first["authorization"], second["authorization"])

    def test_the_refusal_of_another_host_is_the_answer(self):
        with served(REFUSED) as other, served((302, {"Location": other.url})) as api:
            self.assertEqual(self.session().get(api.url, auth=self.auth()).status_code, 401)
        self.assertNotIn("authorization", other.requests[0])
        self.assertEqual((len(api.requests), len(other.requests)), (1, 1))

    def test_a_second_refusal_is_the_answer(self):
        with served(REFUSED, REFUSED) as api:
            self.assertEqual(self.session().get(api.url, auth=self.auth()).status_code, 401)
        self.assertEqual(len(api.requests), 2)

    def test_a_bound_token_has_a_proof_for_each_request_and_the_servers_nonce(self):
        wants = (401, {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": "n-1"})
        with served(wants) as api:
            self.assertEqual(self.session().get(api.url, auth=self.auth(**self.bound())).status_code, 200)
        first, second = api.requests
        self.assertTrue(first["authorization"].startswith("DPoP "))
        self.assertEqual(first["authorization"], second["authorization"])
        proof = payload(second["dpop"])
        self.assertEqual((proof["htm"], proof["htu"], proof["nonce"]), ("GET", api.url, "n-1"))
        self.assertNotEqual(proof["jti"], payload(first["dpop"])["jti"])

    def test_after_a_redirect_a_refused_proof_is_signed_again_for_the_same_token(self):
        with served(MOVED, PROOF_REFUSED) as api:
            self.assertEqual(self.session().get(api.url, auth=self.auth(**self.bound())).status_code, 200)
        self.assert_signed_again(api)

    def test_without_a_token_it_is_a_request_exception(self):
        with self.assertRaises(requests.RequestException) as raised:
            self.session().get("http://127.0.0.1:9/", auth=self.auth("empty"))
        self.assertIsInstance(raised.exception.__cause__, InteractionRequired)


class HttpxTests(AdapterTests):
    def auth(self, app="notes", **more):
        return HttpxAuth(
            app=app, scopes=SCOPES, broker=self.broker, async_broker=AsyncBroker(self.scene.socket), **more)

    def get(self, kind, url, auth, **more):
        return self.send(kind, "GET", url, auth, **more)

    def send(self, kind, method, url, auth, **body):
        if kind == "sync":
            with httpx.Client(trust_env=False, auth=auth) as client:
                return client.request(method, url, **body)

        async def run():
            async with httpx.AsyncClient(trust_env=False, auth=auth) as client:
                return await client.request(method, url, **body)

        return asyncio.run(run())

    def test_a_body_in_memory_and_a_form_with_files_are_sent_again(self):
        for kind in ("sync", "async"):
            auth = self.auth(self.app(f"refused-body-{kind}"))
            for body in ({"content": b"hello"}, {"files": {"a": io.BytesIO(b"hello")}, "data": {"b": "c"}}):
                with self.subTest(kind, body=body), served(REFUSED) as api:
                    self.assertEqual(self.send(kind, "PUT", api.url, auth, **body).status_code, 200)
                    first, second = api.requests
                    self.assertEqual(first["body"], second["body"])
                    self.assertIn(b"hello", second["body"])

    def test_a_stream_is_sent_once_and_the_refusal_is_the_answer(self):
        async def parts():
            yield b"hello world"

        class Reader:
            def __init__(self):
                self.read = io.BytesIO(b"hello world").read

        file = tempfile.TemporaryFile()
        self.addCleanup(file.close)
        file.write(b"hello world")
        file.seek(0)
        bodies = [
            ("sync", {"content": (part for part in [b"hello world"])}), ("sync", {"content": iter([b"hello world"])}),
            ("sync", {"content": file}), ("async", {"content": parts()}),
            ("sync", {"files": {"a": Reader()}}), ("async", {"files": {"a": Reader()}}),
        ]
        auth = self.auth(self.app("refused-httpx-stream"))
        for kind, body in bodies:
            with self.subTest(kind, body=body), served(REFUSED) as api:
                self.assertEqual(self.send(kind, "PUT", api.url, auth, **body).status_code, 401)
                [request] = api.requests
                self.assertIn(b"hello world", request["body"])

    def test_the_refusal_of_another_host_is_the_answer(self):
        for kind in ("sync", "async"):
            with self.subTest(kind), served(REFUSED) as other, served((302, {"Location": other.url})) as api:
                self.assertEqual(self.get(kind, api.url, self.auth(), follow_redirects=True).status_code, 401)
                self.assertNotIn("authorization", other.requests[0])
                self.assertEqual((len(api.requests), len(other.requests)), (1, 1))

    def test_closing_it_ends_its_connections(self):
        before = scene.connections()
        auth = HttpxAuth(
            app="notes", scopes=SCOPES, broker=Broker(self.scene.socket), async_broker=AsyncBroker(self.scene.socket))

        async def run(url):
            async with httpx.AsyncClient(trust_env=False, auth=auth) as client:
                self.assertEqual((await client.get(url)).status_code, 200)
            self.assertEqual(scene.connections(), before + 2)
            await auth.aclose()
            self.assertEqual(scene.connections(), before)

        with served() as api:
            for end in (auth.close, lambda: asyncio.run(run(api.url))):
                self.assertEqual(self.get("sync", api.url, auth).status_code, 200)
                self.assertEqual(scene.connections(), before + 1)
                end()
                self.assertEqual(scene.connections(), before)

    def test_a_bound_token_has_a_proof_with_the_servers_nonce(self):
        wants = (401, {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": "n-2"})
        auth = self.auth(**self.bound())
        for kind in ("sync", "async"):
            with self.subTest(kind), served(wants) as api:
                self.assertEqual(self.get(kind, api.url, auth).status_code, 200)
                self.assertEqual(payload(api.requests[1]["dpop"])["nonce"], "n-2")

    def test_after_a_redirect_a_refused_proof_is_signed_again_for_the_same_token(self):
        auth = self.auth(**self.bound())
        for kind in ("sync", "async"):
            with self.subTest(kind), served(MOVED, PROOF_REFUSED) as api:
                self.assertEqual(self.get(kind, api.url, auth, follow_redirects=True).status_code, 200)
                self.assert_signed_again(api)

    def test_a_request_whose_redirect_is_refused_is_not_sent_again_itself(self):
        for kind in ("sync", "async"):
            auth = self.auth(self.app(f"refused-redirect-{kind}"))
            with self.subTest(kind), served((303, {"Location": "/other"}), REFUSED) as api:
                response = self.send(kind, "POST", api.url, auth, content=b"hello", follow_redirects=True)
                self.assertEqual(response.status_code, 200)
                self.assertEqual([request["body"] for request in api.requests], [b"hello", b"", b""])

    def test_without_a_token_it_is_a_request_error(self):
        for kind in ("sync", "async"):
            with self.subTest(kind), self.assertRaises(httpx.RequestError) as raised:
                self.get(kind, "http://127.0.0.1:9/", self.auth("empty"))
            self.assertIsInstance(raised.exception.__cause__, InteractionRequired)


class AzureTests(AdapterTests):
    def policy(self, credential):
        return BearerTokenCredentialPolicy(credential, "notes.read")

    def test_the_pipeline_has_a_token_and_meets_a_claims_challenge(self):
        claims = {"access_token": {"acrs": {"essential": True, "value": "c1"}}}
        encoded = base64.b64encode(json.dumps(claims).encode()).decode()
        challenge = f'Bearer error="insufficient_claims", claims="{encoded}"'
        asked = []
        broker = Broker(self.scene.socket)
        acquire = broker.acquire_token_silent
        broker.acquire_token_silent = lambda *words, **more: asked.append(more) or acquire(*words, **more)
        credential = brokerclient.azure.BrokerCredential(app="notes", broker=broker)
        with served((200, {}), (401, {"WWW-Authenticate": challenge})) as api:
            with PipelineClient(api.url, policies=[self.policy(credential)]) as client:
                for _ in range(2):
                    request = azure.core.rest.HttpRequest("GET", api.url)
                    # azure-core sends tokens to https only, unless configured otherwise.
                    response = client.send_request(request, enforce_https=False)
                    self.assertEqual(response.status_code, 200)
        self.assertEqual(len(api.requests), 3)
        self.assertEqual(json.loads(asked[-1]["claims"]), claims)

    def test_a_chain_goes_on_without_a_broker_and_not_without_a_sign_in(self):
        ours = brokerclient.azure.BrokerCredential(app="notes", broker=self.broker)
        absent = brokerclient.azure.BrokerCredential(app="notes", broker=Broker(NOWHERE))
        empty = brokerclient.azure.BrokerCredential(app="empty", broker=self.broker)
        self.assertEqual(azure.identity.ChainedTokenCredential(absent, ours).get_token("notes.read").token, self.token())
        with self.assertRaises(azure.core.exceptions.ClientAuthenticationError) as raised:
            azure.identity.ChainedTokenCredential(empty, ours).get_token("notes.read")
        self.assertNotIsInstance(raised.exception, azure.identity.CredentialUnavailableError)

    def test_the_asyncio_twin(self):
        async def run():
            absent = brokerclient.azure.aio.BrokerCredential(app="notes", broker=AsyncBroker(NOWHERE))
            ours = brokerclient.azure.aio.BrokerCredential(app="notes", broker=AsyncBroker(self.scene.socket))
            async with azure.identity.aio.ChainedTokenCredential(absent, ours) as chain:
                self.assertEqual((await chain.get_token("notes.read")).token, self.token())
                return await chain.get_token_info("notes.read")

        self.assertEqual(asyncio.run(run()).token_type, "Bearer")

    def test_a_token_near_its_end_will_do(self):
        async def get(path):
            async with brokerclient.azure.aio.BrokerCredential(app="notes", broker=AsyncBroker(path)) as credential:
                return await credential.get_token("notes.read")

        for ask in (
            lambda path: brokerclient.azure.BrokerCredential(app="notes", broker=Broker(path)).get_token("notes.read"),
            lambda path: asyncio.run(get(path)),
        ):
            seen = []
            with speaking(lambda peer: seen.append(peer.answer(TOKEN))) as path:
                self.assertEqual(ask(path).token, "secret-one")
            self.assertEqual(seen[0]["params"], {"app": "notes", "scopes": SCOPES})


class GoogleTests(AdapterTests):
    def test_before_request_sets_the_header_and_a_refused_token_is_replaced(self):
        credentials = Credentials(app=self.app("refused-google"), scopes=SCOPES, broker=self.broker)
        with served((200, {}), (401, {})) as api:
            with google.auth.transport.requests.AuthorizedSession(credentials) as session:
                session.trust_env = False
                for _ in range(2):
                    self.assertEqual(session.get(api.url).status_code, 200)
        first, refused, second = [request["authorization"] for request in api.requests]
        self.assertEqual(first, refused)
        self.assertNotEqual(first, second)
        self.assertGreater(credentials.expiry, datetime.datetime(2020, 1, 1))

    def test_what_it_raises(self):
        with self.assertRaises(google.auth.exceptions.RefreshError):
            Credentials(app="empty", scopes=SCOPES, broker=self.broker).refresh(None)
        with self.assertRaises(google.auth.exceptions.TransportError):
            Credentials(app="empty", scopes=SCOPES, broker=Broker(NOWHERE)).refresh(None)

    def test_a_token_near_its_end_will_do(self):
        seen = []
        with speaking(lambda peer: seen.append(peer.answer(TOKEN))) as path:
            credentials = Credentials(app="notes", scopes=SCOPES, broker=Broker(path))
            credentials.refresh(None)
        self.assertEqual(credentials.token, "secret-one")
        self.assertEqual(seen[0]["params"], {"app": "notes", "scopes": SCOPES})

    def test_a_token_near_its_end_is_named_as_rejected_only_after_a_refusal(self):
        seen = []

        def broker(peer):
            for _ in range(3):
                seen.append(peer.answer({**TOKEN, "expiresOn": int(time.time()) + 100}))

        with speaking(broker) as path, served((401, {})) as api:
            credentials = Credentials(app="notes", scopes=SCOPES, broker=Broker(path))
            with google.auth.transport.requests.AuthorizedSession(credentials) as session:
                session.trust_env = False
                self.assertEqual(session.get(api.url).status_code, 200)
        self.assertEqual([request["params"].get("rejectedToken") for request in seen], [None, "secret-one", None])


class MSALTests(AdapterTests):
    def test_the_tutorial(self):
        app = PublicClientApplication("demo-one", app="notes", broker=self.broker)
        [account] = app.get_accounts(username="ALICE")
        self.assertEqual(app.get_accounts(username="nobody"), [])
        answer = app.acquire_token_silent(SCOPES, account=account)
        self.assertEqual((answer["access_token"], answer["token_source"]), (self.token(), "cache"))
        self.assertGreater(answer["expires_in"], 0)
        self.assertEqual(answer["id_token_claims"]["preferred_username"], "alice")
        forced = app.acquire_token_silent(SCOPES, account, force_refresh=True)
        self.assertNotEqual(forced["access_token"], answer["access_token"])

    def test_a_client_id_and_an_authority_are_enough(self):
        app = PublicClientApplication("demo-two", authority=self.scene.issuer, broker=self.broker)
        with mock.patch.dict(os.environ, BROWSER=f"{scene.ROOT}/Sources/Examples/person"):
            answer = app.acquire_token_interactive(SCOPES, parent_window_handle=app.CONSOLE_WINDOW_HANDLE)
        self.assertEqual(answer.get("error_description"), None)
        [account] = app.get_accounts()
        app.remove_account(account)
        self.assertIsNone(app.acquire_token_silent(SCOPES, account))

    def test_another_authority_is_asked_for_one_request(self):
        guest, account = "https://id.example/guest", {"local_account_id": "1", "username": "alice"}
        for options, named in (
            ({"app": "notes"}, {"app": "notes"}), ({"authority": "https://id.example/home"}, {"clientId": "demo-one"}),
        ):
            with self.subTest(**options):
                seen = []
                with speaking(lambda peer: seen.append(peer.answer(TOKEN))) as path:
                    app = PublicClientApplication("demo-one", broker=Broker(path), **options)
                    self.assertEqual(
                        app.acquire_token_silent(SCOPES, account, authority=guest)["access_token"], "secret-one")
                self.assertEqual(
                    seen[0]["params"], {**named, "authority": guest, "scopes": SCOPES, "account": {"id": "1"}})

    def test_an_authority_of_another_provider_is_refused(self):
        app = PublicClientApplication("demo-one", app="notes", broker=self.broker)
        [account] = app.get_accounts()
        answer = app.acquire_token_silent_with_error(SCOPES, account, authority="https://id.example")
        self.assertEqual(answer["error"], "invalidAuthority")

    def test_errors_are_answers(self):
        app = PublicClientApplication("demo-one", app="notes", broker=Broker(NOWHERE))
        account = {"local_account_id": "1", "username": "alice"}
        self.assertIsNone(app.acquire_token_silent(SCOPES, account))
        self.assertEqual(app.acquire_token_silent_with_error(SCOPES, account)["error"], "brokerNotAvailable")
        with self.assertRaisesRegex(ValueError, "openid"):
            app.acquire_token_silent(["openid"], account)


class KeyringTests(AdapterTests):
    def setUp(self):
        super().setUp()
        settings = {
            "PYTHON_KEYRING_BACKEND": "brokerclient.keyring.BrokerKeyring", "BROKER_SOCKET": self.scene.socket,
            "KEYRING_PROPERTY_APP": "notes", "KEYRING_PROPERTY_HOSTS": "pypi.example.org pypi.test:8443",
            "KEYRING_PROPERTY_SCOPES": "notes.read",
        }
        patch = mock.patch.dict(os.environ, settings)
        patch.start()
        self.addCleanup(patch.stop)
        keyring.core.init_backend()

    def test_named_hosts_have_the_token(self):
        for service in ("https://pypi.example.org/simple/", "pypi.example.org", "https://ada@pypi.test:8443/simple"):
            self.assertEqual(keyring.get_password(service, "ada"), self.token(), service)
        credential = keyring.get_credential("pypi.example.org", None)
        self.assertEqual((credential.username, credential.password), ("oauth2", self.token()))

    def test_nobody_else_has_it(self):
        for service in (
                "http://pypi.example.org/", "evil.example.org", "pypi.example.org:444", "https://pypi.example.org@evil.test",
                "https://pypi.example.org.evil.test", "system"):
            self.assertIsNone(keyring.get_password(service, "ada"), service)

    def test_errors_are_the_keyrings(self):
        os.environ["KEYRING_PROPERTY_APP"] = "empty"
        keyring.core.init_backend()
        with self.assertRaises(keyring.errors.KeyringError):
            keyring.get_password("pypi.example.org", "ada")
        with self.assertRaises(keyring.errors.PasswordSetError):
            keyring.set_password("pypi.example.org", "ada", "x")
