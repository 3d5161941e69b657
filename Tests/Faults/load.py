#!/usr/bin/env python3
"""Checks at a bounded rate until SIGTERM, or a number of them, as apps would make them.

load.py URL [--connections N] [--rate N] [--timeout SECONDS] [--checks N]

Each connection is kept alive and asks in turn. A check fails when it is not answered in time by status 200 and a JSON
object with a list of messages. What happens is printed as it happens, one line each, with the time in milliseconds:

    failed TIME REASON     a check failed
    answer TIME TITLE      the answers begin to have this title ("-": no message); TIME is when the check was sent
    checks=N failed=N      at the end
"""

import argparse
import http.client
import json
import signal
import threading
import time
import urllib.parse

QUESTION = json.dumps(
    {"version": "1.1.0", "build": "42", "platform": "iOS", "region": "en_US", "bundle": "com.example.doto"}
).encode()


class Load:
    """The checks of all connections together."""

    def __init__(self, url, connections, rate, timeout, checks):
        address = urllib.parse.urlsplit(url)
        self.host, self.port = address.hostname, address.port
        self.timeout = timeout
        self.pause = connections / rate
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.limit = checks
        self.checks = self.failed = 0
        self.last_title = None
        self.last_sent = 0
        self.threads = [threading.Thread(target=self.ask_again_and_again) for _ in range(connections)]

    def run(self):
        for thread in self.threads:
            thread.start()
            self.stopping.wait(self.pause / len(self.threads))
        for thread in self.threads:
            thread.join()
        print(f"checks={self.checks} failed={self.failed}", flush=True)

    def ask_again_and_again(self):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)
        while not self.stopping.is_set():
            sent = time.time()
            try:
                title, failure = self.ask(connection), None
            except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
                title, failure = None, f"{type(error).__name__}: {error}"
                connection.close()
            self.note(sent, title, failure)
            self.stopping.wait(max(0, sent + self.pause - time.time()))
        connection.close()

    def ask(self, connection):
        connection.request("POST", "/v1/check", QUESTION, {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        messages = json.loads(body)["messages"]
        return messages[0]["title"] if messages else "-"

    def note(self, sent, title, failure):
        with self.lock:
            self.checks += 1
            if self.checks == self.limit:
                self.stopping.set()
            if failure is not None:
                self.failed += 1
                print(f"failed {sent * 1000:.0f} {failure}", flush=True)
            elif title != self.last_title and sent >= self.last_sent:
                self.last_title, self.last_sent = title, sent
                print(f"answer {sent * 1000:.0f} {title}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--rate", type=float, default=200, help="checks a second, of all connections together")
    parser.add_argument("--timeout", type=float, default=2)
    parser.add_argument("--checks", type=int, help="how many; without it, until SIGTERM")
    load = Load(**vars(parser.parse_args()))
    signal.signal(signal.SIGTERM, lambda *_: load.stopping.set())
    load.run()


if __name__ == "__main__":
    main()
