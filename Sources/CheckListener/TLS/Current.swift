import Synchronization

/// A value that event loops read and another thread replaces.
package final class Current<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    package init(_ value: Value) {
        content = Mutex(value)
    }

    package var value: Value { content.withLock { $0 } }

    package func replace(with new: Value) {
        content.withLock { $0 = new }
    }
}
