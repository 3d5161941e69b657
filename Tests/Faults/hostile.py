#!/usr/bin/env python3
"""Clients that mean harm, or are as bad as if they did.

hostile.py KIND HOST PORT [--seconds N] [--connections N] [--addresses N] [--bodies N] [--seed N]

    slow-headers   headers that come one byte after the other and never end
    slow-bodies    the same with bodies
    never-reading  requests one after the other, whose answers are never read
    idle           connections that say nothing
    silent         the same again and again: each that is ended is opened anew
    taking-places  connections that ask once or never and stay, opened again when they are ended; others ask meanwhile
    resets         connections that ask until the server reads no more of them, and are all closed at once
    pipelining     bursts of a thousand requests, each answer of which is counted
    smuggling      requests that two readers could divide differently
    random-bodies  random bytes, and checks with bytes changed, cut, repeated and put in: so many bodies at most

Ends with 1 if the server did what it must not: let a smuggled request through, answered with 5xx, lost an answer,
or let somebody else wait.
Prints in one line what it did.
"""

import argparse
import asyncio
import json
import random
import socket
import sys
import time

HEAD = b"POST /v1/check HTTP/1.1\r\nHost: versiongate\r\n"
# Another address than the load's, for the server may limit what one address takes.
SOURCE = ("127.0.0.2", 0)
# How long somebody else may wait for an answer, in seconds.
PATIENCE = 2
CHECK = json.dumps(
    {"version": "1.1.0", "build": "42", "platform": "iOS", "region": "en_US", "bundle": "com.example.doto"}
).encode()
TINY = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: versiongate\r\n\r\n"


def post(body):
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


def ambiguous_requests():
    """Requests by name; none may lead to an answer to SMUGGLED."""
    length = len(CHECK)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (length, CHECK)
    return {
        "both lengths": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        "both lengths, chunked first": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % length
        + chunked + SMUGGLED,
        "two lengths": HEAD + b"Content-Length: %d\r\nContent-Length: 0\r\n\r\n" % len(SMUGGLED) + SMUGGLED,
        "a list of lengths": HEAD + b"Content-Length: 0, %d\r\n\r\n" % len(SMUGGLED) + SMUGGLED,
        "a length with a sign": HEAD + b"Content-Length: +0\r\n\r\n" + SMUGGLED,
        "a negative length": HEAD + b"Content-Length: -1\r\n\r\n" + SMUGGLED,
        "a hexadecimal length": HEAD + b"Content-Length: 0x0\r\n\r\n" + SMUGGLED,
        "a huge length": HEAD + b"Content-Length: 18446744073709551616\r\n\r\n" + SMUGGLED,
        "a folded header": HEAD + b"X-Fold: a\r\n b\r\nContent-Length:\r\n 0\r\n\r\n" + SMUGGLED,
        "a folded encoding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        "a blank before the colon": HEAD + b"Content-Length : 0\r\n\r\n" + SMUGGLED,
        "an unknown encoding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        "chunked not last": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
        "a chunk size with a sign": HEAD + b"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n" + SMUGGLED,
        "a chunk size too large": HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n" + SMUGGLED,
        "a NUL in a header": HEAD + b"X-Nul: a\0b\r\nContent-Length: 0\r\n\r\n" + SMUGGLED,
        "a bare CR": HEAD + b"X: a\rContent-Length: 0\r\n\r\n" + SMUGGLED,
        "a bare LF": b"POST /v1/check HTTP/1.1\nHost: versiongate\nContent-Length: 0\n\n" + SMUGGLED,
    }


