import Dispatch
public import Testing

/// The trait of tests that compute for seconds or minutes without waiting for anything.
///
/// All tests share a few threads. Some that compute would hold them all, and those that wait for servers would miss their
/// deadlines. So those that compute have one thread of their own, one after the other. Suites of them are serialized as well,
/// so that few of the places for tests are held by those that wait for that thread.
public struct ComputingTrait: TestTrait, SuiteTrait, TestScoping {
    /// On a suite it holds for every test in it.
    public var isRecursive: Bool { true }

    /// Runs the test on the thread of those that compute.
    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard !test.isSuite else { return try await function() }
        try await withTaskExecutorPreference(ComputingExecutor.shared) { try await function() }
    }
}

extension Trait where Self == ComputingTrait {
    /// The test computes, and waits for nothing.
    public static var computing: Self { ComputingTrait() }
}

/// Runs the parts of tasks on one thread.
private final class ComputingExecutor: TaskExecutor {
    static let shared = ComputingExecutor()

    private let queue = DispatchQueue(label: "tests that compute")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
