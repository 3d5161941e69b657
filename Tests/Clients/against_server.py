#!/usr/bin/env python3
"""Runs the scenarios of the client libraries against a real server, and over networks that misbehave.

against_server.py NAME=PROGRAM... -- SCENARIOS...

Each NAME=PROGRAM is the command of a library's program that runs one file of scenarios. VERSIONGATE_BINARY names the built
server. For every answer with messages this program applies a policy that sends them, waits until the server serves it, and
checks that it does send them. The server signs lockouts, and scenarios of this program's own hold the libraries to its
signatures. Without VERSIONGATE_BINARY there is no server, and the relay answers by itself.

Between the libraries and the server is a relay (relay.py), which keeps what was asked and answers what no server does. It
runs random scenarios too (random_scenarios.py; VERSIONGATE_SEED repeats a run, VERSIONGATE_SCENARIOS says how many), and
makes all that can go wrong with connections, HTTP and certificates (bad_networks.py). Exits with 1 if a scenario fails, a
library runs less than all of them, or a server sends other messages.

A library's program gets two arguments, the server's address and the file. It writes lines of JSON to standard output, and
after most of them waits for a line on standard input:

{"scenario": "name", "app": {...}}
    A scenario begins. The server is not reachable until the first answer. Waits for any line.
{"app": {...}}
    A "start" changes members of the app; all of them, as they are now. Waits for any line.
{"answer": {...}}
    An "answer" step; from the line on, the listener answers so. Waits for any line.
{"checked": {"asked": true}}
    After each check: whether the library has called its transport. Waits for {"requests": [...]}, the bodies of all requests
    since the last such line (null without a body), those to the address of a redirect too.
{"result": "name", "ok": true}, {"result": "name", "ok": false, "step": 3, "why": "..."}
    A scenario ends, at the end or at a step that differs; the steps behind that are not run.
{"done": 17}
    The end of the file, after so many scenarios.

The program compares the number of requests with "asks", and the last one with "sends"; while the server is unreachable, it
takes what it gave to its transport. It begins two checks at the same time before it waits; in such a scenario the relay takes
at least half a second for an answer. It closes the connection after each. Answers that a real policy can give are objects,
all others text ("body"). The program ends with 0 if all scenarios were right, else 1.
"""
import concurrent.futures
import json
import os
import random
import shlex
import subprocess
import sys
import time

from bad_networks import ADDRESS_TIMES, UNBEARABLE, address_scenarios, fault_scenarios
from random_scenarios import scenarios
from relay import Addresses, Relay
from servers import BINARY, ask, run, servers, wait

# Of a scenario in which time matters.
MOST_ATTEMPTS = 20
# When scenarios begin by the clock that they give to the libraries.
START_OF_SCENARIOS = 1_790_000_000
SEED = os.environ.get("VERSIONGATE_SEED") or str(random.SystemRandom().randrange(1_000_000))
COUNT = int(os.environ.get("VERSIONGATE_SCENARIOS") or "60")
# A program that finds nothing wrong here finds nothing wrong anywhere.
WRONG = {"name": "Nothing answers", "rule": "asks", "steps": [
    {"start": {}, "check": {}, "asks": True, "shows": []}, {"check": {"force": True}, "asks": True, "shows": ["news"]}]}
# What each library tells its observer.
TOO_LATE = "no answer within 2 seconds"
SIGNATURE_FIELDS = ["Content-Digest", "Policy-Bundle", "Signature-Input", "Signature"]


def yaml(value):
    """A value as YAML; JSON is a part of it."""
    return json.dumps(value, ensure_ascii=False)


def policy(app, messages):
    """A policy that answers an app with these messages."""
    bundle, platform = app["bundle"], app.get("platform", "ios")
    targets = sorted({m["target"] for m in messages if "target" in m})
    releases = [
        {"version": t, "platform": platform, "live_at": "2020-01-01T00:00:00Z"} for t in targets
    ]
    lines = ["versiongate: 1", "apps:", f"  {yaml(bundle)}: " + yaml({"name": "Doto", "releases": releases}), "rules:"]
    for position, message in enumerate(messages):
        rule = {
            "bundle": bundle,
            "enabled": True,
            "position": position,
            "title": message["title"],
            "text": message["text"],
        }
        for name in ("link", "target", "shows"):
            if name in message:
                rule[name] = message[name]
        if "remind" in message:
            rule["remind"] = f"{message['remind']} seconds"
        if message.get("skip"):
            rule["skippable"] = True
        if message.get("lockout"):
            rule["lockout"] = rule["lockout_without_update"] = True
        lines.append(f"  {yaml(message['id'])}: {yaml(rule)}")
    return "\n".join(lines + ([] if messages else ["  {}"]) + ["..."]) + "\n"


