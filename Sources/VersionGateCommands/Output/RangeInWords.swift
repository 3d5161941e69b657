// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Says what ranges mean, so that whoever wrote them sees whether that was meant.
enum RangeInWords {
    /// Prints a line for each range.
    static func printMeaning(versions: String?, builds: String?, os: String?) throws {
        for (name, range) in [("versions", versions), ("builds", builds), ("os", os)] {
            if let range {
                print("\(name) \(range) means: \(try VersionRange(range).inWords)")
            }
        }
    }
}
