"""Servers for the tests in Python, each on a private PostgreSQL unless a variable names another database."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("VERSIONGATE_BINARY")
# What says how the tests are run, and nothing to a server.
OF_TESTS = "VERSIONGATE_BINARY", "VERSIONGATE_SCENARIOS", "VERSIONGATE_SEED"
for name in [*os.environ]:
    if name == "DATABASE_URL" or name.startswith(("PG", "VERSIONGATE_")) and name not in OF_TESTS:
        del os.environ[name]
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
# Else nothing would end the servers.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def run(*command, **options):
    """What a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def wait(condition, fault, seconds=300, pause=0.05):
    """What a condition gives, as soon as that is something. It takes far less, but on a busy machine."""
    limit = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > limit:
            raise RuntimeError(fault)
        time.sleep(pause)
    return value


def ask(address, method, path, body=None, fields=None):
    """The status, the header fields and the body of an answer; address: HOST:PORT."""
    connection = http.client.HTTPConnection(address, timeout=300)
    try:
        connection.request(method, path, body, fields or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


class Server:
    """A process that is ready; `public` and `management` are HOST:PORT."""

    def __init__(self, state, *options, host="127.0.0.1", port="0", prefix=(), **variables):
        """prefix: a command that runs it."""
        self.state, self.log = state, state.with_suffix(".log")
        command = [*prefix, BINARY, "serve", "--state-dir", state, "--host", host, "--port", port]
        command += ["--management-host", host, "--management-port", "0", *options]
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
        return run(BINARY, *arguments, "--state-dir", self.state)

    @property
    def database(self):
        """The address of the database, as the owner of its tables."""
        return self.run("database", "url").strip() + "&user=versiongate"

    def get(self, path):
        """A page."""
        return ask(self.management, "GET", path)[2].decode()

    def check(self, members):
        """The answer to a check."""
        fields = {"Content-Type": "application/json"}
        return json.loads(ask(self.public, "POST", "/v1/check", json.dumps(members), fields)[2])

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
