import PrivatePostgres
import Subprocess
import SystemPackage

extension TestDatabase {
    /// What psql printed and how it ended.
    package struct PsqlResult: Sendable {
        /// The rows, their columns separated by `|`, without headings.
        package let output: String
        /// Errors, notices and warnings.
        package let errors: String
        /// Whether every statement succeeded.
        package let isSuccess: Bool
    }

    /// Runs a script by psql, as an admin would, up to the first error.
    package func psql(_ script: String, user: String = PrivatePostgres.superuser) async throws -> PsqlResult {
        let result = try await run(
            .path(FilePath(server.psql)),
            arguments: [
                "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "-v", "ON_ERROR_STOP=1", url(user: user),
            ],
            input: .string(script),
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        return PsqlResult(
            output: result.standardOutput, errors: result.standardError, isSuccess: result.terminationStatus.isSuccess
        )
    }
}
