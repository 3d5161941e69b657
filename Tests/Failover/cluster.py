"""The machines of deploy/patroni as network namespaces: three members and two servers on one bridge.

The calling process stands outside of all of them, at an address that none is ever cut off from: apps and people.
"""

import json
import os
import pathlib
import secrets
import signal
import subprocess
import urllib.error
import urllib.request

from servers import BINARY, REPOSITORY, run, wait

FILES = REPOSITORY / "deploy" / "patroni"
MEMBERS = {"a": "10.0.0.11", "b": "10.0.0.12", "c": "10.0.0.13"}
SERVERS = {"gate-1": "10.0.0.21", "gate-2": "10.0.0.22"}
ADDRESSES = MEMBERS | SERVERS
OUTSIDE = "10.0.0.1"


def ask(url, data=None):
    """What a JSON resource says, whatever its status; None when nobody answers."""
    try:
        try:
            response = urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=2)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            return json.load(response)
    except (OSError, ValueError):
        return None


class Machine:
    """A network namespace, and what runs in it."""

    def __init__(self, name, folder):
        self.name, self.address = name, ADDRESSES[name]
        self.folder = folder / name
        self.folder.mkdir()
        self.folder.chmod(0o711)
        run("ip", "netns", "add", name)
        run("ip", "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", "dev", name, "master", "switch", "up")
        for command in (f"address add {self.address}/24 dev eth0", "link set eth0 up", "link set lo up"):
            run("ip", "-n", name, *command.split())
        # What comes from the addresses of a set is dropped, without a word to the sender.
        run("ip", "netns", "exec", name, "nft", "-f", "-", input="""
            table inet failover {
                set away { type ipv4_addr; }
                chain in { type filter hook input priority 0; ip saddr @away drop; }
            }""")

    def start(self, what, *command, environment=None):
        with open(self.folder / f"{what}.log", "ab") as log:
            return subprocess.Popen(
                ["ip", "netns", "exec", self.name, *command], env=os.environ | (environment or {}),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def processes(self):
        return [int(number) for number in run("ip", "netns", "pids", self.name).split()]

    def signal(self, number, but=None):
        for process in set(self.processes()) - {but}:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def lose_power(self):
        """Nothing runs any more, and the network gets no answer, not even that nobody is there."""
        run("ip", "link", "set", "dev", self.name, "down")
        wait(lambda: self.signal(signal.SIGKILL) or not self.processes(), f"{self.name} does not end", 10)

    def power_up(self):
        run("ip", "link", "set", "dev", self.name, "up")

    def cut_off(self, *others):
        run("ip", "netns", "exec", self.name, "nft", "add", "element", "inet", "failover", "away",
            "{ %s }" % ", ".join(other.address for other in others))

    def reconnect(self):
        run("ip", "netns", "exec", self.name, "nft", "flush", "set", "inet", "failover", "away")


def settings(text):
    """What systemd reads as an environment file."""
    return dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))


class Member(Machine):
    """PostgreSQL, Patroni and etcd."""

    # Runs a command as a user, with this machine's own folders in the places that the files name.
    ENTER = """
        mount --bind "$1/postgresql" /var/lib/postgresql
        mount --bind "$1/etcd" /var/lib/etcd
        mkdir -p /run/postgresql
        mount --bind "$1/run" /run/postgresql
        user=$2
        shift 2
        exec setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"
        """

    def __init__(self, name, folder, programs, password):
        super().__init__(name, folder)
        self.programs = programs
        for file in ("etcd", "patroni.yml"):
            text = (FILES / file).read_text().replace("/postgresql/15/", f"/postgresql/{programs.parent.name}/")
            for word, value in (("name", name), ("address", self.address), ("password", password)):
                text = text.replace(f"@{word}@", value)
            (self.folder / f"{file}.settings").write_text(text)
        self.etcd_settings = settings((self.folder / "etcd.settings").read_text())
        for part, user in (("postgresql", "postgres"), ("etcd", "etcd"), ("run", "postgres")):
            (self.folder / part).mkdir()
            run("chown", f"{user}:", str(self.folder / part))

    def enter(self, user, *command):
        return "unshare", "--mount", "bash", "-ec", self.ENTER, "-", str(self.folder), user, *command

    def boot(self):
        self.power_up()
        self.start_etcd()
        self.start_patroni()

    def start_etcd(self):
        self.etcd = self.start("etcd", *self.enter("etcd", "etcd"), environment=self.etcd_settings)

    def start_patroni(self):
        self.patroni = self.start("patroni", *self.enter("postgres", "patroni", f"{self.folder}/patroni.yml.settings"),
                                  environment={"HOME": "/var/lib/postgresql"})

    def kill_patroni(self):
        """As systemd ends the unit of a process that was killed: with all that it has started."""
        self.patroni.kill()
        self.signal(signal.SIGKILL, but=self.etcd.pid)

    def patronictl(self, *arguments):
        return run("ip", "netns", "exec", self.name, "patronictl", "-c", f"{self.folder}/patroni.yml.settings", *arguments)

    def psql(self, sql, database="versiongate"):
        """As superuser, on the machine itself."""
        return run("ip", "netns", "exec", self.name, *self.enter(
            "postgres", f"{self.programs}/psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
            "--set=ON_ERROR_STOP=1", "--dbname", database), input=sql).strip()


