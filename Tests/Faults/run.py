"""The scenarios of script/faults, and the table of what they did.

run.py [--list] [SCENARIO...]
"""

import argparse
import contextlib
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

from database import Database
from load import Load
from servers import BINARY, Server, run, wait

SCENARIOS = {}
PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name),
               default=pathlib.Path(shutil.which("initdb") or "/none/initdb").parent)


class Skipped(Exception):
    """The scenario cannot run on this machine."""


def scenario(seconds, description):
    """Its function gets the world, and how long its fault lasts."""
    def note(function):
        SCENARIOS[function.__name__.replace("_", "-")] = seconds, description, function
        return function

    return note


def need_root(what):
    if os.geteuid() != 0:
        raise Skipped(f"needs root for {what}")


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            raise Skipped(f"needs {command}")


def database_user():
    """Whom PostgreSQL runs as: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in "postgres", "nobody":
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Postgres:
    """A PostgreSQL in a folder, which begins with the files of another one."""

    SETTINGS = """
        listen_addresses = '127.0.0.1'
        max_connections = 20
        superuser_reserved_connections = 3
        shared_buffers = 16MB
        min_wal_size = 2MB
        max_wal_size = 16MB
        fsync = off
        """
    LOGINS = "local all all trust\nhost all versiongate_server all trust\n"
    RULE = """
        INSERT INTO apps (bundle, name) VALUES ('com.example.doto', 'Doto');
        INSERT INTO rules (key, bundle, enabled, title, text)
        VALUES ('fault', 'com.example.doto', true, 'Edit 0', 'The title tells which edit is live.');
        """

    def __init__(self, folder, template=None):
        self.folder, self.log = folder, folder.with_suffix(".log")
        folder.mkdir(exist_ok=True)
        if user := database_user():
            os.chown(folder, user["user"], user["group"])
        if template:
            run("cp", "-a", template.folder / "data", folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @classmethod
    def template(cls, folder):
        """The files that every scenario begins with: the schema, an app and a rule."""
        made = cls(folder)
        run(PROGRAMS / "initdb", "--pgdata", folder / "data", "--username", "postgres", "--auth", "trust", "--no-sync",
            "--no-locale", "--encoding", "UTF8", "--wal-segsize", "1", **database_user())
        with open(folder / "data" / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write(cls.SETTINGS)
        (folder / "data" / "pg_hba.conf").write_text(cls.LOGINS)
        with contextlib.ExitStack() as stack:
            made.start(stack)
            made.database("postgres").run("CREATE DATABASE versiongate")
            run(BINARY, "migrate", env=os.environ | {"DATABASE_URL": made.database().address})
            made.database().run(cls.RULE)
            made.process.send_signal(signal.SIGINT)
            made.process.wait(20)
        return made

    def start(self, stack, *options):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "postgres", "-D", self.folder / "data", "-k", self.folder, "-p", str(self.port), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **database_user())
        stack.callback(lambda: (self.signal(signal.SIGCONT), self.signal(signal.SIGKILL), self.process.wait()))
        wait(self.answers, "PostgreSQL does not answer", 30)

    def signal(self, number):
        """To the process and its children, if it has not ended."""
        if self.process.poll() is not None:
            return
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], stdout=subprocess.PIPE, text=True, check=False)
        for process in (self.process.pid, *map(int, found.stdout.split())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def database(self, name="versiongate"):
        """As superuser, for whom a few connections are kept free."""
        return Database(f"host={self.folder} port={self.port} user=postgres dbname={name} connect_timeout=5")

    def answers(self):
        with contextlib.suppress(RuntimeError):
            return bool(self.database("postgres").rows("SELECT 1"))


class World:
    """What a scenario happens to: a PostgreSQL, a server and its checks; and what the table tells."""

    template = None

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.server, self.load, self.edits, self.outages = None, None, 0, []
        self.recovered, self.note = None, ""
        # What the server is run with, where it listens, and where it finds PostgreSQL.
        self.prefix, self.host, self.database_host = (), "127.0.0.1", "127.0.0.1"
        folder.mkdir()

    def begin(self, *options):
        self.postgres = Postgres(self.folder / "postgres", self.template)
        self.postgres.start(self.stack, *options)
        self.database = self.postgres.database()
        # How the server connects, over TCP.
        self.url = f"postgresql://versiongate_server@{self.database_host}:{self.postgres.port}/versiongate"
        self.start_server()
        self.load = Load(self.server.public)
        self.stack.callback(self.load.end)
        wait(lambda: self.load.answers, "the first answer did not come", 10)

    def start_server(self):
        """At the port and on the state folder that it had."""
        port = self.server.public.rpartition(":")[2] if self.server else "0"
        self.server = Server(self.folder / "state", host=self.host, port=port, prefix=self.prefix,
                             DATABASE_URL=self.url)
        self.stack.callback(self.server.end)

    def restart_server(self):
        """Kills and starts it. Checks cannot be answered in between, and are not counted as failed."""
        began = time.time()
        self.server.process.kill()
        self.server.process.wait()
        self.start_server()
        self.outages.append((began, time.time()))

    def ready_says(self, *texts):
        document = self.server.get("/ready")
        return all(text in document for text in texts)

    def edit(self):
        """Gives the rule a new title. Says whether it could."""
        self.edits += 1
        with contextlib.suppress(RuntimeError):
            self.database.run("SET statement_timeout = '5s';"
                              f" UPDATE rules SET title = 'Edit {self.edits}' WHERE key = 'fault';")
            return True
        return False

    def answered(self):
        """When the first check was sent that was answered with the last edit."""
        return self.load.answered(f"Edit {self.edits}")

    def recovers(self, seconds, ended=None):
        """A fresh edit is answered that soon after the end of the fault. Of several times the longest is told."""
        ended = ended or time.time()
        wait(self.edit, f"no edit could be made within {seconds} s", ended + seconds - time.time())
        late = f"a fresh edit is not answered within {seconds} s"
        took = wait(self.answered, late, ended + seconds + 1 - time.time()) - ended
        self.recovered = max(took, self.recovered or 0)
        if took > seconds:
            raise RuntimeError(f"{late}, but after {took:.2f} s")


# What can happen to PostgreSQL. The server is up all the while, so no check may fail.

@scenario(20, "SIGSTOP to all of PostgreSQL, then SIGCONT")
def postgresql_stopped(world, seconds):
    world.begin()
    world.postgres.signal(signal.SIGSTOP)
    time.sleep(seconds)
    world.postgres.signal(signal.SIGCONT)
    world.recovers(10)


@scenario(3, "no space on PostgreSQL's volume; needs root for a volume of its own")
def disk_full(world, seconds):
    need_root("a volume of its own")
    volume = world.folder / "postgres"
    volume.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", volume)
    world.stack.callback(run, "umount", "--lazy", volume)
    world.begin()
    filler = volume / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        while file.write(bytes(1 << 16)):
            pass
    try:
        for number in range(200):
            world.database.run(f"UPDATE rules SET text = repeat(md5('{number}'), 30) WHERE key = 'fault'")
    except RuntimeError as error:
        said = re.search("No space left on device|the database system is in recovery mode|terminated", str(error))
        world.note = said[0] if said else ""
    else:
        raise RuntimeError("edits went on without space")
    time.sleep(seconds)
    filler.unlink()
    ended = time.time()
    if world.postgres.process.poll() is not None:
        world.postgres.start(world.stack)
    world.recovers(20, ended)


# What can happen to the server, to its state folder and to its memory.

@scenario(1, "the state folder is removed, and the server killed and started")
def state_missing(world, _):
    world.begin()
    state = world.server.state

    def is_on_disk():
        with contextlib.suppress(FileNotFoundError):
            return f"Edit {world.edits}".encode() in (state / "last-good-policy").read_bytes()

    shutil.rmtree(state)
    world.edit()
    wait(world.answered, "the edit is not answered", 10)
    wait(is_on_disk, "the edit is not on disk", 10)
    shutil.rmtree(state)
    world.restart_server()
    world.recovers(5)
    wait(is_on_disk, "the edit is not on disk", 10)


LATER = "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ('9999_future', 'x');"


@scenario(2, "the server is started again on a schema of a later version that it can read")
def schema_newer(world, _):
    world.begin()
    world.database.run(LATER)
    world.restart_server()
    world.recovers(5)
    if not world.ready_says('"source":"database"'):
        raise RuntimeError(f"/ready is {world.server.get('/ready')}")


@scenario(2, "the same with a schema that it cannot read, until that is taken back")
def schema_unreadable(world, seconds):
    world.begin()
    file = world.server.state / "last-good-policy"
    wait(lambda: file.exists() and file.stat().st_size, "the policy is not on disk", 10)
    world.database.run(LATER + "UPDATE versiongate_internal.schema_reader SET oldest = '9999_future'")
    world.edit()
    wait(lambda: world.ready_says("9999_future"), "/ready does not tell it", 10)
    world.restart_server()
    if not world.ready_says('"source":"file"', '"ready":true', "9999_future"):
        raise RuntimeError(f"/ready is {world.server.get('/ready')}")
    time.sleep(seconds)
    if not world.server.is_running:
        raise RuntimeError("the server ended")
    if world.load.answered("-"):
        raise RuntimeError("checks were answered without the message")
    world.database.run("UPDATE versiongate_internal.schema_reader SET oldest = '0004_policy'")
    world.recovers(5)
    world.note = "answered from disk meanwhile"


@scenario(0, "servers that get so little memory that some cannot start or work; all end in time")
def memory_limited(world, _):
    need("prlimit")
    world.begin()
    status = pathlib.Path(f"/proc/{world.server.process.pid}/status").read_text()
    peak = int(re.search(r"VmPeak:\s*(\d+)", status)[1]) << 10
    percents, started = (60, 75, 85, 90, 95, 97, 99, 102), 0
    for percent in percents:
        log = world.folder / f"limited-{percent}.log"
        with open(log, "wb") as file:
            process = subprocess.Popen(
                ["prlimit", f"--as={peak * percent // 100}", BINARY, "serve", "--host", "127.0.0.1", "--port", "0",
                 "--management-port", "0", "--state-dir", world.folder / f"state-{percent}"],
                env=os.environ | {"SWIFT_BACKTRACE": "enable=no", "DATABASE_URL": world.url},
                stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        world.stack.callback(process.kill)
        # One that gets no memory may be neither ready nor gone for ever.
        with contextlib.suppress(RuntimeError):
            wait(lambda: process.poll() is not None or b"versiongate is ready: " in log.read_bytes(), "it is stuck", 8)
        started += b"versiongate is ready: " in log.read_bytes()
        ends_in_time(process)
    world.recovers(5)
    world.note = f"{started} of {len(percents)} started"
    world.load.end()
    ends_in_time(world.server.process)


def ends_in_time(process):
    """SIGTERM ends it: 8 seconds, 4 until the last resort, and what the machine takes."""
    process.terminate()
    process.wait(14)


# What can happen to the network between the server and PostgreSQL. Edits are live within 2 s of its return.

@scenario(8, "packets to and from PostgreSQL are dropped; needs root, ip and nft")
def network_drops(world, seconds):
    in_a_namespace(world)
    drop(world, world.postgres.port)
    time.sleep(seconds)
    drop_nothing(world)
    world.recovers(2)


@scenario(20, "packets are dropped for 0.5 to 4.5 s, again and again; needs root, ip and nft")
def network_drops_again(world, seconds):
    in_a_namespace(world)
    end, outages = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        drop(world, world.postgres.port)
        time.sleep(random.uniform(0.5, 4.5))
        drop_nothing(world)
        world.recovers(2)
        outages += 1
    world.note = f"the longest of {outages} times"


@scenario(6, "the server's connection is lost without a sign, new ones work; needs root, ip and nft")
def network_half_open(world, _):
    in_a_namespace(world)
    told = run(*world.prefix, "ss", "--no-header", "--tcp", "--numeric", "state", "established",
               f"dport = :{world.postgres.port}")
    drop(world, *(line.split()[2].rpartition(":")[2] for line in told.splitlines()))
    world.recovers(3)
    world.note = "from the loss"


def in_a_namespace(world):
    """Begins with the server in a network namespace, where packets can be dropped, and PostgreSQL outside of it."""
    need_root("network namespaces")
    need("ip", "nft")
    if " 198.18." in run("ip", "-4", "-oneline", "address"):
        raise Skipped("198.18.0.0/16 is in use")
    name, link = f"versiongate-{os.getpid()}", f"vg{os.getpid()}"
    world.prefix, world.host, world.database_host = ("ip", "netns", "exec", name), "198.18.5.2", "198.18.5.1"
    try:
        run("ip", "netns", "add", name)
        world.stack.callback(run, "ip", "netns", "delete", name)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "inner", "netns", name)
        world.stack.callback(run, "ip", "link", "delete", link)
        for command in (f"address add 198.18.5.1/30 dev {link}", f"link set {link} up",
                        f"-n {name} address add 198.18.5.2/30 dev inner", f"-n {name} link set inner up"):
            run("ip", *command.split())
        nft(world, """
            table inet faults {
                chain out { type filter hook output priority 0; }
                chain in { type filter hook input priority 0; }
            }""")
    except RuntimeError as error:
        raise Skipped(f"the kernel has no network namespaces, veth or nftables: {error}") from error
    world.begin("-c", f"listen_addresses={world.database_host}")


def nft(world, rules):
    run(*world.prefix, "nft", "-f", "-", input=rules)


def drop(world, *ports):
    """Drops what comes from some ports and what goes to them."""
    nft(world, "".join(f"add rule inet faults {chain} tcp {side} {port} drop\n"
                       for chain in ("in", "out") for side in ("sport", "dport") for port in ports))


def drop_nothing(world):
    nft(world, "flush table inet faults")


LAYOUT = "{:31} {:>7} {:>7} {:>11}   {}"


def attempt(name, folder):
    """Runs a scenario and prints its row. Says how it went."""
    seconds, _, function = SCENARIOS[name]
    result, sent, failed, told = "passed", "-", "-", ""
    with contextlib.ExitStack() as stack:
        world = World(folder / name, stack)
        try:
            function(world, seconds)
        except Skipped as reason:
            result, told = "skipped", f"skipped: {reason}"
        except Exception as error:
            (world.folder / "error.log").write_text(traceback.format_exc())
            result, told = "failed", f"FAILED: {error}"
        if world.load:
            world.load.end()
            failures = world.load.failures(*world.outages)
            sent, failed = world.load.sent, len(failures)
            if failures and result == "passed":
                result, told = "failed", f"FAILED: checks failed; the first one by {failures[0]}"
    recovered = "-" if world.recovered is None else f"{world.recovered:.2f} s"
    print(LAYOUT.format(name, sent, failed, recovered, told or world.note), flush=True)
    shutil.rmtree(world.folder / "postgres", ignore_errors=True)
    return result


def main():
    parser = argparse.ArgumentParser(prog="script/faults")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("scenarios", nargs="*")
    arguments = parser.parse_args()
    for name in arguments.scenarios:
        if name not in SCENARIOS:
            parser.error(f"there is no scenario '{name}'; see script/faults --list")
    chosen = arguments.scenarios or list(SCENARIOS)
    if arguments.list:
        for name in chosen:
            print("{:31} {:3} s   {}".format(name, *SCENARIOS[name]))
        return 0
    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="faults."))
    # PostgreSQL of a root user runs as another user, who must be able to pass through.
    folder.chmod(0o711)
    World.template = Postgres.template(folder / "template")
    print(LAYOUT.format("scenario", "checks", "failed", "recovered", ""))
    results = [attempt(name, folder) for name in chosen]
    counts = ", ".join(f"{results.count(result)} {result}" for result in ("passed", "failed", "skipped"))
    system, _, release, _, processor = os.uname()
    print(f"\n{counts} in {time.monotonic() - began:.0f} s, on {system} {release} {processor} with {os.cpu_count()} "
          f"processors and a load of {os.getloadavg()[0]:.2f}")
    if "failed" in results:
        print(f"The logs are in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
