#!/usr/bin/env python3
"""A TCP proxy on loopback that can be told to behave like a bad network.

proxy.py PORT COMMANDS: forwards to 127.0.0.1:PORT. Prints the port it listens on. Reads commands, one a line, from the
FIFO named COMMANDS:

    pass              forwards
    delay SECONDS     forwards, each way that much later
    reset             resets every connection, and new ones as soon as they are accepted
    half-open         loses what is sent over the connections that are there, now and later, and tells neither side;
                      new ones are forwarded
    drop              loses what is sent over any connection; those made meanwhile stay lost
"""

import asyncio
import os
import socket
import struct
import sys


class Proxy:
    """All connections, and how they are treated."""

    def __init__(self, port):
        self.port = port
        self.mode, self.delay = "pass", 0.0
        self.lost = set()
        self.writers = set()

    def command(self, line):
        self.mode, _, argument = line.partition(" ")
        self.delay = float(argument or 0)
        if self.mode in ("half-open", "drop"):
            self.lost |= self.writers
        if self.mode == "reset":
            for writer in self.writers:
                self.reset(writer)

    @staticmethod
    def reset(writer):
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def accept(self, reader, writer):
        if self.mode == "reset":
            return self.reset(writer)
        if self.mode == "drop":
            self.lost.add(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return self.reset(writer)
        if writer in self.lost:
            self.lost.add(far_writer)
        pair = {writer, far_writer}
        self.writers |= pair
        await asyncio.gather(self.forward(reader, far_writer), self.forward(far_reader, writer))
        self.writers -= pair
        self.lost -= pair

    async def forward(self, reader, writer):
        loop = asyncio.get_running_loop()
        try:
            while data := await reader.read(65536):
                if writer in self.lost:
                    continue
                if self.delay:
                    loop.call_later(self.delay, self.write, writer, data)
                else:
                    writer.write(data)
        except OSError:
            pass
        if writer not in self.lost:
            loop.call_later(self.delay, writer.close)

    def write(self, writer, data):
        if writer not in self.lost and not writer.is_closing():
            writer.write(data)


async def main():
    proxy = Proxy(int(sys.argv[1]))
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    commands = asyncio.StreamReader()
    pipe = os.fdopen(os.open(sys.argv[2], os.O_RDWR), "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), pipe)
    while line := await commands.readline():
        proxy.command(line.decode().strip())


asyncio.run(main())
