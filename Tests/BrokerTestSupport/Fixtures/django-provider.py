#!/usr/bin/env python3
"""django-oauth-toolkit as an identity provider for tests: one process, a database of its own, on loopback.

It has the users alice and bob (password NAME-pw-1), the public client `native` and the confidential client `web`
(secret `web-secret`); anybody may register further clients. Sign-in is Django's login view, consent is the package's
own page, and a page where new users sign up belongs to this program. Every request is printed as one line
(`POST /o/token/ 200`), so that a test can count them.
"""

import argparse
import contextlib
import os
import socketserver
import ssl
import sys
import wsgiref.simple_server

# The package refuses plain http unless told; a test on loopback is the case it means.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"

SIGN_IN_PAGE = """<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in</h1>
<form method="post">{% csrf_token %}{{ form.errors }}<input type="hidden" name="next" value="{{ next }}">
<label>User name <input name="username" id="username"></label>
<label>Password <input name="password" id="password" type="password"></label>
<button id="sign-in">Sign in</button></form></html>"""

SIGN_UP_PAGE = """<!doctype html><html lang="en"><title>Sign up</title><h1>Sign up</h1>
<form method="post">{% csrf_token %}<input type="hidden" name="next" value="{{ next }}">
<label>User name <input name="username"></label>
<label>Password <input name="password" type="password"></label>
<button>Sign up</button></form></html>"""

APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "oauth2_provider",
]

# Ports are left out: RFC 8252, section 7.3 lets a native app choose one when it asks.
REDIRECT_URIS = "http://127.0.0.1/ http://127.0.0.1/callback http://[::1]/ http://[::1]/callback"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--directory", required=True, help="where the database goes")
    parser.add_argument("--certificate", help="PEM; with --key, the provider speaks TLS")
    parser.add_argument("--key")
    parser.add_argument("--access-lifetime", type=int, default=3600, metavar="SECONDS")
    parser.add_argument("--refresh-lifetime", type=int, default=1209600, metavar="SECONDS")
    parser.add_argument("--grace", type=int, default=0, metavar="SECONDS", help="a spent refresh token still works")
    parser.add_argument("--no-rotation", action="store_true", help="refresh tokens stay the same")
    parser.add_argument("--no-reuse-protection", action="store_true", help="a reused one does not end its family")
    parser.add_argument("--redirect-uri", action="append", default=[], help="one more that both clients may use")
    return parser.parse_args()


def signing_key():
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def configure(options, base):
    from django.conf import settings

    settings.configure(
        DEBUG=False,
        SECRET_KEY="only for tests " * 4,
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        LOGIN_URL="/login/",
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        # Quick, because nothing here has to survive.
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": os.path.join(options.directory, "django.sqlite"),
                "OPTIONS": {
                    "timeout": 20,
                    "init_command": "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL;",
                    "transaction_mode": "IMMEDIATE",
                },
            }
        },
        INSTALLED_APPS=APPS,
        # Creates the tables directly: replaying the migrations takes half of a start.
        MIGRATION_MODULES={app.split(".")[-1]: None for app in APPS},
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [
                        (
                            "django.template.loaders.locmem.Loader",
                            {"registration/login.html": SIGN_IN_PAGE, "sign-up.html": SIGN_UP_PAGE},
                        ),
                        "django.template.loaders.app_directories.Loader",
                    ],
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ],
                },
            }
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": base + "/o",
            "OIDC_RSA_PRIVATE_KEY": signing_key(),
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
            "OIDC_RP_INITIATED_REGISTRATION_ENABLED": True,
            "OIDC_RP_INITIATED_REGISTRATION_URL": "/sign-up/",
            "DCR_ENABLED": True,
            "DCR_REGISTRATION_PERMISSION_CLASSES": ("oauth2_provider.dcr.AllowAllDCRPermission",),
            "OAUTH2_VALIDATOR_CLASS": __name__ + ".Validator",
            "SCOPES": {
                "openid": "Who you are",
                "profile": "Your name",
                "email": "Your e-mail address",
                "offline_access": "Access while you are away",
                "api": "The sample API",
            },
            "DEFAULT_SCOPES": ["openid"],
            "ALLOWED_SCHEMES": ["http", "https"],
            "PKCE_REQUIRED": True,
            "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
            "REQUEST_APPROVAL_PROMPT": "auto",
            "ACCESS_TOKEN_EXPIRE_SECONDS": options.access_lifetime,
            "ID_TOKEN_EXPIRE_SECONDS": 3600,
            "REFRESH_TOKEN_EXPIRE_SECONDS": options.refresh_lifetime,
            "ROTATE_REFRESH_TOKEN": not options.no_rotation,
            "REFRESH_TOKEN_REUSE_PROTECTION": not options.no_reuse_protection,
            "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": options.grace,
        },
    )
    import django

    django.setup()


