"""Counts the user instructions of requests that were made to be costly, while callgrind runs the server.

    hostile.py --url URL --pid PID --out FILE [--all]

FILE is where callgrind writes, a file for each thread. Byte for byte of what is sent or of what is answered, no request may cost
an event loop more than eight times a usual one; a short one may cost as much as eight usual ones. With a usual policy that holds
for the instructions of the server alone. With those of CostlyPolicy it holds for all processor time, of which a usual request spends
four fifths in the kernel: that is eight times where the instructions are 36 times as many. Each is sent on a connection of its own,
whose cost is not counted. Prints the worst, or all, and what they cost other threads. Ends with 1 if one costs more.
"""

import argparse
import itertools
import socket
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from bursts import REQUESTS, callgrind, connect, read_answer

MOST_TIMES = 8
MOST_TIMES_OF_A_COSTLY_POLICY = 5 * MOST_TIMES - 4
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


# How many bundles that nobody lists are in one request.
INVENTED = 200
serial = itertools.count()


def check(app, members):
    return post(f'{{"bundle":"com.example.{app}",{members}}}')


def gate(app, query):
    return f"GET /v1/gate?bundle=com.example.{app}&{query} HTTP/1.1\r\nHost: x\r\n\r\n"


def invented(count):
    return "".join(post(f'{{"bundle":"com.invented.app{next(serial)}","platform":"fuchsia"}}') for _ in range(count))


def after_a_flood():
    return invented(INVENTED) + check("doto", '"platform":"fuchsia"')


def costly():
    """To the apps of CostlyPolicy."""
    gates = ("gates", "open-gates", "build-gates", "soaked-gates", "target-gates", "final-gates", "some-gates")
    queries = {
        "without a system": "version=1.0&platform=ios",
        "with a system": "version=1.0&platform=ios&os=9",
        "with a late system": "version=1.0&platform=ios&os=99&region=US",
        "with all members": "version=1.0&platform=ios&os=9&region=US&build=1&language=de&install=i",
        "of an unreadable version": "version=x&platform=ios&os=9",
        "without a platform": "version=1.0",
    }
    for app in gates:
        for what, query in queries.items():
            yield f"gate {what}, {app}", gate(app, query)
        yield f"check, {app}", check(app, '"version":"1.0","platform":"ios","os":"9"')
    yield "usual gate", gate("doto", "version=1.1.0&build=42&platform=iOS&region=en_US")
    subtags = "-".join(f"a{chr(97 + number)}" for number in range(20))
    tags = {"20 subtags": subtags, "20 others": subtags.replace("a", "b"), "single letters": "-".join("a" * 32), "hyphens": "a" + "-" * 63}
    for what, tag in tags.items():
        yield f"language of {what}, texts", check("texts", f'"language":"{tag}"')
        yield f"language of {what}, language-lists", check("language-lists", f'"region":"JP","language":"{tag}"')
    yield "no language, texts", check("texts", '"version":"1"')
    yield "version-lists", check("version-lists", '"region":"JP","version":"2000"')
    yield "value-lists", check("value-lists", '"region":"JP","channel":"none"')
    yield "attribute-lists", check("attribute-lists", '"region":"JP"' + numbered(64, ',"a#":"x"'))
    yield "attribute-ranges", check("attribute-ranges", '"region":"JP"' + numbered(64, ',"a#":"1.0.1"'))
    yield "exceptions", check("exceptions", '"region":"JP","a15":"y"')
    yield "region-lists", check("region-lists", '"region":"ZW","platform":"ios","version":"1"')
    yield "step-lists", check("step-lists", '"region":"JP","install":"i"')
    # The processor of callgrind has no instructions for SHA-256, without which a bucket takes ten times as long.
    yield "rollouts", check("rollouts", '"install":"i"')
    yield "conditions", check("conditions", '"version":"1","build":"1","os":"1","platform":"ios"')
    yield "targets", check("targets", '"version":"1","platform":"ios","os":"9"')
    yield "late-targets", check("late-targets", '"version":"1","platform":"ios","os":"9"')
    yield "messages", check("messages", '"version":"1"')
    yield "lockout for every app, signed before", check("doto", '"platform":"fuchsia"')
    yield f"{INVENTED} invented bundles", lambda: invented(INVENTED)
    yield "an invented bundle", lambda: invented(1)
    yield f"a listed bundle after {INVENTED} invented ones", after_a_flood


