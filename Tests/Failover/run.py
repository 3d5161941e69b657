"""The faults of script/test-failover, and the table of what they did.

run.py FOLDER [FAULT...]
run.py --list
"""

import pathlib
import signal
import sys
import time
import traceback

import edits
from cluster import Cluster
from load import Load
from servers import run, wait

CHECKS, RATE = 20_000, 400
LONGEST_WAIT = 20
FAULTS = {}


def fault(description):
    def note(function):
        FAULTS[function.__name__.replace("_", "-")] = description, function
        return function

    return note


@fault("the primary's machine loses power, and is back after 25 s")
def primary_lost(cluster, _):
    primary = cluster.primary()
    primary.lose_power()
    time.sleep(25)
    primary.boot()


@fault("the primary cannot reach the other members, all else can reach it; for 30 s")
def primary_cut_off(cluster, _):
    primary, others = cluster.primary(), cluster.standbys()
    isolate([primary], others)
    time.sleep(30)
    rejoin([primary], others)


@fault("the primary and a server on one side, all else on the other, for 90 s; people reach both")
def long_partition(cluster, _):
    one, other = [cluster.primary(), cluster.servers[0]], [*cluster.standbys(), cluster.servers[1]]
    isolate(one, other)
    time.sleep(90)
    rejoin(one, other)


@fault("the synchronous standby's machine loses power, and is back after 20 s")
def standby_lost(cluster, _):
    standby = cluster.standbys()[0]
    standby.lose_power()
    time.sleep(20)
    standby.boot()


@fault("the leader of etcd is killed, and started after 20 s")
def etcd_leader_killed(cluster, _):
    leader = cluster.etcd_leader()
    leader.etcd.kill()
    time.sleep(20)
    leader.start_etcd()


@fault("Patroni is killed on the primary, PostgreSQL with it (KillMode=mixed), and started again")
def patroni_killed(cluster, _):
    primary = cluster.primary()
    primary.kill_patroni()
    time.sleep(1)
    primary.start_patroni()


@fault("the primary's machine stands still for 30 s, and goes on as if nothing had been")
def primary_suspended(cluster, _):
    primary = cluster.primary()
    primary.signal(signal.SIGSTOP)
    time.sleep(30)
    primary.signal(signal.SIGCONT)


@fault("somebody makes another member the primary")
def switchover(cluster, _):
    primary, standby = cluster.primary(), cluster.standbys()[0]
    standby.patronictl("switchover", "--force", "versiongate", *switch_option(), primary.name, "--candidate", standby.name)


@fault("all members lose power for 10 s; meanwhile the servers are killed and start from disk")
def all_restarted(cluster, outages):
    for member in cluster.members:
        member.lose_power()
    for server in cluster.servers:
        began = time.time()
        server.lose_power()
        server.boot()
        wait(lambda: server.ready().get("source") == "file", f"{server.name} does not answer from its disk", 20)
        outages[server.name] = (began, time.time()),
    time.sleep(10)
    for member in cluster.members:
        member.boot()
    return time.time()


def switch_option():
    """Patroni 4 calls it a primary, 3 a leader."""
    told = run("patronictl", "switchover", "--help")
    return ["--primary" if "--primary" in told else "--leader" if "--leader" in told else "--master"]


def isolate(one, other):
    for machine in one:
        machine.cut_off(*other)
    for machine in other:
        machine.cut_off(*one)


def rejoin(*sides):
    for side in sides:
        for machine in side:
            machine.reconnect()


def attempt(name, cluster, folder):
    """A row of the table, and whether all of it is as it should be."""
    cluster.settled(120)
    cluster.agreed(30)
    counted, timeline = cluster.counted(), cluster.timeline()
    loads = {server.name: Load(f"{server.address}:8080", RATE / 2, CHECKS // 2) for server in cluster.servers}
    outages = {}
    with edits.Edits(cluster, name) as made:
        time.sleep(3)
        began = time.time()
        # Without any member there are no edits: then the time counts from their return.
        began = FAULTS[name][1](cluster, outages) or began
        healed = time.time()
        for load in loads.values():
            load.wait()
        time.sleep(max(0, healed + 20 - time.time()))
    (folder / "errors.log").write_text("\n".join(made.errors))
    (folder / "edits.log").write_text("\n".join(map(str, made.all)))
    cluster.settled(120)
    cluster.agreed(30)
    sent = sum(load.sent for load in loads.values())
    answered = sent - sum(len(load.failed) for load in loads.values())
    reasons = [reason for server, load in loads.items() for reason in load.failures(*outages.get(server, ()))]
    (folder / "checks.log").write_text("\n".join(reasons))
    titles = cluster.titles()
    lost, turns = made.lost(titles), made.turns(titles)
    promotions, longest = cluster.timeline() - timeline, made.longest_wait(began)
    # The counts of the last checks are on their way for up to ten seconds.
    deadline = time.monotonic() + 15
    while (missing := answered - (cluster.counted() - counted)) > 0 and time.monotonic() < deadline:
        time.sleep(1)
    good = not reasons and not lost and turns <= promotions and longest < LONGEST_WAIT and sent >= CHECKS
    numbers = len(made.answered()), len(lost), f"{turns}/{promotions}", missing
    return good, (sent, len(reasons), f"{longest:.1f} s", *numbers)


def main(arguments):
    if arguments == ["--list"]:
        for name, (description, _) in FAULTS.items():
            print(f"{name:20} {description}")
        return 0
    folder, *chosen = arguments
    folder = pathlib.Path(folder)
    cluster = Cluster(folder)
    began = time.time()
    cluster.boot()
    print(f"three members and two servers were there after {time.time() - began:.0f} s\n", flush=True)
    layout = "{:20} {:>7} {:>7} {:>9} {:>7} {:>5} {:>6} {:>8}"
    print(layout.format("fault", "checks", "failed", "no edit", "edits", "lost", "turns", "uncounted"), flush=True)
    bad = 0
    for name in chosen or FAULTS:
        place = folder / name
        place.mkdir()
        try:
            good, row = attempt(name, cluster, place)
        except Exception as error:
            (place / "error.log").write_text(traceback.format_exc())
            print(f"{name:20} FAILED: {error}", flush=True)
            bad += 1
            continue
        print(layout.format(name, *row) + ("" if good else "   FAILED"), flush=True)
        bad += not good
    return 1 if bad else 0


sys.exit(main(sys.argv[1:]))
