"""Listeners for a browser; one has an app with a mounted gate, under a strict Content-Security-Policy."""

import contextlib
import json
import pathlib
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PLACE = pathlib.Path(__file__).resolve().parent
LIBRARY = PLACE.parents[1] / "Clients" / "JavaScript"
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; "
          "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types app")


class Listener(ThreadingHTTPServer):
    """Listens from its beginning to the end of the process."""

    daemon_threads = True

    def __init__(self, handler, certificate=None):
        """certificate: a file with its key too, for TLS."""
        super().__init__(("127.0.0.1", 0), handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    # Of each answer.
    fields = {}

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="text/plain"):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **self.fields}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)


class Server(Listener):
    """`messages` are what a check gives; `fails`: how it fails instead; `checks` how many came; `version` of the app."""

    def __init__(self):
        self.messages, self.fails, self.checks, self.version = [], None, 0, 1
        super().__init__(App)


class App(Handler):
    protocol_version = "HTTP/1.1"
    fields = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY}

    def do_GET(self):
        path = urlsplit(self.path).path
        name = path.removeprefix("/app/") or "index.html"
        if path == "/favicon.ico":
            return self.answer(204)
        file = LIBRARY / name if name in ("mount.js", "versiongate.js") else PLACE / "app" / name
        if not path.startswith("/app/") or "/" in name or not file.is_file():
            return self.answer(404)
        body = file.read_text(encoding="utf-8").replace("{version}", str(self.server.version))
        self.answer(200, body.encode(), TYPES[file.suffix])

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.checks += 1
        fails = self.server.fails
        if fails == "away":
            self.close_connection = True
            return self.connection.close()
        if fails:
            return self.answer(*fails, "application/json")
        self.answer(200, json.dumps({"messages": self.server.messages}).encode(), "application/json")


def until(seconds):
    """A time so many seconds from now, as a lockout has it."""
    return int(time.time()) + seconds