def public_key(file):
    """Makes a key that signs lockouts; its public half."""
    return json.loads(run(BINARY, "lockout-key", "new", file, "--format", "json"))["public_key"]


def signed_scenarios(own, stranger):
    """Scenarios in which apps have pinned the key of the server, or others, and their clock is right."""
    lockout = {"id": "blocked", "title": "Blocked", "text": "Please update.", "link": "https://example.com/update"}
    news = {"id": "news", "title": "News", "text": "Lists."}
    answer = {"answer": {"messages": [{**lockout, "lockout": True}, news]}}
    today = {"advance": int(time.time()) - START_OF_SCENARIOS}

    def check(shows):
        return {"check": {}, "asks": True, "shows": shows}

    def scenario(name, keys, steps, bundle="com.example.doto"):
        app = {"bundle": bundle, "publicKeys": keys}
        return {"name": name, "rule": "reads", "app": app, "steps": [today, answer, {"start": {}}, *steps]}

    away = [{"answer": {"fails": "unreachable"}}, {"start": {}}]
    return [
        scenario("A lockout that the server signs locks, and is kept", [own], [check(["blocked"]), *away, check(["blocked"])]),
        scenario("The server's key may be the second", [stranger, own], [check(["blocked"])]),
        scenario("The case of the app's bundle does not count", [own], [check(["blocked"])], "COM.Example.Doto"),
        scenario("A lockout that the server signs by another key is a message, and not kept", [stranger],
                 [check(["blocked", "news"]), *away, check([])]),
        scenario("A lockout that the server signed nine days ago is a message", [own],
                 [{"advance": 9 * 86_400}, check(["blocked", "news"])]),
    ]


class Sender:
    """A server that sends what a scenario says."""

    def __init__(self, server):
        self.server, self.policy = server, None

    def ask(self, body):
        question = self.server.public, "POST", "/v1/check", body, {"Content-Type": "application/json"}
        status, fields, answer = ask(*question)
        return status, answer, {name: fields[name] for name in SIGNATURE_FIELDS if name in fields}

    def send(self, app, messages):
        """Applies a policy, and waits until the server sends these messages."""
        text = policy(app, messages)
        if text != self.policy:
            file = self.server.state.with_name("policy.yaml")
            file.write_text(text, encoding="utf-8")
            self.server.run("apply", file, "--yes", "--removals")
            self.policy = text
        question = {k: v for k, v in app.items() if k not in ("attributes", "maximumAge", "publicKeys") and v is not None}
        body = json.dumps(question | (app.get("attributes") or {})).encode()

        def is_sent():
            status, answer, _ = self.ask(body)
            return status == 200 and json.loads(answer) == {"messages": messages}

        wait(is_sent, f"the server does not answer {body.decode()} by {messages}", pause=0.005)


def play(program, address, file, relay, environment=None):
    """How many scenarios of a file a library ran, and of each that was wrong the name and why."""
    with open(file, encoding="utf-8") as text:
        scenarios = {scenario["name"]: scenario for scenario in json.load(text)}
    app, results, is_right = {}, {}, True
    command = shlex.split(program) + [address, file]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(environment or {})}) as process:
        for line in process.stdout:
            said = json.loads(line)
            reply = {}
            if "scenario" in said:
                app = dict(said["app"])
                relay.begin(scenarios[said["scenario"]])
            elif "app" in said:
                app = dict(said["app"])
            elif "answer" in said:
                if "messages" in said["answer"] and relay.server:
                    relay.server.send(app, said["answer"]["messages"])
                relay.answer = said["answer"]
            elif "checked" in said:
                reply = {"requests": relay.take_requests()}
            elif "result" in said:
                is_right = is_right and said["ok"]
                if said["ok"] and relay.complaints:
                    said = {**said, "ok": False, "why": "; ".join(relay.complaints)}
                results[said["result"]] = said
                continue
            elif "done" in said:
                break
            process.stdin.write(json.dumps(reply) + "\n")
            process.stdin.flush()
        process.stdin.close()
        said = process.stderr.read()
        status = process.wait(300)
    if status != (0 if is_right else 1):
        raise RuntimeError(f"{' '.join(command)} exited with {status}: {said}")
    faults = {}
    for name in scenarios:
        result = results.get(name, {"ok": False, "why": "was not run"})
        if not result["ok"]:
            step = result.get("step", "-")
            said = json.dumps(scenarios[name]["steps"][step - 1])[:500] if step != "-" else ""
            faults[name] = f"{name}: step {step}: {result['why']}\n    {said}"
    return len(results), faults


