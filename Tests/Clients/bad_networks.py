"""What a network or a server can do wrong, and the scenarios in which each library must bear it.

`FAULTS` has for each name the bytes that a server sends to a question and what it does then: it closes the connection,
resets it, stalls, or sends other bytes for ever, slowly ("drip") or as fast as they are taken ("pour").
"""
import gzip
import json
import sys

LOCKOUT = json.dumps({"messages": [{"id": "blocked", "title": "Blocked", "text": "Update.", "lockout": True}]})
NEWS = json.dumps({"messages": [{"id": "news", "title": "News", "text": "Lists."}]})
# Only the last counts: a first handshake of a program can take longer than a check.
ADDRESS_TIMES = ["time 1", "time 2", "time 3", "time 4"]
LARGEST_BODY = 1_048_576

HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
CHUNK = f"{len(NEWS):x}\r\n{NEWS}\r\n"


def sized(length, body=NEWS, head=HEAD):
    return f"{head}Content-Length: {length}\r\n\r\n{body}"


def encoded(encoding, body):
    return f"{HEAD}Content-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n" + body.decode("latin1")


TRUSTED = ["a trusted certificate", "a trusted certificate, and chunks"]
FAULTS = {
    "reset": (sized(100, '{"mess'), "reset"),
    "cut": (sized(len(NEWS) + 1), "close"),
    "redirect": ("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", "close"),
    "encoded": (encoded("gzip", gzip.compress(NEWS.encode())), "close"),
    "stall": ("", "stall"),

    "nothing": ("", "close"),
    "a reset at once": ("", "reset"),
    "a reset in the head": (HEAD, "reset"),
    "a status that is cut": ("HTTP/1.1 200 O", "close"),
    "a head that is cut": (HEAD, "close"),
    "half an answer": (sized(len(NEWS), NEWS[:30]), "close"),
    "a chunk that is cut": (CHUNKED + CHUNK[:-20], "close"),
    "a chunk without a size": (CHUNKED + f"news\r\n{NEWS}\r\n0\r\n\r\n", "close"),
    "another protocol": ("SSH-2.0-OpenSSH_9.6\r\n", "close"),
    "bytes": ("\0\1\2", "close"),
    "empty lines": ("\r\n\r\n\r\n", "close"),
    "a captive portal": ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><form action=/terms></form>", "close"),
    "a small body that becomes 64 MiB": (encoded("gzip", gzip.compress(NEWS.encode() + b" " * (64 * LARGEST_BODY))), "close"),
    **{f"the encoding {name}": (encoded(name, NEWS.encode()), "close") for name in ("gzip", "deflate", "br", "x")},
    "1 MiB and a byte": (sized(LARGEST_BODY + 1, NEWS.ljust(LARGEST_BODY + 1)), "close"),
    "1 MiB and a byte, without a length": (HEAD + "\r\n" + NEWS.ljust(LARGEST_BODY + 1), "stall"),

    "silence in the status": ("HTTP/1.1 200 O", "stall"),
    "silence in the head": (HEAD, "stall"),
    "silence in the body": (sized(len(NEWS), NEWS[:20]), "stall"),
    "silence in a chunk": (CHUNKED + CHUNK[:-20], "stall"),
    "silence behind the body": (HEAD + "\r\n" + NEWS, "stall"),

    "a head that drips": ("HTTP/1.1 200 OK\r\nX: ", "drip", "x"),
    "a body that drips": (sized(LARGEST_BODY), "drip", " "),
    "a body that drips, without a length": (HEAD + "\r\n" + NEWS, "drip", " "),
    "a large body that drips": (HEAD + "\r\n" + NEWS, "drip", " " * 8_192),
    "chunks that drip": (CHUNKED + '5\r\n{"mes\r\n', "drip", "1\r\n \r\n"),
    "a body without an end": (HEAD + "\r\n" + NEWS, "pour", " " * 65_536),
    "chunks without an end": (CHUNKED + '5\r\n{"mes\r\n', "pour", "10000\r\n" + " " * 65_536 + "\r\n"),
    "a head without an end": (HEAD, "pour", "X: aaaa\r\n" * 7_000),
    "a field without an end": (HEAD + "X: ", "pour", "a" * 65_536),
    **{f"trailers without an end behind {chunk.strip()}": (CHUNKED + chunk + "0\r\n", "pour", "X: aaaa\r\n" * 7_000)
       for chunk in ("", "2\r\n{}\r\n", '5\r\n{"mes\r\n')},
    "a trailer without an end": (CHUNKED + "2\r\n{}\r\n0\r\nX: ", "pour", "a" * 65_536),

    **{f"status {status}": (sized(len(NEWS), head=f"HTTP/1.1 {status} X\r\n"), "close")
       for status in (201, 203, 206, 400, 403, 404, 410, 413, 429, 500, 502, 503, 504)},
    "status 204": ("HTTP/1.1 204 No Content\r\n\r\n", "close"),
    **{f"status {status}, with a challenge": (
        sized(len(NEWS), head=f'HTTP/1.1 {status} Who\r\n{field}: {scheme} realm="gate", nonce="a"\r\n'), "close")
       for status, field in ((401, "WWW-Authenticate"), (407, "Proxy-Authenticate")) for scheme in ("Basic", "Digest")},
    **{f"redirect {status} to {where}": (
        sized(len(NEWS), head=f"HTTP/1.1 {status} Moved\r\nLocation: {where}/v1/check\r\n"), "close")
       for status in (301, 302, 303, 307, 308) for where in ("/elsewhere", "http://localhost:{port}")},
}

# Foundation on Linux ends the program at a head that is cut (https://github.com/swiftlang/swift-corelibs-foundation/issues/5285),
# asks nothing else while it reads a head or trailers without an end, and can be given no certificate to trust.
UNBEARABLE = {"swift": {name for name in [*FAULTS, *TRUSTED] if sys.platform == "linux" and name.startswith(
    ("a head that is cut", "a head without an end", "trailers without an end", "a trusted certificate"))}}


def answer(body, **more):
    return {"answer": {"status": 200, "body": body, **more}}


def check(shows, **more):
    return {"check": {"force": True}, "asks": True, "shows": shows, **more}


def fault_scenarios(library):
    """A lockout holds through each fault, and ends with the next answer."""
    scenarios = [{"name": f"A network with {name}", "rule": "reads", "steps": [
        {**answer(LOCKOUT), "start": {}, **check(["blocked"])}, {"answer": {"fails": name}, **check(["blocked"])},
        {**answer(NEWS), **check(["news"])}]} for name in FAULTS if name not in UNBEARABLE.get(library, ())]
    whole = {"name": "An answer of 1 MiB, and one that says that it is as asked for", "rule": "reads", "steps": [
        {**answer(NEWS, bytes=LARGEST_BODY), "start": {}, **check(["news"])},
        {**answer(NEWS, headers={"Content-Encoding": "Identity"}), **check(["news"])}]}
    return [*scenarios, whole]


def address_scenarios(shows):
    """At an address: what is kept shows if no answer comes."""
    lockout = {"id": "blocked", "title": "Blocked", "text": "Update."}
    kept = {"at": 1_790_000_000, "version": "1.0", "build": "42", "lockout": lockout}
    return [{"name": name, "rule": "reads", "steps": [{"storage": {"json": {"answer": kept}}}, {"start": {}, **check(shows)}]}
            for name in ADDRESS_TIMES]
