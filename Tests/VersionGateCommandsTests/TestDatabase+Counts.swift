import Postgres
import TestDatabase

extension TestDatabase {
    /// Adds counted checks as a server would.
    ///
    /// - Parameter values: Rows of `check_counts`, as SQL: hour, bundle, platform, version, checks, messages, lockouts.
    func addCounts(_ values: String) async throws {
        let server = try await connect(user: "versiongate_server")
        try await server.execute(
            "INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts) VALUES \(values)"
        )
        await server.close()
    }

    /// Edits the policy as an admin, each script in a transaction of its own.
    func edit(_ scripts: String...) async throws {
        try await edit(scripts)
    }

    /// Edits the policy as an admin, each script in a transaction of its own.
    func edit(_ scripts: [String]) async throws {
        let admin = try await connect(user: "versiongate_admin")
        for script in scripts { try await admin.execute(script) }
        await admin.close()
    }

    /// The revision of the policy.
    func revision() async throws -> Int64 {
        let admin = try await connect(user: "versiongate_admin")
        let revision = try await admin.query("SELECT revision FROM policy_revision").value(as: Int64.self)
        await admin.close()
        return revision
    }
}
