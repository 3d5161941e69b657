import Synchronization

/// A value that event loops read and another thread replaces.
package final class Current<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    /// Begins with a value.
    package init(_ value: Value) {
        content = Mutex(value)
    }

    /// The value that counts now.
    package var value: Value { content.withLock { $0 } }

    /// Uses another value from now on.
    package func replace(with new: Value) {
        content.withLock { $0 = new }
    }
}
