// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A length of time on the command line; the database judges it.
enum DurationArgument {
    /// Refuses a number without a unit, which the database would take for seconds.
    static func parse(_ argument: String) throws -> String {
        guard let number = Double(argument), number != 0 else { return argument }
        throw CommandError("write its unit: '\(argument) day\(number == 1 ? "" : "s")', \(argument)h")
    }
}
