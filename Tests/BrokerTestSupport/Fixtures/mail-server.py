#!/usr/bin/python3
"""As much of IMAP and SMTP as a mail program needs to sign in with a provider's token, on loopback.

    mail-server.py USERINFO

USERINFO is the provider's address that knows good tokens. Says `listening IMAP-PORT SMTP-PORT`, then a line for each attempt:
the protocol, the mechanism, the user, and whether the token is good and theirs; and `mail FROM BYTES` for what was sent.
"""
import base64
import json
import socketserver
import sys
import threading
import urllib.error
import urllib.request

USERINFO = sys.argv[1]


def owner(token):
    request = urllib.request.Request(USERINFO, headers={"Authorization": "Bearer " + token})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer).get("preferred_username")
    except urllib.error.HTTPError:
        return None


def verdict(protocol, mechanism, response):
    """Reads the initial response of XOAUTH2 or of OAUTHBEARER (RFC 7628, section 3.1)."""
    parts = base64.b64decode(response).decode().split("\x01")
    fields = dict(part.split("=", 1) for part in parts if "=" in part and not part.startswith("n,"))
    user = fields.get("user") if mechanism == "XOAUTH2" else parts[0].split(",")[1].removeprefix("a=")
    token = fields.get("auth", "").removeprefix("Bearer ")
    is_good = owner(token) == user
    print(protocol, mechanism, user, "good" if is_good else "refused", flush=True)
    return is_good


class Lines(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def line(self):
        return self.rfile.readline().decode().rstrip("\r\n")


class IMAP(Lines):
    def handle(self):
        self.say("* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2 AUTH=OAUTHBEARER] ready")
        while line := self.line():
            tag, command, *rest = line.split(" ")
            command = command.upper()
            if command == "CAPABILITY":
                self.say("* CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2 AUTH=OAUTHBEARER")
            elif command == "AUTHENTICATE":
                if len(rest) < 2:
                    self.say("+ ")
                    rest.append(self.line())
                if not verdict("imap", rest[0].upper(), rest[1]):
                    self.say("+ " + base64.b64encode(b'{"status":"401","schemes":"bearer","scope":"mail"}').decode())
                    self.line()
                    self.say(tag + " NO [AUTHENTICATIONFAILED] refused")
                    continue
            elif command == "LIST":
                self.say('* LIST (\\HasNoChildren) "/" INBOX')
            elif command == "LOGOUT":
                self.say("* BYE")
                self.say(tag + " OK done")
                return
            self.say(tag + " OK done")


class SMTP(Lines):
    def handle(self):
        self.say("220 ready")
        sender = ""
        while line := self.line():
            command, *rest = line.split(" ")
            command = command.upper()
            if command == "EHLO":
                self.say("250-localhost")
                self.say("250 AUTH XOAUTH2 OAUTHBEARER")
            elif command == "AUTH":
                if len(rest) < 2:
                    self.say("334 ")
                    rest.append(self.line())
                if verdict("smtp", rest[0].upper(), rest[1]):
                    self.say("235 welcome")
                else:
                    self.say("334 " + base64.b64encode(b'{"status":"401","schemes":"bearer","scope":"mail"}').decode())
                    self.line()
                    self.say("535 refused")
            elif command == "MAIL":
                sender = rest[0].partition(":")[2]
                self.say("250 fine")
            elif command == "DATA":
                self.say("354 go on")
                size = 0
                while (text := self.line()) != ".":
                    size += len(text)
                print("mail", sender, size, flush=True)
                self.say("250 taken")
            elif command == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 fine")


socketserver.ThreadingTCPServer.daemon_threads = True
servers = [socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) for kind in (IMAP, SMTP)]
print("listening", *(server.server_address[1] for server in servers), flush=True)
for server in servers[1:]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
servers[0].serve_forever()
