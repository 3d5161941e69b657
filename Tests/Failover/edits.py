"""Edits that are tried all the time, each under a title of its own, and which of them were answered."""

import dataclasses
import subprocess
import threading
import time

from servers import BINARY


@dataclasses.dataclass
class Edit:
    title: str
    # The member that was asked; None: that which the command line found.
    member: str | None
    began: float
    ended: float | None = None
    # True: it was answered that it is made. False: refused, broken off, or not known.
    answered: bool = False


class Edits:
    """Tries an edit by the command line every second, and one at each member."""

    PATIENCE = 20

    def __init__(self, cluster, fault):
        self.cluster, self.fault = cluster, fault
        self.all, self.errors = [], []
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.attempts = []
        makers = [(None, self.by_command_line)] + [(member, self.at_member) for member in cluster.members]
        self.threads = [threading.Thread(target=self.try_again_and_again, args=each) for each in makers]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
            time.sleep(0.25)
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        for attempt in self.attempts:
            attempt.join()

    def try_again_and_again(self, member, make):
        # None waits for the one before it: that one may hang, and people try again.
        while not self.stopping.is_set():
            with self.lock:
                edit = Edit(f"{self.fault} {len(self.all) + 1}", member and member.name, time.time())
                self.all.append(edit)
                attempt = threading.Thread(target=self.attempt, args=(edit, member, make))
                self.attempts.append(attempt)
            attempt.start()
            self.stopping.wait(1)

    def attempt(self, edit, member, make):
        command, environment = make(edit.title, member)
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=self.PATIENCE)
            edit.answered = done.returncode == 0
            if done.stderr:
                with self.lock:
                    self.errors.append(f"{edit.began:.3f} {edit.title} {edit.member or 'command line'} "
                                       f"{done.returncode}: {' '.join(done.stderr.split())}")
        except subprocess.TimeoutExpired:
            pass
        edit.ended = time.time()

    def by_command_line(self, title, _):
        return [BINARY, "rule", "edit", "fault", "--title", title, "--yes"], self.cluster.environment("anna")

    def at_member(self, title, member):
        """Asked directly, so that one that should no longer be the primary is asked too."""
        address = f"postgresql://anna@{member.address}/versiongate?connect_timeout=2&target_session_attrs=read-write"
        return [self.cluster.psql_program, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", address, "--command",
                f"UPDATE rules SET title = '{title}' WHERE key = 'fault'"], self.cluster.environment("anna")

    def answered(self):
        return [edit for edit in self.all if edit.answered]

    def longest_wait(self, since):
        """The longest time without an answer to an edit by the command line."""
        times = sorted(edit.ended for edit in self.answered() if edit.member is None and edit.ended >= since)
        return max((later - earlier for earlier, later in zip([since, *times], times)), default=float("inf"))

    def lost(self, titles):
        return [edit for edit in self.answered() if edit.title not in titles]

    def turns(self, titles):
        """How often, in the order of the history, another member than before took an edit."""
        takers = {edit.title: edit.member for edit in self.answered() if edit.member}
        members = [takers[title] for title in titles if title in takers]
        return sum(one != other for one, other in zip(members, members[1:]))
