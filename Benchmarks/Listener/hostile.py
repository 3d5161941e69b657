# SPDX-License-Identifier: Apache-2.0
# Copyright the versiongate authors
"""Counts the user instructions of requests that were made to be costly, while callgrind runs the server.

    hostile.py --url URL --pid PID --out FILE

FILE is where callgrind writes. Byte for byte, no request may cost more than eight times a usual one; a short one may cost
as much as eight usual ones. Each is sent on a connection of its own, whose cost is not counted. Ends with 1 if one costs more.
"""

import argparse
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from bursts import REQUESTS, callgrind, connect, read_answer

MOST_TIMES = 8
CONNECTIONS = 4

BUNDLE = "com.example.doto"


def post(body):
    return f"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}"


def get(query, fields=""):
    return f"GET /v1/check?bundle={BUNDLE}{query} HTTP/1.1\r\nHost: x\r\n{fields}\r\n"


def member(name, value, bundle=BUNDLE):
    return post(f'{{"bundle":"{bundle}","platform":"ios","{name}":"{value}"}}')


def numbered(count, text):
    return "".join(text.replace("#", str(number)) for number in range(count))


def chunked(pieces):
    chunks = "".join(f"{len(piece):x}\r\n{piece}\r\n" for piece in pieces)
    return f"POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n"


def long_members():
    for name in ("bundle", "version", "build", "platform", "region", "os", "language", "install", "other"):
        for what, text in (("-", "-"), ("a-", "a-"), ("1.", "1."), ("A", "A"), ("blanks", " ")):
            value = text * (16_200 // len(text))
            body = post(f'{{"bundle":"{value}"}}') if name == "bundle" else member(name, value)
            yield f"{name} of 16 KB of {what}", body


def hostile():
    yield from long_members()
    for text in ("-", "a-", "A"):
        yield f"language of 64 bytes of {text}, by which rules are indexed", member("language", (text * 64)[:64], "com.example.languages")
        yield f"language of 16 KB of {text}, by which rules are indexed", member("language", (text * 16_000)[:16_000], "com.example.languages")
    yield "query with a language of 8 KB of -", get("&language=" + "-" * 8_000)
    yield "query of quotes and a wrong escape", get("&a=" + '"' * 7_000 + "%")
    yield "query with 1,000 attributes", get(numbered(1_000, "&a#=b"))
    yield "query of &", get("&" * 7_000)
    yield "query of =", get("=" * 7_000)
    yield "query that is percent-encoded", get("&a=" + "%41" * 2_600)
    yield "query with two names of 4 KB", get(f"&{'n' * 4_000}=1&{'n' * 4_000}=2")
    yield "1,700 tags", get("", "If-None-Match: " + numbered(1_700, '"#",') + "\r\n")
    yield "tags of blanks", get("", f"If-None-Match: {' ' * 15_000}\r\n")
    yield "tags of quotes", get("", "If-None-Match: " + '"' * 15_000 + "\r\n")
    yield "1,500 trusted proxies", get("", f"X-Forwarded-For: {'10.0.0.1, ' * 1_500}\r\n")
    yield "X-Forwarded-For of commas", get("", f"X-Forwarded-For: {',' * 15_000}\r\n")
    yield "X-Forwarded-For of blanks", get("", f"X-Forwarded-For: a{' ' * 15_000}b\r\n")
    yield "100 fields of X-Forwarded-For", get("", "X-Forwarded-For: 10.0.0.1, 10.0.0.2\r\n" * 98)
    yield "Host of 15 KB", f"GET / HTTP/1.1\r\nHost: {'a' * 15_000}\r\n\r\n"
    yield "Host of percent signs", f"GET / HTTP/1.1\r\nHost: {'%41' * 5_000}\r\n\r\n"
    yield "Content-Encoding of 15 KB", get("", "Content-Encoding: " + '"' * 15_000 + "\r\n")
    yield "99 fields", get("", numbered(98, f"X-#: {'a' * 140}\r\n"))
    yield "99 fields that the parser must read", get("", "Expect: x\r\n" + numbered(97, f"X-#: {'a' * 140}\r\n"))
    yield "Content-Length that is too large", "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"
    yield "body of 16 KB in chunks of 1 byte", chunked(f'{{"bundle":"a","b":"{"a" * 16_000}"}}')
    yield "200 chunks of 80 bytes of empty lines", chunked(["\n" * 80] * 200)
    yield "body with 1,800 attributes", post('{"bundle":"a"' + numbered(1_500, ',"a#":1') + "}")
    yield "body with two names of 8 KB", post(f'{{"bundle":"a","{"n" * 8_000}":1,"{"n" * 8_000}":2}}')
    yield "body of escapes", member("other", "\\u0041" * 2_700)
    yield "body of surrogate pairs", member("other", "\\ud83d\\ude00" * 1_350)
    yield "body of arrays", post('{"bundle":"a","b":[' + "[]," * 5_000 + "[]]}")
    yield "body of numbers", post('{"bundle":"a","b":[' + "1," * 8_000 + "1]}")
    yield "body of blanks", post("{" + " " * 16_000 + '"bundle":"a"}')
    yield "target in absolute form", f"GET http://{'a' * 12_000}/v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "target of colons", f"GET a{':' * 12_000} HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "pipeline of 200", "GET /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n" * 200
    yield "pipeline of 200 that the parser must read", "GET /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n" * 200
    yield "empty lines before a request", "\r\n" * 8_000 + get("")
    yield "no HTTP", "x" * 16_000


def exchange(url, request):
    """Sends a request on connections of its own, and waits for the end of what comes back."""
    for _ in range(CONNECTIONS):
        with connect(url) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass


def converse(url, request, count):
    """Sends a request several times on each of some connections, each time after the answer to the one before."""
    for _ in range(CONNECTIONS):
        with connect(url) as connection:
            for _ in range(count):
                connection.sendall(request)
                read_answer(connection)


class Counter:
    """Reads the counts that callgrind writes, one file for each."""

    def __init__(self, pid, out):
        self.pid, self.out, self.number = pid, out, 0

    def count(self, action, *arguments):
        # What is done for the first time only is not counted.
        for _ in range(2):
            action(*arguments)
            callgrind(self.pid, ["--dump"])
            self.number += 1
        path = Path(f"{self.out}.{self.number}")
        for _ in range(600):
            totals = [line for line in path.read_text().splitlines() if line.startswith("totals:")] if path.exists() else []
            if totals:
                return int(totals[0].split()[1]) // CONNECTIONS
            time.sleep(0.05)
        sys.exit(f"hostile.py: callgrind has not written {path}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True, type=urlsplit)
    parser.add_argument("--pid", required=True, type=int)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    url, usual = options.url, REQUESTS["message"]
    converse(url, usual, 10)
    counter = Counter(options.pid, options.out)
    callgrind(options.pid, ["--instr=on"])

    usual_cost = (counter.count(converse, url, usual, 101) - counter.count(converse, url, usual, 1)) // 100
    connection_cost = counter.count(exchange, url, usual) - usual_cost
    costs = []
    for name, request in hostile():
        cost = counter.count(exchange, url, request.encode()) - connection_cost
        costs.append((cost / usual_cost / max(1, len(request) / len(usual)), name))
    costs.sort(reverse=True)
    for times, name in costs[:5]:
        print(f"{times:6.1f} times a usual request of its size: {name}")
    if costs[0][0] > MOST_TIMES:
        sys.exit(f"hostile.py: a request may cost at most {MOST_TIMES} times as much as a usual one of its size")


main()