def is_of_time(scenario, fault):
    """Whether a busy machine may be to blame: an answer was too late for a check, or two checks were not at the same time."""
    return TOO_LATE in fault or any("together" in step.get("check", {}) for step in scenario["steps"])


class Judge:
    """Runs all that one library must do."""

    def __init__(self, name, program):
        self.name, self.program = name, program
        self.count, self.faults = 0, []

    def attempt(self, address, scenarios, relay, environment=None):
        """How many scenarios were run, and the faults of those that were wrong by their names."""
        path = os.path.join(self.folder, "scenarios.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenarios, file)
        return play(self.program, address, path, relay, environment)

    def run(self, what, address, scenarios, relay, environment=None):
        """Runs scenarios, and again those that fail because of time; no other is given a second chance."""
        for attempt in range(MOST_ATTEMPTS):
            try:
                count, faults = self.attempt(address, scenarios, relay, environment)
            except (RuntimeError, OSError, ValueError) as failure:
                self.faults.append(f"{self.name}: {what}: {failure!r}")
                return
            self.count += 0 if attempt else count
            wrong = [one for one in scenarios if one["name"] in faults and one["name"] not in ADDRESS_TIMES[:-1]]
            # What was given up in one may come in the next.
            is_late = any(is_of_time(one, faults[one["name"]]) for one in wrong)
            again = wrong if is_late and attempt + 1 < MOST_ATTEMPTS else []
            self.faults += [f"{self.name}: {what}: {faults[one['name']]}" for one in wrong if one not in again]
            if not again:
                return
            print(*(f"{self.name}: {what}: again: {faults[one['name']]}" for one in again), sep="\n", flush=True)
            # At an address only the last of several checks counts.
            scenarios = scenarios if environment else again

    def judge(self, files):
        with servers() as (folder, serve):
            self.folder, key = folder, folder / "lockout-key.pem"
            own = BINARY and public_key(key)
            relay = Relay(BINARY and Sender(serve("server", "--lockout-key", key)))
            for file in files:
                with open(file, encoding="utf-8") as text:
                    self.run(os.path.basename(file), relay.address, json.load(text), relay)
            if BINARY:
                self.run("signed", relay.address, signed_scenarios(own, public_key(folder / "stranger.pem")), relay)
            relay = Relay(None, path="/gate")
            _, faults = self.attempt(relay.address, [WRONG], relay)
            if ": step 2: " not in faults.get(WRONG["name"], ""):
                self.faults.append(f"{self.name}: a scenario that is wrong at step 2 does not fail there: {faults}")
            self.run(f"VERSIONGATE_SEED={SEED}", relay.address, scenarios(SEED, COUNT), relay)
            self.run("bad networks", relay.address + "/", fault_scenarios(self.name), relay)
            addresses = Addresses(folder)
            for what, (address, shows) in addresses.all.items():
                if what not in UNBEARABLE.get(self.name, ()):
                    self.run(what, address, address_scenarios(shows), relay, addresses.environment)
        print(f"{self.name}: {self.count} scenarios, {len(self.faults)} faults", flush=True)
        return self.faults


def main():
    split = sys.argv.index("--") if "--" in sys.argv else 0
    if split < 2 or split + 1 == len(sys.argv):
        sys.exit(__doc__)
    files = sys.argv[split + 1:]
    print(f"{COUNT} random scenarios, VERSIONGATE_SEED={SEED}", flush=True)
    programs = dict(argument.split("=", 1) for argument in sys.argv[1:split])
    with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
        runs = [pool.submit(Judge(name, program).judge, files) for name, program in programs.items()]
        faults = [fault for finished in runs for fault in finished.result()]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
