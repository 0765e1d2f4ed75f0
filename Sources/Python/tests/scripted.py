"""A socket with responses that a test chooses, for cases that a real broker cannot produce on demand."""
import contextlib
import json
import os
import socket
import tempfile
import threading

TOKEN = {
    "accessToken": "secret-one", "tokenType": "Bearer", "expiresOn": 2000000000, "scopes": ["api"],
    "account": {"id": "1", "username": "alice"}, "unknownMember": 1,
}


@contextlib.contextmanager
def speaking(*connections):
    """Each connection is a function of `Peer`; yields the socket's path. A failure in it fails the test."""
    with tempfile.TemporaryDirectory(prefix="brokerclient-") as folder:
        path = os.path.join(folder, "s")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        failures = []

        def serve():
            try:
                for script in connections:
                    with Peer(listener) as peer:
                        script(peer)
            except Exception as failure:
                failures.append(failure)
            finally:
                listener.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield path
        thread.join(20)
        assert not thread.is_alive(), "the client did not connect as often as expected"
        if failures:
            raise failures[0]


class Peer:
    def __init__(self, listener):
        self.listener = listener
        self.connection, _ = listener.accept()
        self.lines = self.connection.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.lines.close()
        self.connection.close()

    def read(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def write(self, **message):
        self.connection.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def answer(self, result):
        request = self.read()
        self.write(id=request["id"], result=result)
        return request

    def refuse(self, kind, **data):
        request = self.read()
        self.write(id=request["id"], error={"code": -32000, "message": "No.", "data": {"kind": kind, **data}})