class Hostile:
    """One kind of harm for some seconds."""

    def __init__(self, host, port, seconds, connections, addresses, bodies, seed):
        self.host, self.port = host, port
        self.end = time.monotonic() + seconds
        self.connections = connections
        self.addresses = addresses
        self.bodies = bodies
        self.random = random.Random(seed)
        self.count = 0
        self.closed = 0
        self.faults = []
        # Whether the kernel takes little for clients that do not read; usually it may be megabytes, on both sides.
        self.takes_little = False

    async def run(self, work, connections):
        await asyncio.gather(*(self.again_and_again(work) for _ in range(connections)))

    async def again_and_again(self, work):
        while self.is_on():
            writer = None
            try:
                reader, writer = await self.connect()
                await asyncio.wait_for(work(reader, writer), max(0.1, self.end - time.monotonic()))
            except asyncio.TimeoutError:
                pass
            except (OSError, EOFError):
                self.closed += 1
                await asyncio.sleep(0.05)
            finally:
                if writer:
                    writer.transport.abort()

    async def connect(self):
        connection = socket.socket()
        if self.takes_little:
            # The server's kernel makes its send buffer as large as some segments, which on loopback have 64 KB each.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        connection.setblocking(False)
        connection.bind(SOURCE)
        try:
            await asyncio.get_running_loop().sock_connect(connection, (self.host, self.port))
            return await asyncio.open_connection(sock=connection)
        except BaseException:
            connection.close()
            raise

    def is_on(self):
        return time.monotonic() < self.end and self.bodies > 0

    async def drip(self, reader, writer, start, forever):
        """Sends the start, then one byte after the other until the server has enough."""
        writer.write(start)
        over = asyncio.ensure_future(reader.read(4096))
        while not over.done():
            writer.write(forever)
            self.count += 1
            await asyncio.wait([over], timeout=0.25)
        self.closed += 1

    def expect_closed(self):
        """The server must have had enough of at least some."""
        if not self.closed:
            self.faults.append("the server ended no connection")

    async def slow_headers(self):
        await self.run(lambda r, w: self.drip(r, w, HEAD + b"X-Slow: ", b"a"), self.connections)
        self.expect_closed()
        return f"{self.count} bytes of headers, {self.closed} connections ended by the server"

    async def slow_bodies(self):
        start = HEAD + b"Content-Length: 4000\r\n\r\n"
        await self.run(lambda r, w: self.drip(r, w, start, b" "), self.connections)
        self.expect_closed()
        return f"{self.count} bytes of bodies, {self.closed} connections ended by the server"

    async def never_reading(self):
        self.takes_little = True

        async def work(reader, writer):
            reader._transport.pause_reading()
            while True:
                writer.write(post(CHECK) * 100)
                self.count += 100
                await writer.drain()

        await self.run(work, self.connections)
        self.expect_closed()
        return f"{self.count} requests sent, no answer read, {self.closed} connections ended by the server"

    async def idle(self):
        opened = []
        for _ in range(self.connections):
            connection = socket.socket()
            connection.setblocking(False)
            connection.bind(SOURCE)
            try:
                await asyncio.wait_for(asyncio.get_running_loop().sock_connect(connection, (self.host, self.port)), 5)
                opened.append(connection)
            except (OSError, asyncio.TimeoutError) as error:
                connection.close()
                self.closed += 1
                reason = error
        await asyncio.sleep(max(0, self.end - time.monotonic()))
        for connection in opened:
            connection.close()
        return f"{len(opened)} connections open" + (f", {self.closed} refused: {reason!r}" if self.closed else "")

    async def silent(self):
        async def work(reader, writer):
            self.count += 1
            await reader.read(1)
            raise EOFError

        await self.run(work, self.connections)
        self.expect_closed()
        return f"{self.count} silent connections, {self.closed} ended by the server"

    async def taking_places(self):
        async def stay(number):
            source = (f"127.0.0.{2 + number % self.addresses}", 0)
            while self.is_on():
                try:
                    reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=source)
                except OSError:
                    self.closed += 1
                else:
                    self.count += 1
                    if number % 2:
                        writer.write(post(CHECK))
                    try:
                        while await asyncio.wait_for(reader.read(4096), max(0.1, self.end - time.monotonic())):
                            pass
                        self.closed += 1
                    except (asyncio.TimeoutError, OSError):
                        pass
                    writer.transport.abort()
                await asyncio.sleep(min(1, max(0, self.end - time.monotonic())))

        newcomers = asyncio.ensure_future(self.others(again=False))
        await asyncio.gather(*(stay(number) for number in range(self.connections)))
        told = await newcomers
        self.expect_closed()
        return f"{self.count} connections taken, {self.closed} ended; {told}"

    async def resets(self):
        others = asyncio.ensure_future(self.others(again=True))
        while self.is_on():
            opened = []
            for _ in range(self.connections):
                connection = socket.socket()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.setblocking(False)
                connection.bind(SOURCE)
                await asyncio.get_running_loop().sock_connect(connection, (self.host, self.port))
                opened.append(connection)
            for _ in range(8):
                for connection in opened:
                    self.fill(connection)
                await asyncio.sleep(0.1)
            for connection in opened:
                connection.close()
            self.closed += len(opened)
        return f"{self.count >> 20} MB of requests in {self.closed} connections, all reset; {await others}"

    def fill(self, connection):
        """Sends requests until the server reads no more of them."""
        try:
            for _ in range(64):
                self.count += connection.send(TINY * 500)
        except OSError:
            pass

    async def others(self, again):
        """Checks of somebody else, on a connection that is kept or each on a new one; none may fail or wait for long."""
        longest = asked = 0
        connection = None
        while self.is_on():
            start = time.monotonic()
            try:
                if not connection:
                    connection = await asyncio.wait_for(asyncio.open_connection(self.host, self.port), PATIENCE)
                connection[1].write(post(CHECK))
                status, _ = await asyncio.wait_for(self.answer(connection[0]), PATIENCE)
                if status != 200:
                    self.faults.append(f"somebody else was answered with {status}")
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                self.faults.append(f"somebody else was not answered: {error!r}")
                connection = None
            longest = max(longest, time.monotonic() - start)
            asked += 1
            if connection and not again:
                connection[1].transport.abort()
                connection = None
            await asyncio.sleep(0.02)
        return f"{asked} checks of others, the slowest in {longest * 1000:.0f} ms"

    async def pipelining(self):
        async def work(reader, writer):
            while self.is_on():
                burst = 1000
                writer.write(post(CHECK) * burst)
                for _ in range(burst):
                    status, closes = await self.answer(reader)
                    self.count += 1
                    if status != 200:
                        self.faults.append(f"status {status}")
                    if closes:
                        return

        await self.run(work, min(8, self.connections))
        return f"{self.count} answers"

    async def answer(self, reader):
        """Reads one answer: its status, and whether the server ends the connection with it."""
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(
            (name.strip().lower(), value.strip().lower())
            for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
        )
        await reader.readexactly(int(fields.get(b"content-length", 0)))
        return int(head.split(b" ", 2)[1]), fields.get(b"connection") == b"close"

    async def smuggling(self):
        refused = accepted = 0
        for name, request in ambiguous_requests().items():
            reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=SOURCE)
            writer.write(request)
            received = b""
            try:
                while data := await asyncio.wait_for(reader.read(65536), 0.5):
                    received += data
            except (asyncio.TimeoutError, OSError):
                pass
            writer.transport.abort()
            statuses = [part.split(b" ", 1)[0].decode() for part in received.split(b"HTTP/1.1 ")[1:]]
            if "404" in statuses:
                self.faults.append(f"{name} ({', '.join(statuses)})")
            elif statuses and statuses[0] == "200":
                accepted += 1
            else:
                refused += 1
        return f"{refused} ambiguous requests refused, {accepted} read as one request"

    async def random_bodies(self):
        async def work(reader, writer):
            while self.is_on():
                burst = min(20, self.bodies)
                self.bodies -= burst
                answered = 0
                writer.write(b"".join(post(self.body()) for _ in range(burst)))
                try:
                    while answered < burst:
                        status, closes = await self.answer(reader)
                        answered += 1
                        if status >= 500:
                            self.faults.append(f"status {status}")
                        if closes:
                            return
                finally:
                    # What comes behind the last answer of a connection has not been looked at.
                    self.bodies += burst - answered
                    self.count += answered

        await self.run(work, min(8, self.connections))
        return f"{self.count} bodies answered"

    def body(self):
        choose = self.random
        if choose.random() < 0.3:
            return choose.randbytes(choose.randrange(2000))
        body = bytearray(CHECK)
        for _ in range(choose.randrange(1, 5)):
            place = choose.randrange(len(body) + 1)
            match choose.randrange(4):
                case 0:
                    body[place : place + 1] = choose.randbytes(1)
                case 1:
                    del body[place:]
                case 2:
                    body[place:place] = body[: choose.randrange(len(body) + 1)]
                case 3:
                    body[place:place] = choose.choice([b"[" * 500, b"{", b'"', b"\\u0000", b"\\ud800", b"1e999", b"null"])
        return bytes(body[:4000])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=48)
    parser.add_argument("--addresses", type=int, default=1, help="from 127.0.0.2 on")
    parser.add_argument("--bodies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = vars(parser.parse_args())
    kind, seed = arguments.pop("kind"), arguments["seed"]
    hostile = Hostile(**arguments)
    told = asyncio.run(getattr(hostile, kind.replace("-", "_"))())
    print(told)
    if hostile.faults:
        sys.exit(f"hostile.py {kind} --seed {seed}: {len(hostile.faults)} faults, the first: {hostile.faults[0]}")


if __name__ == "__main__":
    main()
