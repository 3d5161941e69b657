import Glibc
package import Logging

/// A PostgreSQL server that versiongate runs itself, in a state folder and reachable through a Unix socket only.
///
/// It runs while any process holds a lease on it: `start()` gives one, starting the server if it is not running, and
/// initialising it if it never was. When the last lease is gone, however its holder ended, the server stops. Any
/// number of processes may call `start()` at once.
///
/// Its databases and roles are reached by peer authentication: root and the owner of the folder log in as the
/// superuser `versiongate` or as one of versiongate's roles, which the migrations create. Run by root, the server runs as
/// the user who owns the folder `postgres` in the state folder; at first that is the system's user `postgres`, whom every
/// package of PostgreSQL creates, or else `nobody`.
///
/// ## How leases work
/// A lease is a shared `flock` on the file `leases.lock`, which the kernel releases when its holder ends. A keeper, a
/// small shell script in a session of its own, runs the server and waits for the exclusive lock on that file, which
/// it gets when no lease is left; it holds it while it stops the server, so that newcomers wait until that is done
/// and start it again. `start.lock` lets one process at a time initialise and start. `server.lock` is inherited by
/// all processes of the server and therefore free when, and only when, none of them is left, which makes it safe to
/// remove a stale `postmaster.pid`.
package struct PrivatePostgres: Sendable {
    /// The superuser, who owns the database.
    package static let superuser = "versiongate"
    package static let database = "versiongate"

    /// The state folder, as it was named.
    package let stateDirectory: String
    /// Settings of `postgresql.conf` by name, given to the server when this process starts it.
    let settings: [String: String]
    let logger: Logger
    package var search = PostgresInstallation.Search()

    /// Names the state folder; nothing is touched before `start()`.
    package init(stateDirectory: String, settings: [String: String] = [:], logger: Logger) {
        self.stateDirectory = stateDirectory
        self.settings = settings
        self.logger = logger
    }

    /// Whether the server was initialised before, so that `start()` makes nothing new.
    ///
    /// True also where that cannot be seen, because the folder may not be entered; `start()` says so then.
    package var exists: Bool { access("\(stateDirectory)/postgres/data/PG_VERSION", F_OK) == 0 || errno != ENOENT }

    /// Takes a lease on the running server, after initialising and starting it where needed.
    ///
    /// - Throws: `.programsMissing`, `.folderUnusable`, `.startFailed` with the end of the server's log, `.timeout`
    ///   or `.cancelled`.
    package func start() async throws(PrivatePostgresError) -> PrivatePostgresLease {
        let lease = try PrivatePostgresLease(self, ClusterFolder(stateDirectory: stateDirectory))
        try await lease.lock()
        try await lease.ensureRunning()
        return lease
    }
}
