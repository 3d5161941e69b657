"""Servers for the tests in Python, each on a private PostgreSQL unless a variable names another database."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from urllib.request import ProxyHandler, Request, build_opener

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["VERSIONGATE_BINARY"]
for name in [*os.environ]:
    if name == "DATABASE_URL" or name.startswith(("PG", "VERSIONGATE_")):
        del os.environ[name]
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
# Else nothing would end the servers.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


OPENER = build_opener(ProxyHandler({}))


def wait(condition, fault, seconds=300):
    """Until something is so. It takes far less, but on a busy machine."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise RuntimeError(fault)
        time.sleep(0.2)


class Server:
    """A process that is ready; `public` and `management` are HOST:PORT."""

    def __init__(self, state, *options, **variables):
        self.state, self.log = state, state.with_suffix(".log")
        command = [BINARY, "serve", "--state-dir", state, "--host", "127.0.0.1", "--port", "0"]
        command += ["--management-host", "127.0.0.1", "--management-port", "0", *options]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        pattern = re.compile(r"^versiongate is ready: public https?://(\S+) management http://(\S+)$", re.M)
        limit = time.monotonic() + 300
        while not (ready := pattern.search(self.log.read_text())):
            if not self.is_running or time.monotonic() > limit:
                self.end()
                raise RuntimeError(f"the server is not ready:\n{self.log.read_text()}")
            time.sleep(0.05)
        self.public, self.management = ready.groups()

    @property
    def is_running(self):
        return self.process.poll() is None

    def run(self, *arguments):
        """What the program prints, on the database of this server."""
        command = [BINARY, *arguments, "--state-dir", self.state]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    @property
    def database(self):
        """The address of the database, as the owner of its tables."""
        return self.run("database", "url").strip() + "&user=versiongate"

    def get(self, path):
        """A page."""
        with OPENER.open(f"http://{self.management}{path}", timeout=300) as response:
            return response.read().decode()

    def check(self, members):
        """The answer to a check."""
        request = Request(f"http://{self.public}/v1/check", json.dumps(members).encode(), {"Content-Type": "application/json"})
        with OPENER.open(request, timeout=300) as response:
            return json.load(response)

    def follow(self, database):
        """Waits until the pages have what is in the database."""
        revision = database.value("SELECT revision FROM policy_revision")
        wait(lambda: f'"revision">{revision}<' in self.get("/try"), "the server does not follow the policy")
        return revision

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=300)


@contextlib.contextmanager
def servers():
    """Gives a folder, and a function that starts a server by its name, options and variables. All end with the block."""
    started = []

    def serve(name, *options, **variables):
        started.append(Server(pathlib.Path(folder, name), *options, **variables))
        return started[-1]

    with tempfile.TemporaryDirectory(prefix="versiongate.") as folder:
        # PostgreSQL of a root user runs as another user, who must be able to pass through.
        os.chmod(folder, 0o711)
        try:
            yield pathlib.Path(folder), serve
            for server in started:
                if not server.is_running:
                    raise RuntimeError(f"a server ended:\n{server.log.read_text()[-4000:]}")
        finally:
            for server in started:
                server.end()
