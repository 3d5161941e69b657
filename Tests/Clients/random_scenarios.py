"""Random scenarios, as Clients/scenarios/README.md describes them, with what a library must show, send and keep in them.

The same seed gives the same ones. What must be shown comes from `Device`, a model of the page Clients/README.md that shares
no code with a library.
"""
import copy
import email.utils
import json
import random

BEGINNING = 1_790_000_000
DAY = 86_400
PAUSE = 900
MOST_REMEMBERED = 256
DEFAULT_APP = {"bundle": "com.example.doto", "version": "1.0", "build": "42", "platform": "ios"}
LINKS = ["https://example.com/a?b=c", "HTTP://example.com", "market:details", "itms-apps:x"]
NO_LINKS = ["javascript:alert(1)", "https://user@example.com", "https://", "ftp://example.com", "https://example.com/a b"]
NO_MESSAGES = [
    None, 7, "news", [], {"id": "a"}, {"id": "a", "title": "T", "text": 7}, {"id": 1, "title": "T", "text": "T"},
    {"id": "x", "title": "T", "text": "T", "lockout": "yes"}, {"id": "x", "title": "T", "text": "T", "lockout": True, "shows": 0},
    {"id": "a", "title": "T", "text": "T", "remind": "1"}, {"id": "a", "title": "T", "text": "T", "shows": 1.5},
]
NOTHING_KEPT = ["{", '{"install": 7, "messages": [[]]}']
FAILURES = [
    *({"fails": name} for name in ("unreachable", "reset", "redirect", "cut", "encoded")),
    *({"status": status, "body": '{"messages": []}'} for status in (201, 404, 500, 503)),
    *({"status": 200, "body": body} for body in ("", "<html>", "[]", "{}", '{"messages": {}}', '{"messages": [', "{}}")),
    {"status": 200, "body": '{"messages": []}', "bytes": 1_048_577},
]


def without_none(members):
    return {name: value for name, value in members.items() if value is not None}


class Kept:
    """What a library remembers; by `install` only how many there were before is known."""

    def __init__(self):
        self.install = None
        self.answer = None
        self.messages = {}

    def json(self):
        """As it is stored; None if nothing is kept."""
        messages = [without_none({"id": id, "target": target, **what}) for (id, target), what in self.messages.items()]
        members = {"install": None if self.install is None else "*", "answer": self.answer, "messages": messages or None}
        return without_none(members) or None


