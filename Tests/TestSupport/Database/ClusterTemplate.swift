import Foundation
import Postgres
import PrivatePostgres

/// The data of a private PostgreSQL that was initialised once, to be copied: `initdb` takes a second of a processor.
package enum ClusterTemplate {
    /// Initialised by whoever asks first, as any private PostgreSQL is.
    private static let empty = Task { try await make("empty") { _ in } }
    private static let migrated = Task {
        try await make("migrated") { lease in
            let connection = try await PostgresConnection.connect(
                lease.configuration().patient,
                logger: TestDatabase.logger
            )
            try await TestDatabase.migrate(connection)
            await connection.close()
        }
    }

    /// Puts a copy into a state folder in which there is no PostgreSQL yet; the folder is made if it is missing.
    ///
    /// - Parameter isMigrated: Whether the database has versiongate's schema.
    package static func copy(to stateDirectory: String, isMigrated: Bool = false) async throws {
        let template = try await (isMigrated ? migrated : empty).value
        if !FileManager.default.fileExists(atPath: stateDirectory) {
            try await Companion.finish(["cp", "--archive", template, stateDirectory])
        } else {
            try await Companion.finish(["cp", "--archive", template + "/postgres", stateDirectory + "/postgres"])
        }
    }

    /// The state folder of a stopped server, in the folder of the shared one, with which it is removed.
    private static func make(
        _ name: String,
        _ body: (PrivatePostgresLease) async throws -> Void
    ) async throws -> String {
        let server = try await TestServer.shared.value
        let folder = try Companion.makeFolder(
            "\(server.stateDirectory)/\(name)",
            ownedAs: server.stateDirectory + "/postgres"
        )
        let lease = try await PrivatePostgres(
            stateDirectory: folder, settings: TestServer.settings, logger: TestDatabase.logger
        ).start()
        try await body(lease)
        try await lease.releaseAndWait()
        let cluster = URL(fileURLWithPath: folder + "/postgres")
        for file in try FileManager.default.contentsOfDirectory(atPath: cluster.path) where file != "data" {
            try FileManager.default.removeItem(at: cluster.appending(path: file))
        }
        return folder
    }
}
