#!/usr/bin/python3
"""A git server for tests: `git http-backend` behind HTTP on loopback, for whoever has a provider's token.

    git-server.py ROOT USERINFO SCHEME

ROOT holds the repositories, USERINFO is the provider's address that knows good tokens, SCHEME (Basic or Bearer) is how this
server takes them. Says `listening PORT`, then a line for each request: its status, method, path and the user name it came with.
"""
import base64
import http.server
import os
import subprocess
import sys
import urllib.error
import urllib.request

ROOT, USERINFO, SCHEME = sys.argv[1:4]


def is_good(token):
    request = urllib.request.Request(USERINFO, headers={"Authorization": "Bearer " + token})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status == 200
    except urllib.error.HTTPError:
        return False


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, status, user="-"):
        print(status, self.command, self.path, user, flush=True)

    def credential(self):
        """User name and token of the request, in the scheme that is taken here."""
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme != SCHEME:
            return None, None
        if scheme == "Bearer":
            return "bearer", value
        user, _, password = base64.b64decode(value).decode().partition(":")
        return user, password

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def serve(self):
        body = self.body()
        user, token = self.credential()
        if not token or not is_good(token):
            self.note(401, user)
            self.send_response(401)
            self.send_header("WWW-Authenticate", SCHEME + ' realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environment = dict(
            os.environ, GIT_PROJECT_ROOT=ROOT, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path, QUERY_STRING=query,
            REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get("Content-Type", ""), REMOTE_USER=user,
            CONTENT_LENGTH=str(len(body)), REMOTE_ADDR="127.0.0.1",
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
            GIT_PROTOCOL=self.headers.get("Git-Protocol", ""))
        answer = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        self.note(status, user)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = serve


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("listening", server.server_address[1], flush=True)
server.serve_forever()
