// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization

/// How many kinds of clients, beyond those that are known, all recorders of a server together keep apart in an hour.
///
/// Without a bound, clients that make their members up would fill the memory of the server and the disk of the database.
/// What is known needs no place here, because there is a bound on it elsewhere: the kinds of the last days
/// (``KnownKinds``), and for each release one kind that has nothing but its version.
final class KindAllowance: Sendable {
    /// What speaks for a kind that is not known.
    enum Standing {
        /// Its version is that of a release: a quarter of the places is for such kinds alone.
        case released
        /// Nothing.
        case none
    }

    /// Some of the places.
    private struct Pool {
        let size: Int
        var taken = 0
        var takenByApp: [String: Int] = [:]

        init(size: Int) {
            self.size = size
        }

        /// An app may have four times the places that are still free. So n apps that are flooded leave one part of
        /// 1 + 4 n to all others, and an app that is alone can have four parts of five.
        mutating func take(_ app: String) -> Bool {
            let takenByThis = takenByApp[app] ?? 0
            guard takenByThis / 4 < size - taken else { return false }
            taken += 1
            takenByApp[app] = takenByThis + 1
            return true
        }
    }

    private struct Hour {
        let number: Int64
        var released: Pool
        var open: Pool

        init(number: Int64, maximum: Int) {
            self.number = number
            released = Pool(size: maximum / 4)
            open = Pool(size: maximum - maximum / 4)
        }
    }

    private let maximum: Int
    private let hour = Mutex<Hour?>(nil)

    /// Creates an allowance of so many kinds an hour.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Whether no kind may be kept apart.
    var isNone: Bool { maximum == 0 }

    /// Takes a place for a kind; `false` where there is none for it.
    ///
    /// - Parameters:
    ///   - standing: What speaks for the kind.
    ///   - app: The app's bundle as the policy spells it.
    ///   - number: The hour. All places are free in a new one; a recorder may be late by an hour.
    func take(_ standing: Standing, app: String, hour number: Int64) -> Bool {
        hour.withLock { current in
            var hour = current ?? Hour(number: number, maximum: maximum)
            if number > hour.number || number < hour.number - 1 { hour = Hour(number: number, maximum: maximum) }
            // Nothing else holds the dictionaries while they change, or they would be copied.
            current = nil
            defer { current = hour }
            return standing == .released && hour.released.take(app) || hour.open.take(app)
        }
    }
}
