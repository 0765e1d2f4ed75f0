"""A real broker and a real provider for one run of the tests: `scene.shared()`.

BROKERD and BROKER_DEV_IDP name the programs; by default those of .build/debug.
"""
import atexit
import contextlib
import functools
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from brokerclient import Broker
from brokerclient._requests import Request

ROOT = pathlib.Path(__file__).resolve().parents[3]
BROKERD = os.environ.get("BROKERD", ROOT / ".build/debug/brokerd")
PROVIDER = os.environ.get("BROKER_DEV_IDP", ROOT / ".build/debug/broker-dev-idp")
SCOPES = ["notes.read"]


class Scene:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="brokerclient-")
        self.socket = f"{self.folder}/broker.sock"
        self.provider = subprocess.Popen(
            [PROVIDER, "--stop-with-input"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.issuer = self.provider.stdout.readline().decode().split()[1]
        self.start()
        self.broker = Broker(self.socket)
        self.register("notes")
        self.sign_in("notes")

    def start(self):
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(
                [BROKERD, "--socket", self.socket, "--state-dir", f"{self.folder}/state",
                 "--allow-http-loopback"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={"PATH": os.environ["PATH"], "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder})
        probe = Broker(self.socket)
        while self.process.poll() is None:
            try:
                return probe.call(Request("broker.status", {}))
            except Exception:
                time.sleep(0.01)
        raise AssertionError(pathlib.Path(self.folder, "log").read_text())

    @contextlib.contextmanager
    def hanging(self):
        """Stops all threads of the broker, and continues it afterwards."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def close(self):
        self.stop()
        self.provider.stdin.close()
        self.provider.wait()
        self.provider.stdout.close()
        shutil.rmtree(self.folder)

    def register(self, app, client="demo-one", **more):
        params = {"name": app, "clientId": client, "authority": self.issuer, "scopes": SCOPES, **more}
        self.broker.call(Request("apps.register", params, idempotent=True))

    def sign_in(self, app, person="alice", **more):
        return self.broker.acquire_token_interactive(
            app, SCOPES, open_url=functools.partial(sign_in, person=person), **more)

    def status(self):
        return self.broker.call(Request("broker.status", {}))


@functools.lru_cache(None)
def shared():
    scene = Scene()
    owner = os.getpid()
    atexit.register(lambda: scene.close() if os.getpid() == owner else None)
    return scene


def sign_in(url, person="alice"):
    """The person's actions in the browser."""
    browser = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    page = browser.open(url).read().decode()
    form = {"username": person, "password": f"{person}-pw-1"}
    form["transaction"] = re.search(r'name="transaction" value="([^"]*)"', page).group(1)
    action = re.search(r'<form method="post" action="([^"]*)"', page).group(1)
    browser.open(action, urllib.parse.urlencode(form).encode()).read()


def connections():
    """The number of this process's connections to any broker."""
    count = 0
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                with socket.socket(fileno=os.dup(descriptor)) as copy:
                    count += copy.family == socket.AF_UNIX and copy.getpeername() != ""
    return count
