"""Sends what schemathesis does not, and says which described statuses and members no response had.

Each operation is asked in the ways that end in a status which no description of its data leads to, by HEAD where it has
GET, and without a policy. The addresses are HOST:PORT of two servers. The bare one has no policy, and has
`--rate-limit 1:1`. ANSWERED is what checks.py wrote.
"""

import concurrent.futures
import http.client
import json
import re
import socket
import urllib.parse

# What no answer of a server that is well has; the tests of each fault look at it.
ONLY_IN_TROUBLE = {"Ready.fileError", "Ready.brake", "Ready.brakeError", "Ready.heldBackRevision", "Ready.lockoutsOff", "Ready.clockError", "Ready.certificateError", "Ready.lockoutKeyError"}


class Listeners:
    """The two listeners of a server."""

    def __init__(self, public, management):
        self.addresses = {False: public, True: management}

    def ask(self, is_management, request, method="GET"):
        """The status, the header fields and the body of the answer to some bytes."""
        host, port = self.addresses[is_management].rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=300) as connection:
            connection.sendall(request.encode("latin-1"))
            response = http.client.HTTPResponse(connection, method=method)
            response.begin()
            return response.status, response.getheaders(), response.read()


class Probe:
    """An operation, and how it was answered."""

    def __init__(self, contract, path, method):
        self.contract, self.path, self.method = contract, path, method
        operation = contract.operations[path, method]
        self.described = {int(status) for status in operation["responses"]}
        self.is_document = "feeds" in operation["tags"]
        self.is_management = "management" in operation["tags"]
        self.answered, self.faults, self.count = set(), [], 0
        self.parameters = [one for one in operation["parameters"] if one["in"] in ("path", "query")]

    def target(self, *, whole=True):
        """The path with the first example of each parameter; with the required ones alone where it is not whole."""
        path, query = self.path, {}
        for parameter in self.parameters:
            if not whole and not parameter.get("required"):
                continue
            examples = [example["value"] for example in parameter.get("examples", {}).values()]
            value = parameter.get("example", *examples[:1])
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", value)
            else:
                query.update(value if isinstance(value, dict) else {parameter["name"]: value})
        return path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")

    def request(self, method=None, target=None, *fields, body=""):
        lines = [f"{method or self.method.upper()} {target or self.target()} HTTP/1.1", *fields]
        if not any(field.startswith("Host:") for field in fields):
            lines.append("Host: localhost")
        return "\r\n".join([*lines, "", body])

    def ask(self, listeners, request, wanted, method=None):
        """Asks, and compares the answer with the document; `wanted` is the status that it must have."""
        self.count += 1
        try:
            status, headers, body = listeners.ask(self.is_management, request, method or self.method.upper())
        except (OSError, http.client.HTTPException) as error:
            self.faults.append(f"no answer, where {wanted} was expected: {type(error).__name__}: {error}")
            return None
        faults = self.contract.faults(self.path, self.method, status, headers, body, to_head=method == "HEAD")
        if wanted is not None and status != wanted:
            faults.append(f"status {status}, where {wanted} was expected")
        self.faults += [f"{status}: {fault} (to {request[:60]!r}...)" for fault in faults]
        self.answered.add(status)
        return status, headers

    def run(self, listeners, bare):
        self.ask(listeners, self.request("PATCH"), 405, "PATCH")
        self.ask(listeners, self.request("OPTIONS"), 405, "OPTIONS")
        if self.is_management:
            self.ask(listeners, "hello\r\n\r\n", 400)
            self.ask(listeners, self.request(None, None, "Host: gate.example"), 421)
            self.ask(listeners, self.request(None, self.path + "/?x=1"), None)
            self.ask(bare, self.request(), None)
        else:
            long = self.target() + ("&" if "?" in self.target() else "?") + "x" * 12_300
            self.ask(listeners, "hello\r\n\r\n", 400)
            self.ask(listeners, self.request(None, None, "Host: a b"), 400)
            self.ask(listeners, self.request(None, None, "Transfer-Encoding: gzip"), 400)
            self.ask(listeners, self.request(None, None, "Content-Length: 16385", body="x" * 16_385), 413)
            self.ask(listeners, self.request(None, long), 414)
            self.ask(listeners, self.request(None, None, "X: " + "x" * 16_385), 431)
            self.ask(bare, self.request(None, None, "Content-Length: 1"), 408)
            if 415 in self.described:
                self.ask(listeners, self.request(None, None, "Content-Encoding: gzip"), 415)
            if "post" == self.method and self.path != "/v1/releases":
                # What the description of the body leaves to words.
                wide = '{"bundle":"a","version":1.10,"build":-1,"os":17,"platform":null,"region":"","x":[{}]}'
                self.ask(listeners, self.request(None, None, f"Content-Length: {len(wide)}", body=wide), 200)
            # The first of these is answered without a policy, unless another probe was quicker.
            while (answer := self.ask(bare, self.request(), None)) and answer[0] != 429:
                pass
        if self.method == "get":
            for target in {self.target(), self.target(whole=False)}:
                self.compare_head(listeners, target)

    def record(self, listeners, bare, token):
        """A release as a pipeline sends it: new, withdrawn, with another value, with a wrong one, without a database."""
        release = {"bundle": "com.example.doto", "version": "9.9", "platform": "android", "build": "99", "min_os": "8",
                   "regions": ["JP"], "note": "n"}
        for changes, wanted in (
            ({}, 201), ({"withdrawn": True}, 200), ({"min_os": "9"}, 409), ({"version": "x"}, 422), (None, 503),
        ):
            body = json.dumps(release | (changes or {}))
            fields = f"Authorization: Bearer {token}", f"Content-Length: {len(body)}"
            while (answer := self.ask(listeners if changes is not None else bare,
                                      self.request(None, None, *fields, body=body), None)) and answer[0] == 429:
                pass
            if answer and answer[0] != wanted:
                self.faults.append(f"status {answer[0]}, where {wanted} was expected")

    def compare_head(self, listeners, target):
        """HEAD is answered as GET is."""
        answers = []
        for method in ("GET", "HEAD"):
            answer = self.ask(listeners, self.request(method, target), None, method)
            if answer is None:
                return
            fields = {name.lower(): value for name, value in answer[1]}
            for name in ["date"] + (["content-length"] if self.is_management else []):
                # What is told of a moment.
                fields[name] = name in fields
            answers.append((answer[0], fields))
        if answers[0] != answers[1]:
            self.faults.append(f"HEAD is answered by {answers[1]}, and GET by {answers[0]}")


