#!/usr/bin/env python3
"""Clients that mean harm, or are as bad as if they did.

hostile.py KIND HOST PORT [--seconds N] [--connections N]

    never-reading  requests one after the other, whose answers are never read
    taking-places  connections that ask once or never and stay, opened again when they are ended; others ask meanwhile
    resets         connections that ask until the server reads no more of them, and are all closed at once

Ends with 1 if the server did what it must not: keep a client that reads nothing, or let somebody else wait.
Prints in one line what it did.
"""

import argparse
import asyncio
import json
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


def post(body):
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


class Hostile:
    """One kind of harm for some seconds."""

    def __init__(self, host, port, seconds, connections):
        self.host, self.port = host, port
        self.end = time.monotonic() + seconds
        self.connections = connections
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
        return time.monotonic() < self.end

    def expect_closed(self):
        """The server must have had enough of at least some."""
        if not self.closed:
            self.faults.append("the server ended no connection")

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

    async def taking_places(self):
        async def stay(number):
            while self.is_on():
                try:
                    reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=SOURCE)
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

    async def answer(self, reader):
        """Reads one answer: its status, and whether the server ends the connection with it."""
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(
            (name.strip().lower(), value.strip().lower())
            for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
        )
        await reader.readexactly(int(fields.get(b"content-length", 0)))
        return int(head.split(b" ", 2)[1]), fields.get(b"connection") == b"close"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=48)
    arguments = vars(parser.parse_args())
    kind = arguments.pop("kind")
    hostile = Hostile(**arguments)
    told = asyncio.run(getattr(hostile, kind.replace("-", "_"))())
    print(told)
    if hostile.faults:
        sys.exit(f"hostile.py {kind}: {len(hostile.faults)} faults, the first: {hostile.faults[0]}")


if __name__ == "__main__":
    main()
