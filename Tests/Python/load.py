"""Checks at a bounded rate, as apps would make them."""

import http.client
import json
import threading
import time

CHECK = json.dumps({
    "version": "1.1.0", "build": "42", "platform": "iOS", "region": "en_US", "bundle": "com.example.doto"
}).encode()


class Load:
    """Checks from now on. Each connection is kept alive and asks in turn.

    A check fails when it is not answered in time by status 200 and a JSON object with a list of messages.
    """

    CONNECTIONS, TIMEOUT = 8, 2

    def __init__(self, address, rate=200, limit=None):
        """rate: checks a second, of all connections together; limit: how many; without it, until end()."""
        self.address, self.limit, self.pause = address, limit, self.CONNECTIONS / rate
        self.stopping, self.lock = threading.Event(), threading.Lock()
        # How many checks there were; when those were sent that failed, and why; and when the first was sent that had
        # another title as its answer than before ("-": no message).
        self.sent, self.failed, self.answers = 0, [], []
        self.threads = [threading.Thread(target=self.ask_again_and_again) for _ in range(self.CONNECTIONS)]
        for thread in self.threads:
            thread.start()
            self.stopping.wait(self.pause / self.CONNECTIONS)

    def end(self):
        self.stopping.set()
        self.wait()

    def wait(self):
        for thread in self.threads:
            thread.join()

    def ask_again_and_again(self):
        connection = http.client.HTTPConnection(self.address, timeout=self.TIMEOUT)
        while not self.stopping.is_set():
            sent, title, failure = time.time(), None, None
            try:
                title = self.ask(connection)
            except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
                failure = f"{type(error).__name__}: {error}"
                connection.close()
            self.note(sent, title, failure)
            self.stopping.wait(max(0, sent + self.pause - time.time()))
        connection.close()

    @staticmethod
    def ask(connection):
        connection.request("POST", "/v1/check", CHECK, {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        messages = json.loads(body)["messages"]
        return messages[0]["title"] if messages else "-"

    def note(self, sent, title, failure):
        with self.lock:
            self.sent += 1
            if self.sent == self.limit:
                self.stopping.set()
            last, last_title = self.answers[-1] if self.answers else (0, None)
            if failure:
                self.failed.append((sent, failure))
            elif title != last_title and sent >= last:
                self.answers.append((sent, title))

    def answered(self, title):
        """When the first check was sent that was answered with a title; None: there was none."""
        return next((sent for sent, found in self.answers if found == title), None)

    def failures(self, *outages):
        """Why checks failed that were sent while a server was up; each outage is its begin and its end.

        One that was sent in the two seconds before may have met the end.
        """
        return [reason for sent, reason in self.failed
                if not any(began - 2 <= sent <= ended for began, ended in outages)]
