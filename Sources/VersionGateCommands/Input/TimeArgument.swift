// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import UpdatePolicy

/// A time on the command line: ISO 8601 with an offset, `now`, or relative to now (`+2h`, `-30m`, `+1d12h`).
struct TimeArgument: ExpressibleByArgument, Sendable {
    private enum Form {
        case absolute(Timestamp)
        case relative(microseconds: Int64)
    }

    private let form: Form

    init?(argument: String) {
        if argument == "now" {
            form = .relative(microseconds: 0)
        } else if argument.hasPrefix("+") || argument.hasPrefix("-") {
            guard let microseconds = Self.duration(argument.dropFirst()) else { return nil }
            form = .relative(microseconds: argument.hasPrefix("-") ? -microseconds : microseconds)
        } else if let timestamp = Timestamp(argument) {
            form = .absolute(timestamp)
        } else {
            return nil
        }
    }

    /// The time it stands for when it is `now`.
    func timestamp(now: Timestamp) -> Timestamp {
        switch form {
        case .absolute(let timestamp): timestamp
        case .relative(let microseconds): now.advanced(byMicroseconds: microseconds)
        }
    }

    /// Reads `1d12h30m15s`: numbers, each with its unit.
    private static func duration(_ text: Substring) -> Int64? {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber || "dhms".contains($0) }) else { return nil }
        return SoakTime(String(text))?.inMicroseconds
    }
}
