// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Testing

/// The trait that gives each test, or each case of a parameterised test, a database of its own.
public struct TestDatabaseTrait: TestTrait, SuiteTrait, TestScoping {
    let isMigrated: Bool

    /// On a suite it holds for every test in it.
    public var isRecursive: Bool { true }

    /// Creates the database, runs the test with it as `TestDatabase.current`, and drops it.
    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard !test.isSuite else { return try await function() }
        let server = try await TestServer.shared.value
        let database = try await server.createDatabase(isMigrated: isMigrated)
        let result: Result<Void, any Error>
        do {
            result = .success(try await TestDatabase.$ofThisTest.withValue(database, operation: function))
        } catch {
            result = .failure(error)
        }
        try await server.dropDatabase(database)
        try result.get()
    }
}

extension Trait where Self == TestDatabaseTrait {
    /// An empty database for each test, as `TestDatabase.current`.
    public static var database: Self { TestDatabaseTrait(isMigrated: false) }

    /// A database with versiongate's schema for each test, as `TestDatabase.current`.
    public static var migratedDatabase: Self { TestDatabaseTrait(isMigrated: true) }
}