def __getattr__(name):
    """What the settings name in this module, but can only be made once Django is configured."""
    if name == "urlpatterns":
        from django.contrib.auth.views import LoginView
        from django.urls import include, path

        return [
            path("login/", LoginView.as_view()),
            path("sign-up/", sign_up),
            path("o/", include("oauth2_provider.urls")),
        ]
    if name == "Validator":
        from oauth2_provider.oauth2_validators import OAuth2Validator

        class Validator(OAuth2Validator):
            oidc_claim_scope = OAuth2Validator.oidc_claim_scope | {
                "name": "profile",
                "preferred_username": "profile",
                "email": "email",
            }

            def get_additional_claims(self, request):
                user = request.user
                return {"name": user.get_full_name(), "preferred_username": user.username, "email": user.email}

            # prompt=none: the view itself answers login_required when there is no session.
            def validate_silent_login(self, request):
                return True

            def validate_silent_authorization(self, request):
                return True

        return Validator
    raise AttributeError(name)


def sign_up(request):
    """Makes the user, and goes on to what `prompt=create` came with."""
    from django.contrib.auth import login
    from django.contrib.auth.models import User
    from django.shortcuts import redirect, render

    if request.method != "POST":
        return render(request, "sign-up.html", {"next": request.GET["next"]})
    login(request, User.objects.create_user(request.POST["username"], password=request.POST["password"]))
    return redirect(request.POST["next"])


def choose_algorithm(sender, instance, **_):
    """A client that registered itself has no signature algorithm, and would get no ID tokens."""
    instance.algorithm = instance.algorithm or "RS256"


def fill_database(options):
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db.models.signals import pre_save
    from oauth2_provider.models import get_application_model

    pre_save.connect(choose_algorithm, sender=get_application_model())
    call_command("migrate", verbosity=0, run_syncdb=True)
    for name in ("alice", "bob"):
        User.objects.create_user(
            name, f"{name}@example.org", f"{name}-pw-1", first_name=name.title(), last_name="Example"
        )
    both = {
        "authorization_grant_type": "authorization-code",
        "redirect_uris": " ".join([REDIRECT_URIS, *options.redirect_uri]),
        "post_logout_redirect_uris": REDIRECT_URIS,
        "algorithm": "RS256",
    }
    applications = get_application_model().objects
    applications.create(client_id="native", name="Native app", client_type="public", **both)
    applications.create(
        client_id="web", client_secret="web-secret", name="Web app", client_type="confidential", **both
    )


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 256

    def shutdown_request(self, request):
        """Ends TLS before the connection: an answer without a length is cut off to curl otherwise (OpenSSL 3.5)."""
        if isinstance(request, ssl.SSLSocket):
            with contextlib.suppress(OSError):
                request.settimeout(5)
                request.unwrap()
        super().shutdown_request(request)


class RequestHandler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, format, *arguments):
        """The path without its query: a log shows no code and no state."""
        print(self.command, self.path.split("?")[0], arguments[1], flush=True)


def main():
    options = parse_arguments()
    scheme = "https" if options.certificate else "http"
    configure(options, f"{scheme}://127.0.0.1:{options.port}")
    fill_database(options)

    from django.core.wsgi import get_wsgi_application

    server = wsgiref.simple_server.make_server(
        "127.0.0.1", options.port, get_wsgi_application(), Server, RequestHandler
    )
    if options.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.certificate, options.key)
        # The handshake belongs to the connection's thread, or one that stalls would stop all.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