class Server(Machine):
    """A versiongate."""

    def __init__(self, name, folder, password):
        super().__init__(name, folder)
        self.environment = settings((FILES / "versiongate.env").read_text()) | {"PGPASSWORD": password}

    def boot(self):
        self.power_up()
        self.start("versiongate", BINARY, "serve", "--state-dir", f"{self.folder}/state", "--host", self.address,
                   "--management-host", self.address, environment=self.environment)

    def ready(self):
        return ask(f"http://{self.address}:9090/ready") or {}


class Cluster:
    """All of them, and what is asked from outside."""

    OWNER = """
        CREATE ROLE versiongate_owner LOGIN CREATEROLE PASSWORD :'password';
        GRANT pg_signal_backend TO versiongate_owner;
        CREATE DATABASE versiongate OWNER versiongate_owner TEMPLATE template0 ENCODING 'UTF8';
        """
    ROLES = """
        ALTER ROLE versiongate_server PASSWORD :'password';
        CREATE ROLE anna LOGIN PASSWORD :'password';
        GRANT versiongate_admin TO anna;
        INSERT INTO apps (bundle, name) VALUES ('com.example.doto', 'Doto');
        INSERT INTO rules (key, bundle, enabled, title, text)
        VALUES ('fault', 'com.example.doto', true, 'Edit 0', 'The title tells which edit is live.');
        """

    def __init__(self, folder):
        self.password = secrets.token_hex(8)
        programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "name", "switch", "type", "bridge")
        run("ip", "address", "add", f"{OUTSIDE}/24", "dev", "switch")
        run("ip", "link", "set", "switch", "up")
        self.members = [Member(name, folder, programs, self.password) for name in MEMBERS]
        self.servers = [Server(name, folder, self.password) for name in SERVERS]
        self.psql_program = programs / "psql"

    def boot(self):
        for member in self.members:
            member.boot()
        self.settled(120)
        password = f"\\set password {self.password}\n"
        self.primary().psql(password + self.OWNER, "postgres")
        # libpq asks no other host once one has said that it has no such database.
        query = "SELECT 1 FROM pg_database WHERE datname = 'versiongate'"
        wait(lambda: all(member.psql(query, "postgres") for member in self.members), "a member has no database", 30)
        run(BINARY, "migrate", env=self.environment("versiongate_owner"))
        self.primary().psql(password + self.ROLES)
        for server in self.servers:
            server.boot()
        self.agreed(20)

    def environment(self, user):
        """As on the desk of somebody who edits."""
        address = settings((FILES / "versiongate.env").read_text())["DATABASE_URL"].replace("versiongate_server", user)
        return os.environ | {"DATABASE_URL": address, "PGPASSWORD": self.password}

    def view(self):
        """What Patroni says of the members, by their names; empty when none answers."""
        for member in self.members:
            told = ask(f"http://{member.address}:8008/cluster")
            if told:
                return {each["name"]: each for each in told["members"]}
        return {}

    def primary(self):
        def found():
            leaders = [name for name, each in self.view().items() if each["role"] in ("leader", "master", "primary")]
            return leaders and leaders[0]

        name = wait(found, "there is no primary", 60)
        return next(member for member in self.members if member.name == name)

    def standbys(self):
        """The synchronous one first."""
        view = self.view()
        return sorted((member for member in self.members if member is not self.primary()),
                      key=lambda member: view.get(member.name, {}).get("role") != "sync_standby")

    def etcd_leader(self):
        for member in self.members:
            status = ask(f"http://{member.address}:2379/v3/maintenance/status", b"{}")
            if status and status["leader"] == status["header"]["member_id"]:
                return member
        raise RuntimeError("etcd has no leader")

    def settled(self, seconds):
        """A primary, a synchronous standby and another one, all of one timeline."""
        def condition():
            members = self.view().values()
            return sorted(each["role"] for each in members) in (
                ["leader", "replica", "sync_standby"], ["leader", "quorum_standby", "quorum_standby"]
            ) and all(each["state"] in ("running", "streaming") for each in members) and len(
                {each.get("timeline") for each in members}) == 1

        wait(condition, "the cluster is not whole", seconds)

    def agreed(self, seconds):
        """Members have the same history, and servers answer by its end."""
        def condition():
            try:
                histories = {member.psql("SELECT coalesce(max(id), 0), md5(string_agg(token::text, '' ORDER BY id)) FROM changes")
                             for member in self.members}
            except RuntimeError:
                return False
            revisions = {str(server.ready().get("revision")) for server in self.servers}
            return len(histories) == 1 and revisions == {histories.pop().split("|")[0]}

        wait(condition, "the members have not one history that the servers follow", seconds)

    def timeline(self):
        return int(self.primary().psql("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"), 16)

    def titles(self):
        """The titles that the history knows, in its order."""
        return self.primary().psql(
            "SELECT after ->> 'title' FROM change_rows WHERE table_name = 'rules' ORDER BY change").splitlines()

    def counted(self):
        return int(self.primary().psql("SELECT coalesce(sum(checks), 0) FROM check_counts"))
