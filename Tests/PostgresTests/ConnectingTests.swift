import Glibc
import Postgres
import TestDatabase
import Testing

@Suite("Connecting", .database)
struct ConnectingTests {
    /// Everything that a log, a debugger or a test report could show of an error.
    private func shown(_ value: Any) -> String {
        var text = "\(value) \(String(reflecting: value)) "
        dump(value, to: &text)
        return text
    }

    private func failure(_ configuration: PostgresConfiguration) async -> PostgresError? {
        await #expect(throws: PostgresError.self) {
            _ = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        }
    }

    @Test("A configuration shows no part of its connection string")
    func configurationShowsNothing() {
        let configuration = PostgresConfiguration(
            connectionString: "postgresql://user:s3cret@host/db",
            overrides: ["password": "s3cret"]
        )
        #expect(!shown(configuration).contains("s3cret"))
        #expect(!shown(configuration).contains("host"))
    }

    @Test(
        "No error of connecting shows a secret",
        arguments: [
            "postgresql://user:s3cret@nowhere.invalid/db", "host=nowhere.invalid password=s3cret",
            "postgresql://user:p@s3cret@nowhere.invalid/db", "postgresql://user:12/s3cret@nowhere.invalid/db",
            "postgresql://user:s3cret/x@nowhere.invalid/db", "postgresql://user:p?s3cret@nowhere.invalid/db",
            "postgresql://user:p#s3cret@nowhere.invalid/db", "postgresql://user:%zzs3cret@nowhere.invalid/db",
            "postgresql://user@nowhere.invalid/db?s3cret=1", "password=p s3cret host=nowhere.invalid",
            "password='s3cret", "host=nowhere.invalid port=s3cret", "postgresql://[s3cret/db",
        ]
    )
    func errorsShowNoSecret(string: String) async throws {
        let error = try #require(await failure(PostgresConfiguration(connectionString: string)))
        #expect(error.code == .connectionFailed)
        #expect(!shown(error).contains("s3cret"))
    }

    @Test("An unknown host is named")
    func namesUnknownHost() async throws {
        let error = await failure(PostgresConfiguration(connectionString: "postgresql://u:p@nowhere.invalid/db"))
        #expect(error?.message.contains("nowhere.invalid") == true)
    }

    @Test("A database and a role that do not exist are named")
    func namesDatabaseAndRole() async throws {
        var configuration = TestDatabase.current.configuration()
        configuration.overrides = ["dbname": "absent"]
        #expect(await failure(configuration)?.message.contains("\"absent\" does not exist") == true)
        configuration.overrides = ["user": "stranger"]
        #expect(await failure(configuration)?.message.contains("\"stranger\"") == true)
    }

    @Test("Overrides win over the connection string")
    func overridesWin() async throws {
        var configuration = TestDatabase.current.configuration()
        configuration.overrides = ["dbname": "postgres", "application_name": "it's \\ \"me\""]
        let connection = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        let row = try #require(
            await connection.query("SELECT current_database()::text AS db, current_setting('application_name') AS app")
                .first
        )
        #expect(try row.decode("db", as: String.self) == "postgres")
        #expect(try row.decode("app", as: String.self) == "it's \\ \"me\"")
    }

    @Test("Special characters in user, password and database arrive")
    func keepsSpecialCharacters() async throws {
        try await OwnServer.with(listensOnLoopback: true) { server in
            let name = "ü @:/?#[]'\"\\ %&="
            let admin = try await server.connect()
            try await admin.execute("CREATE ROLE \(PostgresIdentifier(name)) LOGIN PASSWORD 's3 @:/?#[]''\"\\%&='")
            try await admin.execute("CREATE DATABASE \(PostgresIdentifier(name))")
            let user = "%C3%BC%20%40%3A%2F%3F%23%5B%5D%27%22%5C%20%25%26%3D"
            let password = "s3%20%40%3A%2F%3F%23%5B%5D%27%22%5C%25%26%3D"
            let address = "127.0.0.1:\(server.port)"
            let connection = try await PostgresConnection.connect(
                PostgresConfiguration(
                    connectionString: "postgresql://\(user):\(password)@\(address)/x",
                    overrides: ["dbname": name]
                ),
                logger: TestDatabase.logger
            )
            let row = try #require(await connection.query("SELECT session_user::text, current_database()::text").first)
            #expect(try row.decode(0, as: String.self) == name)
            #expect(try row.decode(1, as: String.self) == name)

            let error = await failure(
                PostgresConfiguration(connectionString: "postgresql://\(user):s3cret@\(address)/x")
            )
            #expect(error?.message.contains("password authentication failed") == true)
            #expect(error.map { shown($0).contains("s3cret") } == false)
        }
    }

    @Test("The connection speaks UTF-8 whatever the connection string says, and knows what the server reports")
    func speaksUTF8() async throws {
        var configuration = TestDatabase.current.configuration()
        configuration.connectionString += "&client_encoding=LATIN1"
        let connection = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        #expect(try await connection.query("SHOW client_encoding").value() == "UTF8")
        #expect(await connection.reportedSetting("server_encoding") == "UTF8")
        #expect(await connection.reportedSetting("work_mem") == nil)
        #expect(await connection.isHotStandby == false)
    }

    @Test("Connecting to a suspended server ends with the task at once, and else at the connect timeout")
    func ends() async throws {
        try await OwnServer.with { server in
            server.signal(SIGSTOP)
            defer { server.signal(SIGCONT) }
            var configuration = server.configuration()
            configuration.connectTimeout = .seconds(600)
            let task = Task { [configuration] in
                try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
            }
            task.cancel()
            let error = await #expect(throws: PostgresError.self) { _ = try await task.value }
            #expect(error?.code == .cancelled)
            configuration.connectTimeout = .seconds(2)
            #expect(await failure(configuration)?.message.contains("timeout expired") == true)
        }
    }
}