class Device:
    """An installed app with its clock, storage and server, and what its library must do."""

    def __init__(self):
        self.now = BEGINNING
        self.app = dict(DEFAULT_APP)
        self.sent = {}
        self.kept = self.stored = Kept()
        self.is_readable = True
        self.is_full = False
        self.asked_at = None
        self.installs = []
        self.given = []
        self.answer = {"fails": "unreachable"}

    @property
    def maximum_age(self):
        return self.app.get("maximumAge", 7) * DAY

    def start(self, changes):
        self.app = without_none({**self.app, **changes})
        self.sent = {name: value for name, value in self.app.items() if name not in ("attributes", "maximumAge")}
        self.sent.update(self.app.get("attributes", {}))
        self.kept = copy.deepcopy(self.stored) if self.is_readable else Kept()
        self.asked_at, self.given = None, []

    def write(self):
        if not self.is_full:
            self.stored, self.is_readable = copy.deepcopy(self.kept), True

    def forget(self):
        self.kept, self.stored, self.is_readable, self.asked_at = Kept(), Kept(), True, None

    def is_early(self):
        if self.asked_at is None or not 0 <= self.now - self.asked_at < PAUSE:
            return False
        kept = self.kept.answer
        return kept is None or "left" not in kept or not self.asked_at < kept["at"] + kept["left"] <= self.now

    def messages(self):
        """The messages of the answer; None if it is not valid."""
        if self.answer.get("status") != 200 or "bytes" in self.answer:
            return None
        try:
            return [m for m in json.loads(self.answer["body"])["messages"][:100] if m not in NO_MESSAGES]
        except (ValueError, KeyError, TypeError):
            return None

    def use_install(self):
        if self.kept.install is None:
            self.kept.install = len(self.installs)
            self.write()
        self.installs.append(self.kept.install)

    def fields(self):
        """The step in which the app asks what a gate is told."""
        self.use_install()
        names = {"bundle": "Bundle", "version": "Version", "build": "Build", "platform": "Platform", "region": "Region"}
        told = {f"App-{field}": self.sent[name] for name, field in names.items() if name in self.sent}
        return {"fields": {**told, "App-Install": "*"}}

    def check(self, force, manual=False):
        """The step of a check: what must be asked and given."""
        asks = force or manual or not self.is_early()
        options = {**({"force": True} if force else {}), **({"manual": True} if manual else {})}
        step = {"check": options, "asks": asks}
        messages = None
        if asks:
            self.asked_at = self.now
            self.use_install()
            step["sends"] = {**self.sent, "install": "*", **({"manual": True} if manual else {})}
            messages = self.messages()
        given = self.lockout_that_is_kept() if messages is None else self.receive(messages, manual)
        step["shows"] = [message["id"] for message, _ in given]
        step["gives"] = [description(message) for message, _ in given]
        if all(left != 0 for _, left in given):
            step["left"] = [left for _, left in given]
        if not asks:
            step["reports"] = {"outcome": "kept", "messages": len(given)}
        elif "status" in self.answer and "bytes" not in self.answer:
            fault = {} if messages is not None else {"fault": True}
            step["reports"] = {"outcome": "asked", "status": self.answer["status"], "messages": len(given), **fault}
        self.given = [message for message, _ in given] + self.given
        return step

    def receive(self, messages, manual):
        """The messages of a valid answer to show, each with the seconds that it holds."""
        date = self.answer.get("date")
        time = self.now if date is None else email.utils.parsedate_to_datetime(date).timestamp()
        self.kept.answer = None
        given = []
        for message in messages:
            if message.get("lockout"):
                left = max(0, int(message["until"] - time)) if "until" in message else None
                if self.maximum_age > 0:
                    lockout = {k: v for k, v in description(message).items() if k != "lockout"}
                    self.kept.answer = without_none({
                        "at": self.now, "version": self.app.get("version"), "build": self.app.get("build"), "left": left,
                        "lockout": lockout})
                given.append((message, left))
                break
            if manual or not self.is_hidden(message):
                given.append((message, None))
                self.touch(message, counts=True)
        self.write()
        return given

    def lockout_that_is_kept(self):
        kept = self.kept.answer
        holds = (kept is not None and self.maximum_age > 0 and 0 <= self.now - kept["at"] <= self.maximum_age
                 and kept.get("version") == self.app.get("version") and kept.get("build") == self.app.get("build")
                 and ("left" not in kept or self.now < kept["at"] + kept["left"]))
        left = kept["at"] + kept["left"] - self.now if holds and "left" in kept else None
        return [({**kept["lockout"], "lockout": True}, left)] if holds else []

    def is_hidden(self, message):
        known = self.kept.messages.get(key(message))
        if known is None:
            return False
        return ("skipped" in known or known["shown"] >= message.get("shows", known["shown"] + 1)
                or 0 <= self.now - known["last"] < message.get("remind", 0))

    def touch(self, message, counts=False, skips=False):
        """The message was shown, or the person did something with it."""
        if message.get("lockout") or not {"remind", "shows", "skip"} & message.keys():
            return
        known = self.kept.messages.pop(key(message), {"shown": 0 if counts else 1})
        known = {**known, "shown": known["shown"] + counts, "last": self.now}
        if skips and "skip" in message:
            known["skipped"] = True
        self.kept.messages[key(message)] = known
        if len(self.kept.messages) > MOST_REMEMBERED:
            del self.kept.messages[next(iter(self.kept.messages))]
        self.write()


def key(message):
    return message["id"], message.get("target")


def description(message):
    """A message as it is given: without a link that nobody may open, and without hints."""
    shown = {name: message[name] for name in ("id", "title", "text", "link", "target", "lockout") if name in message}
    if shown.get("link") in NO_LINKS:
        del shown["link"]
    return shown | ({"skip": True} if "skip" in message and "lockout" not in message else {})


