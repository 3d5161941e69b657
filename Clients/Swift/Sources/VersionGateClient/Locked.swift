import Foundation

/// A value behind a lock. `Mutex` of the standard library needs iOS 18.
///
/// It is unchecked, because the compiler cannot see that the lock guards the value.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// The result of `body`, which has the value to itself. It calls nothing of the app, and does not wait.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
