#!/usr/bin/env python3
"""Runs the scenarios of the client libraries against a real server.

against_server.py VERSIONGATE NAME=PROGRAM... -- SCENARIOS...

VERSIONGATE is the built program. Each NAME=PROGRAM is the command of a library's program that runs one file of
scenarios. For every answer with messages this program applies a policy
that sends them, waits until the server serves it, and checks that it does send them. The server signs lockouts, and
scenarios of this program's own hold the libraries to its signatures. Between the libraries and the server
is a relay, which keeps what was asked and makes the faults that no server makes: answers with other contents, dates or
encodings, answers that are cut, resets, stalls, redirects. Exits with 1 if a scenario fails, a library runs less than all of them, or a server sends other
messages.

A library's program gets two arguments, the server's address and the file. It writes lines of JSON to standard output, and
after most of them waits for a line on standard input:

{"scenario": "name", "app": {...}}
    A scenario begins. The server is not reachable until the first answer. Waits for any line.
{"app": {...}}
    A "start" changes members of the app; all of them, as they are now. Waits for any line.
{"answer": {...}}
    An "answer" step; from the line on, the listener answers so. Waits for any line.
{"checked": {"asked": true}}
    After each check: whether the library has called its transport. Waits for {"requests": [...]}, the bodies of all requests
    since the last such line (null without a body), those to the address of a redirect too.
{"result": "name", "ok": true}, {"result": "name", "ok": false, "step": 3, "why": "..."}
    A scenario ends, at the end or at a step that differs; the steps behind that are not run.
{"done": 17}
    The end of the file, after so many scenarios.

The program compares the number of requests with "asks", and the last one with "sends"; while the server is unreachable, it
takes what it gave to its transport. It begins two checks at the same time before it waits; the listener takes at least 100 ms
for an answer, and closes the connection after each. Answers that a real policy can give are objects, all others text ("body").
The program ends with 0 if all scenarios were right, else 1.
"""
import concurrent.futures
import gzip
import http.client
import json
import os
import shlex
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

SECONDS_TO_START = 60
SECONDS_TO_SERVE = 20
# Two checks at the same time are begun in this time.
SECONDS_OF_ANSWER = 0.1
# When scenarios begin by the clock that they give to the libraries.
START_OF_SCENARIOS = 1_790_000_000
SIGNATURE_FIELDS = ["Content-Digest", "Policy-Bundle", "Signature-Input", "Signature"]


class Failure(Exception):
    pass


def yaml(value):
    """A value as YAML; JSON is a part of it."""
    return json.dumps(value, ensure_ascii=False)


def policy(app, messages):
    """A policy that answers an app with these messages."""
    bundle, platform = app["bundle"], app.get("platform", "ios")
    targets = sorted({m["target"] for m in messages if "target" in m})
    releases = [
        {"version": t, "platform": platform, "live_at": "2020-01-01T00:00:00Z"} for t in targets
    ]
    lines = ["versiongate: 1", "apps:", f"  {yaml(bundle)}: " + yaml({"name": "Doto", "releases": releases}), "rules:"]
    for position, message in enumerate(messages):
        rule = {
            "bundle": bundle,
            "enabled": True,
            "position": position,
            "title": message["title"],
            "text": message["text"],
        }
        for name in ("link", "target", "shows"):
            if name in message:
                rule[name] = message[name]
        if "remind" in message:
            rule["remind"] = f"{message['remind']} seconds"
        if message.get("skip"):
            rule["skippable"] = True
        if message.get("lockout"):
            rule["lockout"] = rule["lockout_without_update"] = True
        lines.append(f"  {yaml(message['id'])}: {yaml(rule)}")
    return "\n".join(lines + ([] if messages else ["  {}"]) + ["..."]) + "\n"


