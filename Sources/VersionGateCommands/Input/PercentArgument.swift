// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// A percentage on the command line, with or without a percent sign; the database judges the number.
struct PercentArgument: ExpressibleByArgument, Sendable {
    /// The number as it was written, without the sign.
    let number: String

    init?(argument: String) {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        let allowed = number.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
        guard allowed, Double(number) != nil else { return nil }
        self.number = String(number)
    }
}
