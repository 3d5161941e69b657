import Glibc
import Logging
import Testing

@testable import PrivatePostgres

@Suite("Private PostgreSQL errors")
struct PrivatePostgresErrorTests {
    private func failure(_ postgres: PrivatePostgres) async -> PrivatePostgresError? {
        await #expect(throws: PrivatePostgresError.self) { _ = try await postgres.start() }
    }

    @Test("Where initdb is missing, the error names the package and the alternative")
    func namesThePackage() async throws {
        try await TemporaryFolder.with { folder in
            var postgres = folder.postgres()
            postgres.search = .init(path: folder.path, versionedFolders: [folder.path])
            let error = await failure(postgres)
            #expect(error?.code == .programsMissing)
            #expect(
                error?.description == """
                    the programs initdb and postgres of PostgreSQL 15 or newer are not installed
                    Install PostgreSQL (on Debian: apt-get install postgresql), or set DATABASE_URL to use a database \
                    elsewhere. In a container, take the image that has PostgreSQL: versiongate:example.
                    """
            )
        }
    }

    @Test("Where the disk is full, the error has the line that says so, and what to do")
    func namesTheFullDisk() {
        let output = """
            creating directory /s/postgres/data.new ... ok
            performing post-bootstrap initialization ... FATAL:  could not write to file "base/4/1247": No space left on device
            child process exited with exit code 1
            """
        let error = PrivatePostgresError.preparation(in: "/s", output: output)
        #expect(error.message.split(separator: "\n").count == 2)
        #expect(
            error.description.contains("No space left on device\nFree 100 MB there, or choose another state folder")
        )
        #expect(PrivatePostgresError.preparation(in: "/s", output: "a\nb").description.hasSuffix(":\na\nb"))
    }

    @Test("Data of a version that is not installed name that version")
    func namesTheVersion() async throws {
        try await TemporaryFolder.initialised { folder in
            try await folder.postgres().start().releaseAndWait()
            try folder.write("99\n", to: "state/postgres/data/PG_VERSION")
            let error = await failure(folder.postgres())
            #expect(error?.code == .programsMissing)
            #expect(error?.message.hasPrefix("the data was made by PostgreSQL 99, whose programs") == true)
            #expect(error?.hint?.contains("postgresql-99") == true)
        }
    }

    @Test("A server that ends while it starts shows the end of its log")
    func showsTheLog() async throws {
        try await TemporaryFolder.with { folder in
            let error = await failure(folder.postgres(["shared_buffers": "nonsense"]))
            #expect(error?.code == .startFailed)
            #expect(error?.message.contains("invalid value for parameter \"shared_buffers\"") == true)
        }
    }

    @Test("A state folder that cannot be used is refused, and the error names what is in the way")
    func namesTheFolder() async throws {
        for (path, message) in [
            ("", "the path of the state folder is empty"), ("/tmp/a\nb", "the path of the state folder is empty"),
            ("/proc/versiongate", "the state folder /proc/versiongate cannot be written by"),
        ] {
            let error = await failure(PrivatePostgres(stateDirectory: path, logger: Logger(label: "test")))
            #expect(error?.code == .folderUnusable && error?.message.hasPrefix(message) == true, "\(path)")
        }
        try await TemporaryFolder.with { folder in
            #expect(mkdir(folder.state, 0o755) == 0)
            try folder.write("", to: "state/postgres")
            #expect(
                await failure(folder.postgres())?.message == "\(folder.state)/postgres cannot be used: Not a directory")
        }
        try await TemporaryFolder.with { folder in
            #expect(symlink("/nonexistent/folder", folder.state) == 0)
            for path in [folder.state, folder.state + "/a/b"] {
                let postgres = PrivatePostgres(stateDirectory: path, logger: Logger(label: "test"))
                #expect(await failure(postgres)?.code == .folderUnusable)
            }
        }
        try await TemporaryFolder.with { folder in
            guard geteuid() == 0 else { return }
            #expect(chmod(folder.path, 0o700) == 0)
            let message = "the folder \(folder.path), on the way to the state folder"
            #expect(await failure(folder.postgres())?.message.hasPrefix(message) == true)
        }
    }

    @Test("A released lease does not start the server again")
    func refusesReleasedLeases() async throws {
        try await TemporaryFolder.initialised { folder in
            let lease = try await folder.postgres().start()
            try await lease.releaseAndWait()
            let error = await #expect(throws: PrivatePostgresError.self) { try await lease.ensureRunning() }
            #expect(error?.message.contains("was released") == true)
            #expect(lease.serverProcessID == nil)
        }
    }

    @Test(
        "The major version is read from what postgres prints",
        arguments: [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", 15), ("postgres (PostgreSQL) 18beta1", 18),
            ("postgres (PostgreSQL) 17", 17), ("postgres", nil), ("postgres (PostgreSQL) x", nil),
        ] as [(String, Int?)]
    )
    func readsTheVersion(line: String, major: Int?) {
        #expect(PostgresInstallation.majorVersion(in: line) == major)
    }
}
