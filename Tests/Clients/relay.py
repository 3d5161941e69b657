"""The relay between a library and a server: it keeps what was asked, and makes the faults that no server makes."""
import contextlib
import json
import shutil
import socket
import socketserver
import ssl
import struct
import threading
import time
import zlib

from bad_networks import CHUNKED, FAULTS, NEWS, TRUSTED
from servers import run

# Two checks at the same time are begun in this time.
SECONDS_OF_ANSWER = 0.5
LENGTH, CHUNKS, UNTIL_CLOSED = 0, 1, 2
# A library that has given up closes its connection. Far more than that takes, on a busy machine too.
SECONDS_TO_CLOSE = 120
# No library says more of the device than this.
AGENTS = ("versiongate", "VersionGateClient", "node")
# An answer without an end comes at some 30 MB/s. So much of it is taken by a library that reads on until its time is up.
SECONDS_BETWEEN_POURS = 0.002
MOST_POURED = 16 << 20


class Relay(socketserver.ThreadingTCPServer):
    """Takes what the libraries ask, and answers as the scenario says."""
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, server, path="", tls=None, first_answer=None, framing=None):
        """Answers of policies come from `server`, if there is one. What is asked must be put behind `path`."""
        self.tls = tls
        self.framing = framing
        super().__init__(("127.0.0.1", 0), Connection)
        self.server = server
        self.path = path
        self.first_answer = first_answer or {"fails": "unreachable"}
        self.port = self.server_address[1]
        self.address = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}{path}"
        self.requests, self.complaints, self.open = [], [], []
        # By the address of the client, for each connection: whether what it asks has been taken.
        self.coming = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.begin({"steps": []})

    def begin(self, scenario):
        """A scenario begins. A question that a library gave up in the one before, and that comes late, is none of its own."""
        self.answer, self.delay = {"fails": "unreachable"}, 0
        with contextlib.suppress(OSError), socket.create_connection(self.server_address, SECONDS_TO_CLOSE) as last:
            # It is accepted behind all others, and then reset.
            last.shutdown(socket.SHUT_WR)
            while last.recv(1_024):
                pass
        for client_address, taken in list(self.coming.items()):
            taken.wait(SECONDS_TO_CLOSE)
            del self.coming[client_address]
        self.answer, self.requests, self.complaints = self.first_answer, [], []
        self.delay = SECONDS_OF_ANSWER if any("together" in s.get("check", {}) for s in scenario["steps"]) else 0
        self.open = []

    def take_requests(self):
        """What was asked since the last time, once all connections have ended: a library leaves none open."""
        for handler in self.open:
            handler.join(SECONDS_TO_CLOSE)
            if handler.is_alive():
                self.complaints.append("a connection stays open")
        requests, self.requests, self.open = self.requests, [], []
        return requests

    def process_request(self, request, client_address):
        self.coming[client_address] = threading.Event()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        super().process_request_thread(request, client_address)
        self.take(client_address)

    def take(self, client_address):
        """What came on a connection has been taken, if anything did."""
        if taken := self.coming.get(client_address):
            taken.set()

    def get_request(self):
        connection, address = super().get_request()
        if self.tls:
            connection = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request, client_address):
        """A library that has given up is no fault."""


