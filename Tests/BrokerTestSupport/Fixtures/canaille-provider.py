#!/usr/bin/env python3
"""Canaille as an identity provider for tests: one process, everything in memory, on loopback.

It has the users alice and bob (password NAME-pw-1), the public client `native` and the confidential client `web`
(secret `web-secret`); anybody may register further clients. Redirect URIs are compared character by character: name
those of the test with --redirect-uri. Every request is printed as one line (`POST /oauth/token 200`), so that a test can
count them.
"""

import argparse
import datetime
import os

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from canaille import create_app  # noqa: E402
from canaille.app import models  # noqa: E402
from canaille.backends import Backend  # noqa: E402
from joserfc import jwk  # noqa: E402
from werkzeug.serving import WSGIRequestHandler, make_server  # noqa: E402

SCOPES = ["openid", "profile", "email", "groups"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--redirect-uri", action="append", default=[], help="that both clients may use")
    return parser.parse_args()


def make_people():
    for name in ("alice", "bob"):
        person = models.User(
            user_name=name,
            formatted_name=f"{name.title()} Example",
            given_name=name.title(),
            family_name="Example",
            emails=[f"{name}@example.org"],
            password=f"{name}-pw-1",
        )
        Backend.instance.save(person)


def make_client(name, redirect_uris, method, secret=None):
    client = models.Client(
        client_id=name,
        client_secret=secret,
        client_name=name,
        contacts=["admin@example.org"],
        redirect_uris=redirect_uris,
        post_logout_redirect_uris=redirect_uris,
        client_id_issued_at=datetime.datetime.now(datetime.timezone.utc),
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope=SCOPES,
        token_endpoint_auth_method=method,
    )
    Backend.instance.save(client)
    # Its tokens are for itself, as those of clients that administrators make on its pages.
    client.audience = [client]
    Backend.instance.save(client)


class Handler(WSGIRequestHandler):
    def log_request(self, code="-", size="-"):
        print(f"{self.command} {self.path.split('?')[0]} {int(code)}", flush=True)


def main():
    arguments = parse_arguments()
    key = jwk.RSAKey.generate_key(2048, auto_kid=True)
    app = create_app(
        {
            "SECRET_KEY": "only for tests",
            "SERVER_NAME": f"127.0.0.1:{arguments.port}",
            "PREFERRED_URL_SCHEME": "http",
            "CANAILLE": {"DATABASE": "memory"},
            "CANAILLE_OIDC": {
                "DYNAMIC_CLIENT_REGISTRATION_OPEN": True,
                "ACTIVE_JWKS": [key.as_dict(private=True)],
                "TRUSTED_DOMAINS": [],
            },
        }
    )
    with app.app_context(), Backend.instance.session():
        make_people()
        make_client("native", arguments.redirect_uri, "none")
        make_client("web", arguments.redirect_uri, "client_secret_basic", "web-secret")
    server = make_server("127.0.0.1", arguments.port, app, threaded=True, request_handler=Handler)
    print("ready", flush=True)
    server.serve_forever()


main()
