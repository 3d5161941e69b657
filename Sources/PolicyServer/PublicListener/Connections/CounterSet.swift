// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization

/// A counter for each case of an enumeration, which threads may raise and read at once.
final class CounterSet<Key: CaseIterable & RawRepresentable & Sendable>: Sendable where Key.RawValue == Int {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    private let counters = Key.allCases.map { _ in Counter() }

    /// Counts one more.
    func increment(_ key: Key) {
        counters[key.rawValue].count.wrappingAdd(1, ordering: .relaxed)
    }

    /// How many were counted.
    subscript(key: Key) -> Int {
        counters[key.rawValue].count.load(ordering: .relaxed)
    }
}