class Connection(socketserver.StreamRequestHandler):
    """One request of a library: the relay closes every connection after its answer."""
    disable_nagle_algorithm = True

    def handle(self):
        relay = self.server
        # A client may connect before it has something to ask.
        request, *fields = self.head()
        answer = relay.answer
        # The JDK leaves chunks that do not end to the collector of garbage.
        if CHUNKED not in FAULTS.get(answer.get("fails"), ("",))[0]:
            relay.open.append(threading.current_thread())
        fields = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
        body = self.rfile.read(int(fields.get("content-length", 0))) or b"null"
        relay.requests.append(json.loads(body))
        relay.take(self.client_address)
        self.judge(request, fields)
        if answer.get("fails") == "unreachable":
            self.reset()
            return
        time.sleep(relay.delay)
        if "messages" in answer and relay.server:
            self.write(*relay.server.ask(body), date=answer.get("date"))
        elif "messages" in answer:
            self.write(200, json.dumps({"messages": answer["messages"]}).encode(), date=answer.get("date"))
        elif "status" in answer:
            text = answer.get("body", "").encode(answer.get("encoding", "utf-8")) * answer.get("repeat", 1)
            self.write(answer["status"], text.ljust(answer.get("bytes", 0)), answer.get("headers"), answer.get("date"))
        else:
            self.fail(*FAULTS[answer["fails"]])

    def judge(self, request, fields):
        """What else a question must be like."""
        right = {"content-type": "application/json", "accept-encoding": "identity"}
        wrong = {name: fields.get(name) for name, value in right.items() if fields.get(name) != value}
        wrong |= {name: fields[name] for name in ("cookie", "authorization", "proxy-authorization", "referer") if name in fields}
        if fields.get("user-agent", "") not in AGENTS:
            wrong["user-agent"] = fields.get("user-agent")
        if wrong or request != f"POST {self.server.path}/v1/check HTTP/1.1":
            self.server.complaints.append(f"asked by {request} with {wrong}")

    def fail(self, text, then, part=""):
        part = part.encode()
        self.wfile.write(text.replace("{port}", str(self.server.port)).encode("latin1"))
        poured = 0
        if then == "reset":
            self.reset()
        elif then == "stall":
            self.rfile.read(1)
        try:
            while then in ("drip", "pour"):
                self.wfile.write(part)
                poured += len(part)
                time.sleep(0.02 if then == "drip" else SECONDS_BETWEEN_POURS)
        except OSError:
            if then == "pour" and poured > MOST_POURED:
                self.server.complaints.append(f"{poured} bytes were taken of an answer without an end")

    def reset(self):
        """Ends the connection by a reset instead of an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def head(self):
        lines = []
        while (line := self.rfile.readline(65_536)) not in (b"\r\n", b""):
            lines.append(line.decode().strip())
        return lines or [""]

    def write(self, status, body, headers=None, date=None):
        """Writes an answer by one of the three ways of HTTP to say where its body ends; if none is set, the body chooses."""
        lines = [f"HTTP/1.1 {status} Answer", "Content-Type: application/json", "Set-Cookie: a=b", "Connection: close"]
        lines += [f"Date: {date}"] if date else []
        for name, value in (headers or {}).items():
            lines += [f"{name}: {one}" for one in ([value] if isinstance(value, str) else value)]
        framing = self.server.framing
        if framing is None:
            # Java waits for chunks until they are JSON, and then does not know the status.
            framing = zlib.crc32(body) % 3 if status == 200 and len(body) < 10_000 and is_json(body) else LENGTH
        lines += [[f"Content-Length: {len(body)}"], ["Transfer-Encoding: chunked"], []][framing]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode())
        if framing != CHUNKS:
            self.wfile.write(body)
            return
        # Characters are cut.
        for part in [*(body[at:at + 7] for at in range(0, len(body), 7)), b""]:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))


class Addresses:
    """Listeners that give no answer, or give it with a certificate: what a check at the address of each gives."""

    def __init__(self, folder):
        self.environment = {"NODE_EXTRA_CA_CERTS": f"{folder}/authority.pem"}
        self.listeners = []
        for name in ("authority", "stranger"):
            openssl(folder, f"req -x509 -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.pem -days 2 -subj /CN={name}")
        if keytool := shutil.which("keytool"):
            run(keytool, "-importcert", "-noprompt", "-alias", "a", "-file", "authority.pem", "-keystore", "trust.p12",
                "-storetype", "PKCS12", "-storepass", "password", cwd=folder)
            self.environment["JDK_JAVA_OPTIONS"] = (
                f"-Djavax.net.ssl.trustStore={folder}/trust.p12 -Djavax.net.ssl.trustStorePassword=password")
        self.all = {
            TRUSTED[0]: (self.secure(folder, "authority", 2, "IP:127.0.0.1"), ["news"]),
            TRUSTED[1]: (self.secure(folder, "authority", 2, "IP:127.0.0.1", CHUNKS), ["news"]),
            "a certificate that has expired": (self.secure(folder, "authority", -1, "IP:127.0.0.1"), ["blocked"]),
            "a certificate of another name": (self.secure(folder, "authority", 2, "DNS:gate.example.com"), ["blocked"]),
            "a certificate that nobody knows": (self.secure(folder, "stranger", 2, "IP:127.0.0.1"), ["blocked"]),
            "no TLS": (self.listening(accepts=True).replace("http", "https"), ["blocked"]),
            "no connection": (self.listening(accepts=False), ["blocked"]),
            "nobody there": (self.closed(), ["blocked"]),
            "no such name": ("http://gate.invalid", ["blocked"]),
        }

    def secure(self, folder, authority, days, name, framing=LENGTH):
        with open(f"{folder}/names", "w", encoding="utf-8") as names:
            names.write(f"subjectAltName={name}\n")
        openssl(folder, "req -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=server")
        openssl(folder, f"x509 -req -in request -CA {authority}.pem -CAkey {authority}.key -set_serial {len(self.listeners) + 1} "
                        f"-days {days} -extfile names -out certificate")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(f"{folder}/certificate", f"{folder}/key")
        self.listeners.append(Relay(None, tls=tls, first_answer={"status": 200, "body": NEWS}, framing=framing))
        return self.listeners[-1].address

    def listening(self, accepts):
        """A listener that stays silent; or one whose queue is full, so that nobody else gets through to it."""
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(64 if accepts else 0)
        self.listeners.append(listener)
        for _ in range(0 if accepts else 8):
            waiting = socket.socket()
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
            self.listeners.append(waiting)
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    @staticmethod
    def closed():
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            return f"http://127.0.0.1:{listener.getsockname()[1]}"


def is_json(body):
    try:
        return json.loads(body) is not None
    except ValueError:
        return False


def openssl(folder, arguments):
    run("openssl", *arguments.split(), cwd=folder)
