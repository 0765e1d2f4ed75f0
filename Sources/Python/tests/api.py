"""A resource server on loopback with responses that a test chooses."""
import base64
import contextlib
import http.server
import json
import threading


@contextlib.contextmanager
def served(*answers):
    """Gives `url` and `requests`. Each answer is a status and headers; after the last one every request succeeds."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.answers, server.requests = list(answers), []
    server.url = f"http://127.0.0.1:{server.server_port}/items"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.chunks() if "chunked" in self.headers.get("Transfer-Encoding", "") else self.rfile.read(
            int(self.headers.get("Content-Length", 0)))
        self.server.requests.append({**{k.lower(): v for k, v in self.headers.items()}, "body": body})
        status, headers = self.server.answers.pop(0) if self.server.answers else (200, {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_PUT = do_GET

    def chunks(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *words):
        pass


def payload(jwt):
    part = jwt.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