def other_paths(probes, contract, listeners):
    """How paths that the documents do not have are answered, where it is not by 404, and how many were asked for."""
    paths = ["/", "/v1", "/V1/check", "/v1/%63heck", "/usa/lookup?id=1", "/v1/feeds/com.example.doto"]
    paths += [probe.path + "/" for probe in probes if not probe.is_management and "{" not in probe.path]
    faults = []
    for path in paths:
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        status, headers, body = listeners.ask(False, request)
        found = contract.faults("/v1/feeds/{bundle}/{name}", "get", status, headers, body)
        found += [] if status == 404 else [f"status {status}, where 404 was expected"]
        faults += [f"GET {path} (public): {fault}" for fault in found]
        if path == "/":
            continue
        status = listeners.ask(True, request)[0]
        faults += [] if status == 404 else [f"GET {path} (management): status {status}, where 404 was expected"]
    return faults, 2 * len(paths) - 1


def judge(contract, answered, server, bare):
    """Whether all is as described; `answered` is the file that checks.py wrote."""
    earlier = json.loads(answered.read_text(encoding="utf-8"))
    answered = {tuple(answer) for answer in earlier["answered"]}
    listeners, bare = (Listeners(one.public, one.management) for one in (server, bare))
    probes = [Probe(contract, path, method) for path, method in contract.operations]
    # At once, as some wait for a limit of time.
    with concurrent.futures.ThreadPoolExecutor(len(probes)) as executor:
        for run in [executor.submit(probe.run, listeners, bare) for probe in probes]:
            run.result()
    token = re.search("vgr_[0-9A-Za-z]{43}", server.run("token", "add", "probe", "--bundle", "com.example.doto"))[0]
    next(probe for probe in probes if probe.path == "/v1/releases").record(listeners, bare, token)
    faults, count = other_paths(probes, contract, listeners)
    for probe in probes:
        count += probe.count
        faults += [f"{probe.method.upper()} {probe.path}: {fault}" for fault in probe.faults]
        seen = probe.answered | {answer[2] for answer in answered if answer[:2] == (probe.path, probe.method)}
        # A document that too many wait for.
        trouble = {503} if probe.is_document else set()
        for status in sorted(probe.described - seen - trouble):
            faults.append(f"{probe.method.upper()} {probe.path}: {status} is described, and nothing was answered by it")
    unsent = contract.described_members() - contract.sent - set(earlier["sent"]) - ONLY_IN_TROUBLE
    faults += [f"{member}: it is described, and no response had it" for member in sorted(unsent)]
    for fault in faults:
        print(fault)
    print(f"{count} probes, {len(faults)} faults")
    return not faults
