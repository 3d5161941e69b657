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
                echo "$data is no data folder of PostgreSQL: it has no PG_VERSION" >&2
                exit 1
            fi
            rm -rf -- "$data.new"
            "$VG_BIN/initdb" --pgdata="$data.new" --username="$VG_SUPERUSER" --encoding=UTF8 $VG_LOCALE $VG_SYNC \
                --auth-local=peer --auth-host=scram-sha-256 --data-checksums --no-instructions >&2
            mv -- "$data.new" "$data"
        fi
        printf '%s\n' "$VG_HBA" >"$data/pg_hba.conf"
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
    /// The folder of a disposable server is removed before the lock is let go, and never after a crash.
    static let keeper = #"""
        server=
        stopping=
        stop() {
            stopping=yes
            [ -z "$server" ] || kill -INT "$server" 2>/dev/null
        }
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
        if [ -n "$stopping" ] && [ -n "$VG_REMOVED" ]; then rm -rf -- "$VG_SOCKET" "$VG_REMOVED"; fi
        kill "$waiter" 2>/dev/null
        """#
}
