import Glibc
import Subprocess
import SystemPackage

extension PrivatePostgresLease {
    /// Runs the launching script as the folder's owner, in a session of its own, so that no signal meant for this
    /// process reaches the server. The script returns when the server's process is there; it outlives this one.
    func launch() async throws(PrivatePostgresError) {
        let version = Int(ServerFile.text(folder.data + "/PG_VERSION").prefix { $0.isNumber })
        let installation = try await PostgresInstallation.find(major: version, postgres.search)
        for program in ["flock"] + asOwner.prefix(1) where postgres.search.find(program) == nil {
            throw PrivatePostgresError(
                .programsMissing, "the program \(program) is not installed",
                hint: "Install util-linux, or set DATABASE_URL to use a database elsewhere."
            )
        }
        var platform = PlatformOptions()
        platform.createSession = true
        let command = asOwner + ["sh", "-c", LaunchScript.launcher, "versiongate-launch"] + serverArguments
        do {
            let result = try await run(
                .path("/usr/bin/env"), arguments: Arguments(command), environment: .custom(environment(installation)),
                workingDirectory: "/", platformOptions: platform, output: .discarded, error: .string(limit: 65536)
            )
            guard result.terminationStatus.isSuccess else {
                throw PrivatePostgresError.preparation(in: folder.path, output: result.standardError)
            }
        } catch let error as PrivatePostgresError {
            throw error
        } catch {
            throw PrivatePostgresError(.startFailed, "PostgreSQL could not be started: \(error)")
        }
    }

    /// The beginning of a command line that makes root the owner of the folder; empty for anybody else.
    ///
    /// A program does it because the forked child of a process with several threads must not: setuid waits for threads
    /// that the child does not have.
    private var asOwner: [String] {
        guard geteuid() == 0 else { return [] }
        return ["setpriv", "--reuid=\(folder.owner.id)", "--regid=\(folder.owner.group)", "--clear-groups"]
    }

    private func environment(_ installation: PostgresInstallation) -> [Environment.Key: String] {
        [
            "PATH": postgres.search.path + ":/usr/bin:/bin",
            "LC_ALL": "C",
            "VG_BIN": installation.bin,
            "VG_FOLDER": folder.path,
            "VG_SOCKET": folder.socketDirectory,
            "VG_KEEPER": LaunchScript.keeper,
            "VG_IDENT": identMap,
            "VG_SUPERUSER": PrivatePostgres.superuser,
            "VG_LOCALE": installation.major >= 17
                ? "--locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C" : "--locale=C",
        ]
    }

    /// The options of the program `postgres`.
    private var serverArguments: [String] {
        let settings = [
            ("listen_addresses", ""),
            ("port", "\(port)"),
            ("unix_socket_directories", "\"\(folder.socketDirectory.replacing("\"", with: "\"\""))\""),
            ("unix_socket_permissions", "0700"),
            ("log_destination", "stderr"),
            ("logging_collector", "off"),
            ("log_checkpoints", "off"),
        ]
        return (settings + postgres.settings.sorted { $0.key < $1.key }).flatMap { ["-c", "\($0)=\($1)"] }
    }

    /// Root and the owner may log in as any of the roles. Nobody else can reach the socket.
    private var identMap: String {
        let groups = ["admin", "planner", "brake", "viewer", "server"].map { "versiongate_\($0)" }
        return ["root", folder.owner.name].flatMap { user in
            ([PrivatePostgres.superuser] + groups).map { role in
                "versiongate \"\(user.replacing("\"", with: "\"\""))\" \(role)"
            }
        }.joined(separator: "\n")
    }
}

/// The two shell scripts that run PostgreSQL detached from the process that starts it.
///
/// Both get their parameters in the environment (`VG_...`), and the options of the server as arguments.
enum LaunchScript {
    /// Prepares the folder, starts the keeper in the background and returns.
    ///
    /// Descriptor 8 is the lock that all processes of the server inherit. `initdb` holds it as well and works in a
    /// folder that gets its name at the end, so that an interrupted one is no danger. With the lock held no server
    /// of ours is alive, so a `postmaster.pid` is stale, unless it names a server that somebody started by hand.
    static let launcher = #"""
        set -eu
        umask 077
        data=$VG_FOLDER/data
        log=$VG_FOLDER/server.log

        exec 8>>"$VG_FOLDER/server.lock"
        flock --exclusive --timeout 30 8 || {
            echo "processes of an earlier PostgreSQL are still running in $data" >&2
            exit 1
        }

        if ! [ -e "$data/PG_VERSION" ]; then
            if [ -e "$data" ]; then
                echo "$data is not a data folder of PostgreSQL: it has no PG_VERSION" >&2
                exit 1
            fi
            rm -rf -- "$data.new"
            "$VG_BIN/initdb" --pgdata="$data.new" --username="$VG_SUPERUSER" --encoding=UTF8 $VG_LOCALE \
                --auth-local=peer --auth-host=scram-sha-256 --data-checksums --no-instructions >&2
            mv -- "$data.new" "$data"
        fi
        echo 'local all all peer map=versiongate' >"$data/pg_hba.conf"
        printf '%s\n' "$VG_IDENT" >"$data/pg_ident.conf"

        pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null || true)
        if [ -z "$pid" ] || { [ -d /proc/self ] && ! [ "/proc/$pid/cwd" -ef "$data" ]; }; then
            rm -f -- "$data/postmaster.pid" "$VG_SOCKET"/.s.PGSQL.*
        fi

        if [ -e "$log" ] && [ "$(wc -c <"$log")" -gt 10000000 ]; then mv -f -- "$log" "$log.1"; fi
        sh -c "$VG_KEEPER" versiongate-keeper "$@" </dev/null >>"$log" 2>&1 &
        """#

    /// Runs the server until it ends or no lease is left.
    ///
    /// The waiter gets the exclusive lock when no lease is left. It holds the lock until the keeper, seeing the
    /// server ended, ends it. It repeats the signal because a server that has just been started may miss the first.
    static let keeper = #"""
        server=
        stop() { [ -z "$server" ] || kill -INT "$server" 2>/dev/null; }
        trap stop TERM INT HUP

        "$VG_BIN/postgres" -D "$VG_FOLDER/data" "$@" &
        server=$!
        exec 8>&-
        flock --exclusive --no-fork "$VG_FOLDER/leases.lock" sh -c '
            kill -TERM "$1"
            while kill -INT "$2"; do sleep 0.05; done
            while kill -0 "$1"; do sleep 0.05; done
        ' versiongate-waiter $$ "$server" 2>/dev/null &
        waiter=$!

        while kill -0 "$server" 2>/dev/null; do wait "$server"; done
        kill "$waiter" 2>/dev/null
        """#
}
