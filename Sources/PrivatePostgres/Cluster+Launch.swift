import Glibc
import Subprocess
import SystemPackage

extension Cluster {
    /// Runs the launching script as the folder's owner, in a session of its own, so that no signal meant for this
    /// process reaches the server. The script returns when the server's process is there; it outlives this one.
    func launch() async throws(PrivatePostgresError) {
        let installation = try await PostgresInstallation.find(major: dataVersion(), search)
        for program in ["flock"] + asOwner.prefix(1) where search.find(program) == nil {
            throw PrivatePostgresError(
                .programsMissing, "the program \(program) is not installed",
                hint: "Install util-linux, or set DATABASE_URL to use a database elsewhere."
            )
        }
        if options.listensOnLoopback { setPort(try LoopbackPort.choose()) }

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

    private func dataVersion() throws(PrivatePostgresError) -> Int? {
        let version = ServerLog(folder.data + "/PG_VERSION").text(from: 0).prefix { $0.isNumber }
        return version.isEmpty ? nil : Int(version)
    }

    private func environment(_ installation: PostgresInstallation) -> [Environment.Key: String] {
        var environment: [Environment.Key: String] = [
            "PATH": search.path + ":/usr/bin:/bin",
            "LC_ALL": "C",
            "VG_BIN": installation.bin,
            "VG_FOLDER": folder.path,
            "VG_SOCKET": folder.socketDirectory,
            "VG_REMOVED": options.isDisposable ? folder.stateDirectory : "",
            "VG_KEEPER": LaunchScript.keeper,
            "VG_HBA": hostBasedAuthentication,
            "VG_IDENT": identMap,
            "VG_SUPERUSER": PrivatePostgres.superuser,
            "VG_LOCALE": installation.major >= 17
                ? "--locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C" : "--locale=C",
            "VG_SYNC": options.isDisposable ? "--no-sync" : "",
        ]
        for (name, value) in options.environment { environment[Environment.Key(rawValue: name)!] = value }
        return environment
    }

    /// The options of the program `postgres`.
    private var serverArguments: [String] {
        let settings = [
            ("listen_addresses", options.listensOnLoopback ? "127.0.0.1" : ""),
            ("port", String(port)),
            ("unix_socket_directories", "\"\(folder.socketDirectory.replacing("\"", with: "\"\""))\""),
            ("unix_socket_permissions", "0700"),
            ("log_destination", "stderr"),
            ("logging_collector", "off"),
            ("log_checkpoints", "off"),
        ]
        return (settings + options.settings.sorted { $0.key < $1.key }).flatMap { ["-c", "\($0)=\($1)"] }
    }

    private var hostBasedAuthentication: String {
        let local = "local all all peer map=versiongate"
        return options.listensOnLoopback ? local + "\nhost all all 127.0.0.1/32 scram-sha-256" : local
    }

    /// Root and the owner may log in as any of the roles. Nobody else can reach the socket.
    private var identMap: String {
        let groups = ["admin", "planner", "brake", "viewer", "server"].map { "versiongate_\($0)" }
        let roles = [PrivatePostgres.superuser] + groups + options.additionalRoles
        return ["root", folder.owner.name].flatMap { user in
            roles.map { role in "versiongate \(Self.quoted(user)) \(Self.quoted(role))" }
        }.joined(separator: "\n")
    }

    private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
}
