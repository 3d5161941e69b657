// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore

/// A value of its own for each event loop of a group, which is used on that event loop alone.
struct LoopTable<Value>: Sendable {
    private let values: [ObjectIdentifier: NIOLoopBoundBox<Value>]

    /// Makes the values.
    init(_ group: any EventLoopGroup, make: @escaping @Sendable (any EventLoop) -> Value) {
        var values: [ObjectIdentifier: NIOLoopBoundBox<Value>] = [:]
        for eventLoop in group.makeIterator() {
            values[ObjectIdentifier(eventLoop)] = .makeBoxSendingValue(make(eventLoop), eventLoop: eventLoop)
        }
        self.values = values
    }

    /// The value of the event loop that this is called on.
    subscript(_ eventLoop: any EventLoop) -> Value {
        guard let value = values[ObjectIdentifier(eventLoop)] else {
            preconditionFailure("connections run on the event loops of the listener's group")
        }
        return value.value
    }
}
