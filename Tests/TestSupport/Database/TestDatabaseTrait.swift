import Postgres
package import Testing

/// The trait that gives each test, or each case of a parameterised test, a database of its own.
package struct TestDatabaseTrait: TestTrait, SuiteTrait, TestScoping {
    let isMigrated: Bool
    /// What the cases of a parameterised test find in the one database that they share; nil: each has its own.
    var contents: String?

    /// On a suite it holds for every test in it.
    package var isRecursive: Bool { true }

    /// A database for the cases of a test encloses them all, one for a case encloses that case.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || (testCase == nil) != (contents != nil) ? nil : self
    }

    /// Runs the test with a new database as `TestDatabase.current`.
    @concurrent
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A case whose test has a database for all of its cases is within it.
        guard TestDatabase.ofThisTest == nil else { return try await function() }
        if isMigrated { return try await WarmDatabase.with { _ in try await fill(function) } }
        let server = try await TestServer.shared.value
        let database = try await server.createDatabase(isMigrated: false)
        defer { server.dropDatabase(database) }
        try await TestDatabase.$ofThisTest.withValue(database) { try await fill(function) }
    }

    private func fill(_ function: @concurrent @Sendable () async throws -> Void) async throws {
        if let contents, !contents.isEmpty {
            let connection = try await TestDatabase.current.connect()
            try await connection.execute(contents)
            await connection.close()
        }
        try await function()
    }
}

extension Trait where Self == TestDatabaseTrait {
    /// An empty database for each test, as `TestDatabase.current`.
    package static var database: Self { TestDatabaseTrait(isMigrated: false) }

    /// A database with versiongate's schema for each test, as `TestDatabase.current`.
    package static var migratedDatabase: Self { TestDatabaseTrait(isMigrated: true) }

    /// A database with versiongate's schema for all cases of a parameterised test, which change nothing in it.
    ///
    /// - Parameter contents: The edit that fills it; empty for none.
    package static func sharedDatabase(_ contents: String = "") -> Self {
        TestDatabaseTrait(isMigrated: true, contents: contents)
    }
}
