#!/usr/bin/env python3
"""Signs in to the Entra flavor of the development provider with Microsoft's own `msal` library, and keeps its cache.

    msal-client.py [OPTION...] ORIGIN TENANT CLIENT CACHE code NAME PASSWORD SCOPE...
        the authorization code flow with PKCE, filling in the provider's forms as that person
    msal-client.py [OPTION...] ORIGIN TENANT CLIENT CACHE device NAME SCOPE...
        the device flow; the provider is told over /control/device that NAME approves
    msal-client.py [OPTION...] ORIGIN TENANT CLIENT CACHE silent SCOPE...
        a token from the cache, or by the refresh token when the cached one lives less than five minutes

    --claims JSON          what a challenge asked for
    --capability NAME      what the client can deal with, such as cp1
    --deny                 with device: NAME declines
    --instance-discovery   msal asks which hosts are one cloud, as it does of itself; the provider answers in the place
                           of login.microsoftonline.com
    --host HOST            an authority at this host instead of ORIGIN's

ORIGIN is http://127.0.0.1:PORT, TENANT a tenant's id or domain, common, organizations or consumers. CACHE is a file in
the unified cache schema (`SerializableTokenCache`), read if it is there and written at the end: what an import takes.
Prints one JSON object: msal's answer without the tokens themselves, and the cache's accounts. Ends with 1 when msal
reported an error. It needs the interpreter of the environment that `make-venv` makes.

msal takes https authorities only. The provider speaks plain http on loopback, so the HTTP client handed to msal turns
one into the other, and back in the provider's answers; nothing else about the exchange is changed.
"""
import argparse
import html.parser
import json
import os
import sys
import urllib.parse

import msal
import requests

REDIRECT = "http://localhost/"
CENTRAL = "https://login.microsoftonline.com"


class LoopbackClient:
    """What msal asks of an HTTP client: `get`, `post` and `close`."""

    class Answer:
        def __init__(self, response, text):
            self.status_code, self.headers, self.text = response.status_code, response.headers, text
            self.raise_for_status = response.raise_for_status

    def __init__(self, origin):
        self.plain, self.secure = origin, origin.replace("http://", "https://")
        self.session = requests.Session()
        self.session.trust_env = False

    def send(self, method, url, **more):
        more.pop("timeout", None)
        if url.startswith(CENTRAL):
            # Asked about the central host itself: the hosts of its cloud.
            asked = more["params"]["authorization_endpoint"]
            more["params"] = {**more["params"], "authorization_endpoint": asked.replace(CENTRAL, self.plain)}
            url = url.replace(CENTRAL, self.plain)
        response = self.session.request(method, url.replace(self.secure, self.plain), timeout=30, **more)
        return self.Answer(response, response.text.replace(self.plain, self.secure))

    def get(self, url, **more):
        return self.send("GET", url, **more)

    def post(self, url, **more):
        return self.send("POST", url, **more)

    def close(self):
        self.session.close()


class FirstForm(html.parser.HTMLParser):
    """The first form of a page: its action, and what a person's browser would send."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields, self.ended = None, {}, False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = attributes["action"]
        elif self.action is not None and not self.ended and tag in ("input", "button") and "name" in attributes:
            # The first of several buttons of a name is pressed; all of several boxes are checked.
            name, value = attributes["name"], attributes.get("value", "")
            if attributes.get("type") == "checkbox":
                self.fields.setdefault(name, []).append(value)
            else:
                self.fields.setdefault(name, value)

    def handle_endtag(self, tag):
        self.ended = self.ended or (tag == "form" and self.action is not None)


def visit(url, name, password):
    """Follows the provider's pages to the redirect, and gives its parameters."""
    browser = requests.Session()
    browser.trust_env = False
    response = browser.get(url, allow_redirects=False)
    for _ in range(8):
        if "location" in response.headers:
            query = urllib.parse.urlsplit(response.headers["location"]).query
            return dict(urllib.parse.parse_qsl(query))
        form = FirstForm(response.text)
        if "password" in form.fields:
            form.fields.update(username=name, password=password)
        response = browser.post(form.action, data=form.fields, allow_redirects=False)
    sys.exit("The provider's pages did not come to an end.")


def sign_in(app, options, name, password, *scopes):
    flow = app.initiate_auth_code_flow(
        list(scopes), redirect_uri=REDIRECT, login_hint=name, claims_challenge=options.claims)
    answer = visit(flow["auth_uri"].replace("https://", "http://", 1), name, password)
    return app.acquire_token_by_auth_code_flow(flow, answer)


def sign_in_device(app, options, name, *scopes):
    flow = app.initiate_device_flow(list(scopes))
    if "user_code" not in flow:
        return flow
    order = {"userCode": flow["user_code"], "decision": "deny" if options.deny else "approve", "username": name}
    with requests.Session() as session:
        session.trust_env = False
        session.post(options.origin + "/control/device", json=order, timeout=30).raise_for_status()
    return app.acquire_token_by_device_flow(flow, claims_challenge=options.claims)


def silent(app, options, *scopes):
    accounts = app.get_accounts()
    if not accounts:
        sys.exit("The cache holds no account.")
    found = app.acquire_token_silent_with_error(list(scopes), account=accounts[0], claims_challenge=options.claims)
    return found or {"error": "nothing cached"}


def application(options, cache):
    origin = f"https://{options.host}" if options.host else options.origin.replace("http://", "https://")
    return msal.PublicClientApplication(
        options.client, authority=f"{origin}/{options.tenant}", token_cache=cache,
        client_capabilities=options.capability or None, instance_discovery=options.instance_discovery,
        http_client=LoopbackClient(options.origin))


def parsed(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--claims")
    parser.add_argument("--capability", action="append")
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--instance-discovery", action="store_true")
    parser.add_argument("--host")
    for name in ("origin", "tenant", "client", "cache", "command"):
        parser.add_argument(name)
    parser.add_argument("rest", nargs="*")
    return parser.parse_args(arguments)


def main(options):
    cache = msal.SerializableTokenCache()
    if os.path.exists(options.cache):
        with open(options.cache, encoding="utf-8") as stored:
            cache.deserialize(stored.read())
    try:
        app = application(options, cache)
    except ValueError as refusal:
        print(json.dumps({"error": "refused by msal", "error_description": str(refusal)}))
        return 1
    command = {"code": sign_in, "device": sign_in_device, "silent": silent}[options.command]
    result = command(app, options, *options.rest) or {}
    with os.fdopen(
            os.open(options.cache, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stored:
        stored.write(cache.serialize())
    shown = {key: value for key, value in result.items() if key not in ("access_token", "refresh_token", "id_token")}
    shown["accounts"] = app.get_accounts()
    print(json.dumps(shown, indent=1, default=str))
    return 0 if "access_token" in result else 1


if __name__ == "__main__":
    sys.exit(main(parsed(sys.argv[1:])))
