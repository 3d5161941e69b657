// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization

/// How many kinds of clients all recorders of a server together may still keep apart in an hour.
///
/// Without a bound, clients that make their members up would fill the memory of the server and the disk of the database.
final class KindAllowance: Sendable {
    private let maximum: Int
    private let taken = Atomic<Int>(0)

    /// Creates an allowance of so many kinds.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Takes one; `false` where none is left.
    func take() -> Bool {
        guard taken.load(ordering: .relaxed) < maximum else { return false }
        guard taken.add(1, ordering: .relaxed).newValue <= maximum else {
            taken.subtract(1, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Gives back those of an hour that is over.
    func giveBack(_ count: Int) {
        taken.subtract(count, ordering: .relaxed)
    }
}