def public_key(program, path):
    """Makes a key that signs lockouts; its public half."""
    made = subprocess.run([program, "lockout-key", "new", path, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(made.stdout)["public_key"]


def signed_scenarios(folder, own, stranger):
    """A file of scenarios in which apps have pinned the key of the server, or others, and their clock is right."""
    lockout = {"id": "blocked", "title": "Blocked", "text": "Please update.", "link": "https://example.com/update"}
    news = {"id": "news", "title": "News", "text": "Lists."}
    answer = {"answer": {"messages": [{**lockout, "lockout": True}, news]}}
    today = {"advance": int(time.time()) - START_OF_SCENARIOS}

    def check(shows):
        return {"check": {}, "asks": True, "shows": shows}

    def scenario(name, keys, steps, bundle="com.example.doto"):
        app = {"bundle": bundle, "version": "1.0", "build": "42", "platform": "ios", "publicKeys": keys}
        return {"name": name, "rule": "reads", "app": app, "steps": [today, answer, {"start": {}}, *steps]}

    away = [{"answer": {"fails": "unreachable"}}, {"start": {}}]
    scenarios = [
        scenario("A lockout that the server signs locks, and is kept", [own], [check(["blocked"]), *away, check(["blocked"])]),
        scenario("The server's key may be the second", [stranger, own], [check(["blocked"])]),
        scenario("The case of the app's bundle does not count", [own], [check(["blocked"])], "COM.Example.Doto"),
        scenario("A lockout that the server signs by another key is a message, and not kept", [stranger],
                 [check(["blocked", "news"]), *away, check([])]),
        scenario("A lockout that the server signed nine days ago is a message", [own],
                 [{"advance": 9 * 86_400}, check(["blocked", "news"])]),
    ]
    path = os.path.join(folder, "signed.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenarios, file)
    return path


class Server:
    """A versiongate server with a private PostgreSQL, which signs lockouts."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.environment = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"}
        self.key = os.path.join(folder, "lockout-key.pem")
        self.public_key = public_key(program, self.key)
        self.log = open(os.path.join(folder, "server.log"), "w+b")
        self.process = subprocess.Popen(
            [program, "serve", "--state-dir", os.path.join(folder, "state"), "--host", "127.0.0.1", "--port", "0",
             "--management-host", "127.0.0.1", "--management-port", "0", "--lockout-key", self.key],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=self.environment)
        self.address = self.printed_address()
        self.environment["DATABASE_URL"] = subprocess.run(
            [program, "database", "url", "--state-dir", os.path.join(folder, "state")],
            check=True, capture_output=True, text=True, env=self.environment).stdout.strip()

    def printed_address(self):
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline and self.process.poll() is None:
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                for word in log.read().split():
                    if word.startswith("http://127.0.0.1:"):
                        return urllib.parse.urlsplit(word.rstrip("/.,"))
            time.sleep(0.05)
        raise Failure(f"the server did not start; its log is {self.log.name}")

    def ask(self, body):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=10)
        try:
            connection.request("POST", "/v1/check", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            signature = {name: response.headers[name] for name in SIGNATURE_FIELDS if name in response.headers}
            return response.status, response.read(), signature
        finally:
            connection.close()

    def send(self, app, messages):
        """Applies a policy, and waits until the server sends these messages."""
        path = os.path.join(self.folder, "policy.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(policy(app, messages))
        applied = subprocess.run(
            [self.program, "apply", path, "--yes", "--removals"], capture_output=True, text=True, env=self.environment,
            stdin=subprocess.DEVNULL, check=False)
        if applied.returncode:
            raise Failure(f"apply refused: {applied.stderr}\n{policy(app, messages)}")
        question = {k: v for k, v in app.items() if k not in ("attributes", "maximumAge", "publicKeys") and v is not None}
        question.update(app.get("attributes") or {})
        body = json.dumps(question).encode()
        deadline = time.monotonic() + SECONDS_TO_SERVE
        while True:
            status, answer, _ = self.ask(body)
            if status == 200 and json.loads(answer) == {"messages": messages}:
                return
            if time.monotonic() > deadline:
                raise Failure(f"the server answers {status} {answer.decode()} to {body.decode()} instead of {messages}")
            time.sleep(0.005)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Relay(socketserver.ThreadingTCPServer):
    """Takes what the libraries ask, and answers as the scenario says."""
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, server):
        super().__init__(("127.0.0.1", 0), Connection)
        self.server = server
        self.answer = {"fails": "unreachable"}
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A library that has given up is no fault."""


class Connection(socketserver.StreamRequestHandler):
    """One request of a library: the relay closes every connection after its answer."""

    def handle(self):
        relay = self.server
        # A client may connect before it has something to ask.
        request, *fields = self.head()
        answer = relay.answer
        if answer.get("fails") == "unreachable":
            self.reset()
            return
        lengths = [int(f.split(":")[1]) for f in fields if f.lower().startswith("content-length:")]
        body = self.rfile.read(lengths[0]) if lengths else b"null"
        relay.requests.append(json.loads(body))
        time.sleep(SECONDS_OF_ANSWER)
        if not request.startswith("POST /v1/check "):
            self.write(200, b'{"messages":[]}')
        elif "messages" in answer:
            self.write(*relay.server.ask(body), date=answer.get("date"))
        elif "status" in answer:
            text = answer.get("body", "").encode(answer.get("encoding", "utf-8")) * answer.get("repeat", 1)
            self.write(answer["status"], text.ljust(answer.get("bytes", 0)), answer.get("headers"), answer.get("date"))
        elif answer["fails"] == "redirect":
            self.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        elif answer["fails"] == "cut":
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{"messages":[]}')
        elif answer["fails"] == "encoded":
            packed = gzip.compress(b'{"messages":[]}')
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                % len(packed) + packed)
        elif answer["fails"] == "stall":
            self.rfile.read(1)
        else:
            if answer["fails"] == "reset":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"messages\":[")
            self.reset()

    def reset(self):
        """Ends the connection by a reset instead of an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def head(self):
        lines = []
        while (line := self.rfile.readline(65_536)) not in (b"\r\n", b""):
            lines.append(line.decode().strip())
        return lines or [""]

    def write(self, status, body, headers=None, date=None):
        fields = f"Date: {date}\r\n" if date else ""
        for name, value in (headers or {}).items():
            fields += "".join(f"{name}: {one}\r\n" for one in ([value] if isinstance(value, str) else value))
        self.wfile.write(
            b"HTTP/1.1 %d Answer\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n%b\r\n"
            % (status, len(body), fields.encode()) + body)


def run(program, file, server, relay):
    """The results of a file's scenarios by one library, by name."""
    app, results = {}, {}
    command = shlex.split(program) + [f"http://127.0.0.1:{relay.server_address[1]}", file]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            said = json.loads(line)
            reply = {}
            if "scenario" in said:
                app = dict(said["app"])
                relay.answer, relay.requests = {"fails": "unreachable"}, []
            elif "app" in said:
                app = dict(said["app"])
            elif "answer" in said:
                if "messages" in said["answer"]:
                    server.send(app, said["answer"]["messages"])
                relay.answer = said["answer"]
            elif "checked" in said:
                reply = {"requests": relay.requests}
                relay.requests = []
            elif "result" in said:
                results[said["result"]] = said
                continue
            elif "done" in said:
                break
            process.stdin.write(json.dumps(reply) + "\n")
            process.stdin.flush()
        process.stdin.close()
        status = process.wait(60)
    if status != (0 if all(result["ok"] for result in results.values()) else 1):
        raise Failure(f"{' '.join(command)} exited with {status}")
    return results


def judge(binary, name, program, files):
    """Runs all files by one library, on a server of its own; what is wrong, a line each."""
    faults, count = [], 0
    with tempfile.TemporaryDirectory(prefix=f"versiongate-{name}.") as folder:
        # The private PostgreSQL of a root user runs as another user, who must be able to pass through.
        os.chmod(folder, 0o711)
        server = Server(binary, folder)
        try:
            relay = Relay(server)
            stranger = public_key(binary, os.path.join(folder, "stranger.pem"))
            for file in [*files, signed_scenarios(folder, server.public_key, stranger)]:
                with open(file, encoding="utf-8") as text:
                    expected = [scenario["name"] for scenario in json.load(text)]
                where = f"{name}: {os.path.basename(file)}"
                try:
                    results = run(program, file, server, relay)
                except Failure as failure:
                    faults.append(f"{where}: {failure}")
                    continue
                for scenario in expected:
                    result = results.get(scenario, {"why": "was not run"})
                    count += 1
                    if result.get("ok") is not True:
                        faults.append(f"{where}: {scenario}: step {result.get('step', '-')}: {result.get('why')}")
        finally:
            server.stop()
    print(f"{name}: {count} scenarios against the server, {len(faults)} faults", flush=True)
    return faults


def main():
    split = sys.argv.index("--") if "--" in sys.argv else 0
    if split < 3 or split + 1 == len(sys.argv):
        sys.exit(__doc__)
    binary, files = sys.argv[1], sys.argv[split + 1:]
    programs = dict(argument.split("=", 1) for argument in sys.argv[2:split])
    with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
        runs = [pool.submit(judge, binary, name, program, files) for name, program in programs.items()]
        faults = [fault for finished in runs for fault in finished.result()]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
