import Foundation
import Subprocess
import SystemPackage

/// The programs of one version of PostgreSQL on this system.
package struct PostgresInstallation: Sendable, Hashable {
    /// The folder of `initdb` and `postgres`.
    let bin: String
    /// The major version.
    let major: Int

    /// The oldest version that versiongate's schema works with.
    static let oldestMajor = 15

    /// Where the programs are looked for.
    package struct Search: Sendable {
        /// Folders separated by colons.
        package var path: String = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        /// Folders with a folder for each version, as Debian has them.
        var versionedFolders = ["/usr/lib/postgresql"]

        var folders: [String] { path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") } }

        func find(_ program: String) -> String? {
            folders.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
        }
    }

    /// Finds the first installation in PATH, then in the versioned folders from the newest down, then where
    /// `pg_config` points, that is of the major version, or of any that is new enough if that is nil.
    static func find(major: Int?, _ search: Search) async throws(PrivatePostgresError) -> PostgresInstallation {
        var seen: [PostgresInstallation] = []
        var folders = search.folders + versions(in: search.versionedFolders)
        if let program = search.find("pg_config"), let folder = await output(of: program, ["--bindir"]) {
            folders.append(folder)
        }
        for folder in folders {
            guard ["initdb", "postgres"].allSatisfy({ access("\(folder)/\($0)", X_OK) == 0 }),
                let version = await output(of: "\(folder)/postgres", ["--version"]).flatMap(majorVersion(in:))
            else { continue }
            let installation = PostgresInstallation(bin: folder, major: version)
            if major.map({ $0 == version }) ?? (version >= oldestMajor) { return installation }
            seen.append(installation)
        }
        throw missing(major: major, seen: seen)
    }

    private static func versions(in folders: [String]) -> [String] {
        folders.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.compactMap { Int($0) }.sorted(by: >).map { "\(folder)/\($0)/bin" }
        }
    }

    /// The first line that a program prints; nil if it fails.
    private static func output(of program: String, _ arguments: [String]) async -> String? {
        let result = try? await run(
            .path(FilePath(program)), arguments: Arguments(arguments), output: .string(limit: 4096)
        )
        guard let result, result.terminationStatus.isSuccess else { return nil }
        return result.standardOutput.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// 15 in `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, 18 in `postgres (PostgreSQL) 18beta1`.
    static func majorVersion(in line: String) -> Int? {
        guard let start = line.firstRange(of: "(PostgreSQL) ")?.upperBound else { return nil }
        return Int(line[start...].prefix { $0.isNumber })
    }

    private static func missing(major: Int?, seen: [PostgresInstallation]) -> PrivatePostgresError {
        let others = seen.map { "\($0.major) in \($0.bin)" }.joined(separator: ", ")
        let found = others.isEmpty ? "" : " (found: \(others))"
        if let major {
            return PrivatePostgresError(
                .programsMissing,
                "the data was made by PostgreSQL \(major), whose programs initdb and postgres are not installed\(found)",
                hint: "Install PostgreSQL \(major) (on Debian: apt-get install postgresql-\(major)), or set "
                    + "DATABASE_URL to use a database elsewhere."
            )
        }
        return PrivatePostgresError(
            .programsMissing,
            "the programs initdb and postgres of PostgreSQL \(oldestMajor) or newer are not installed\(found)",
            hint: "Install PostgreSQL (on Debian: apt-get install postgresql), or set DATABASE_URL to use a database "
                + "elsewhere. In a container, take the image that has PostgreSQL: versiongate:example."
        )
    }
}