class Life:
    """Chooses what happens to a device, and writes it down as the steps of a scenario."""

    def __init__(self, chance):
        self.chance = chance
        self.device = Device()
        self.steps = []
        self.reminds = chance.choices([1, 60, 3_600, DAY, 7 * DAY], k=2)

    def happens(self, probability):
        return self.chance.random() < probability

    def scenario(self, name):
        if self.happens(0.1):
            self.begin_with_many()
        for _ in range(self.chance.randint(2, 7)):
            self.start()
        return {"name": name, "rule": "shows", "steps": self.steps}

    def begin_with_many(self):
        kept = Kept()
        kept.messages = {(f"m{n}", None): {"shown": 1, "last": BEGINNING - n} for n in range(self.chance.randint(250, 256))}
        self.device.stored = kept
        self.steps.append({"storage": {"json": kept.json()}})

    def start(self):
        device, chance = self.device, self.chance
        storage = chance.choice(["empty", "unreadable", "full", *NOTHING_KEPT]) if self.happens(0.15) else ""
        if device.is_full:
            device.is_full = False
            self.steps.append({"storage": "writable"})
        if storage == "empty" or storage in NOTHING_KEPT:
            device.stored, device.is_readable = Kept(), storage == "empty"
        elif storage:
            device.is_readable, device.is_full = device.is_readable and storage == "full", storage == "full"
        if storage:
            self.steps.append({"storage": storage if storage.isalpha() else {"text": storage}})
        changes = {}
        for name, values in {
            "version": ["1.0", "1.1"], "build": ["42", "43", None], "maximumAge": [0, 1, 7, None], "region": ["AT", None],
            "language": ["de-AT", None], "attributes": [{"seats": 3, "trial": True}, {"channel": "store"}, None],
        }.items():
            # An update shows what of a kept lockout still holds, where no answer comes.
            is_update = name in ("version", "build") and device.stored.answer is not None
            if self.happens(0.4 if is_update else 0.1):
                changes[name] = chance.choice(values)
        is_update = device.stored.answer is not None and ("version" in changes or "build" in changes)
        device.start(changes)
        self.steps.append({**self.advance(), **self.answer(0.3 if is_update else 0.7), "start": changes, **device.check(self.happens(0.1))})
        self.follow()
        while self.happens(0.6):
            if self.happens(0.04):
                device.forget()
                self.steps.append({"forget": True})
            if self.happens(0.1):
                region = chance.choice(["JP", None])
                device.sent = without_none({**device.sent, "region": region})
                self.steps.append({"set": {"region": region}})
            answer = self.answer() if self.happens(0.5) else {}
            self.steps.append({**self.advance(), **answer, **device.check(self.happens(0.3), manual=self.happens(0.2))})
            self.follow()
            if self.happens(0.1):
                self.steps.append(device.fields())

    def follow(self):
        """What the person does with what was given, and what is kept then."""
        for message in [m for m in self.device.given if self.happens(0.3)]:
            # A step names an id, and means the message that was given last.
            message = next(m for m in self.device.given if m["id"] == message["id"])
            deed = self.chance.choice(["dismiss", "open", "skip"])
            opens = {"opens": description(message).get("link")} if deed == "open" else {}
            if self.happens(0.5):
                self.steps.append(self.advance())
            self.steps.append({deed: message["id"], **opens})
            self.device.touch(message, skips=deed == "skip")
        if self.device.is_readable and self.happens(0.5):
            self.steps.append({"stored": self.device.stored.json()})
        if len(self.device.installs) > 1 and self.happens(0.3):
            before, last = self.device.installs[-2:]
            self.steps.append({"same" if before == last else "other": "install"})

    def advance(self):
        """The clock moves: by any time, or to just where something ends, or a second beside it."""
        device, chance = self.device, self.chance
        ends = [known["last"] + chance.choice(self.reminds) for known in device.kept.messages.values()][-4:]
        if device.asked_at is not None:
            ends += [device.asked_at + PAUSE] * 2
        if device.kept.answer is not None:
            ends += [device.kept.answer["at"] + device.maximum_age] * 3
            ends += [device.kept.answer["at"] + device.kept.answer["left"]] * 9 if "left" in device.kept.answer else []
        seconds = chance.choice([0, 1, 30, 5_000, DAY, 9 * DAY, -1, -30, -DAY])
        if ends and self.happens(0.7):
            seconds = chance.choice(ends) - device.now + chance.choice([-1, 0, 0, 1])
        device.now += seconds
        return {"advance": seconds}

    def answer(self, success=0.7):
        device, chance = self.device, self.chance
        device.answer = chance.choice(FAILURES)
        if self.happens(success):
            messages = [self.message(id) for id in chance.sample("abcdx", chance.randint(0, 5))]
            if self.happens(0.2):
                messages.insert(chance.randint(0, len(messages)), chance.choice(NO_MESSAGES))
            device.answer = {"status": 200, "body": json.dumps({"messages": messages})}
            if self.happens(0.5):
                date = device.now + chance.choice([0, 0, 5, -5, 2 * DAY, -2 * DAY])
                device.answer["date"] = email.utils.formatdate(date, usegmt=True)
        return {"answer": device.answer}

    def message(self, id):
        chance = self.chance
        message = {"id": id, "title": f"Title {chance.randint(1, 9)}", "text": "Text."}
        for name, values, probability in [
            ("link", LINKS + NO_LINKS, 0.3), ("target", ["1.1", "1.2"], 0.4), ("remind", self.reminds, 0.4),
            ("shows", [1, 1, 2, 3], 0.4), ("skip", [True], 0.4), ("lockout", [True], 0.7 if id == "x" else 0.02),
        ]:
            if self.happens(probability):
                message[name] = chance.choice(values)
        if self.happens(0.5 if "lockout" in message else 0.1):
            message["until"] = self.device.now + chance.choice([1, 60, 600, 800, 1_000, 2 * DAY, -60])
        return message


def scenarios(seed, count):
    return [Life(random.Random(f"{seed} {number}")).scenario(f"Random {seed}, {number}") for number in range(count)]
