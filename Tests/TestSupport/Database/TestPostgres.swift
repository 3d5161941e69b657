import Foundation
import PrivatePostgres

extension PrivatePostgres {
    /// A PostgreSQL of tests: every local user may log in as any role, on 127.0.0.1 with a password.
    ///
    /// - Parameter stateDirectory: A folder, which is made if it is missing.
    static func ofTests(stateDirectory: String, settings: [String: String]) throws -> PrivatePostgres {
        try FileManager.default.createDirectory(
            atPath: stateDirectory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711]
        )
        let file = stateDirectory + "/pg_hba.conf"
        let rules = "local all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        try Data(rules.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        return PrivatePostgres(
            stateDirectory: stateDirectory, settings: settings.merging(["hba_file": file]) { $1 },
            logger: TestDatabase.logger
        )
    }

    /// Lets the server speak a language: in any locale but C its messages are in the one that the environment names.
    func speaking(_ language: String) throws -> PrivatePostgres {
        let programs = stateDirectory + "/programs"
        try FileManager.default.createDirectory(
            atPath: programs, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755]
        )
        for program in ["initdb", "postgres"] {
            let script = """
                #!/bin/sh
                IFS=:
                for folder in $PATH $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr | paste -sd:); do
                    [ "$folder" = "\(programs)" ] && continue
                    [ -x "$folder/postgres" ] && LANGUAGE=\(language) exec "$folder/\(program)" "$@"
                done

                """
            let path = programs + "/" + program
            try Data(script.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        var postgres = self
        postgres.search.path = programs + ":" + postgres.search.path
        return postgres
    }
}

extension PrivatePostgresLease {
    /// Has the state folder removed once no lease is left and the server has ended, however this process ends.
    func removeAfterwards() throws {
        let script = """
            flock "$1/leases.lock" true
            flock "$1/server.lock" true
            rm -rf -- "${1%/postgres}" "$2"
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // With --wait the child lives on. One that ends, while its own child keeps open what tells Foundation of an end, is
        // reaped by nobody, and swift-testing then waits for exit tests in vain.
        process.arguments = [
            "setsid", "--wait", "sh", "-c", script, "remover", stateDirectory + "/postgres", socketDirectory,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }
}