def hostile():
    yield from long_members()
    for text in ("-", "a-", "A"):
        yield f"language of 64 bytes of {text}, for which rules ask", member("language", (text * 64)[:64], "com.example.languages")
        yield f"language of 16 KB of {text}, for which rules ask", member("language", (text * 16_000)[:16_000], "com.example.languages")
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
    yield "99 fields of an unusual request", get("", "Expect: x\r\n" + numbered(97, f"X-#: {'a' * 140}\r\n"))
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
    yield "pipeline of 200 unusual requests", "GET /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n" * 200
    yield "empty lines before a request", "\r\n" * 8_000 + get("")
    yield "no HTTP", "x" * 16_000


def exchange(url, request):
    """Sends requests on connections of their own, and waits for the end of what comes back.

    Returns how many bytes that were for one of them.
    """
    answered = 0
    for _ in range(CONNECTIONS):
        with connect(url) as connection:
            try:
                connection.sendall((request if isinstance(request, str) else request()).encode())
                connection.shutdown(socket.SHUT_WR)
                while data := connection.recv(65_536):
                    answered += len(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
    return answered // CONNECTIONS


def converse(url, request, count):
    """Sends a request several times on each of some connections, each time after the answer to the one before."""
    for _ in range(CONNECTIONS):
        with connect(url) as connection:
            for _ in range(count):
                connection.sendall(request)
                read_answer(connection)


class Counter:
    """Reads the counts that callgrind writes, a file for each count and thread."""

    def __init__(self, pid, out):
        self.pid, self.out, self.number = pid, Path(out), 0
        # The thread of the event loop: the one that the first count is most of.
        self.loop = None

    def count(self, action, *arguments):
        """Returns what the event loop spent, what other threads did, and what the action returned."""
        # What is done for the first time only is not counted.
        for _ in range(2):
            result = action(*arguments)
            callgrind(self.pid, ["--dump"])
            self.number += 1
        threads = {}
        for _ in range(600):
            for path in self.out.parent.glob(f"{self.out.name}.{self.number}-*"):
                totals = [line for line in path.read_text().splitlines() if line.startswith("totals:")]
                threads |= {path.suffix.partition("-")[2]: int(total.split()[1]) // CONNECTIONS for total in totals}
            if self.loop is None and threads:
                time.sleep(1)
                self.loop = max(threads, key=threads.get)
            elif self.loop in threads:
                spent = threads.pop(self.loop)
                return spent, sum(threads.values()), result
            else:
                time.sleep(0.05)
        sys.exit(f"hostile.py: callgrind has not written {self.out}.{self.number}-*")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True, type=urlsplit)
    parser.add_argument("--pid", required=True, type=int)
    parser.add_argument("--out", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    url, usual = options.url, REQUESTS["message"].decode()
    converse(url, usual.encode(), 10)
    counter = Counter(options.pid, options.out)
    callgrind(options.pid, ["--instr=on"])

    def conversation(count):
        return counter.count(converse, url, usual.encode(), count)[0]

    usual_cost = (conversation(101) - conversation(1)) // 100
    connection_cost, _, usual_answer = counter.count(exchange, url, usual)
    connection_cost -= usual_cost
    costs = []
    requests = [(*case, MOST_TIMES) for case in hostile()] + [(*case, MOST_TIMES_OF_A_COSTLY_POLICY) for case in costly()]
    for name, request, most in requests:
        cost, elsewhere, answer = counter.count(exchange, url, request)
        cost -= connection_cost
        size = len(request if isinstance(request, str) else request()) / len(usual)
        times = cost / usual_cost / max(1, size, answer / usual_answer)
        costs.append((times / most, times, most, cost, elsewhere, name))
    costs.sort(reverse=True)
    print(f"a usual request takes {usual_cost} instructions")
    for _, times, most, cost, elsewhere, name in costs if options.all else costs[:10]:
        others = f" and {elsewhere} elsewhere" if elsewhere > usual_cost else ""
        print(f"{times:6.1f} of {most} times a usual request of its size, {cost} instructions{others}: {name}")
    if costs[0][0] > 1:
        sys.exit("hostile.py: a request may cost an event loop no more times as much as a usual one of its size")


main()
