// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Explains ranges in words, so that their author can check them.
enum RangeInWords {
    /// Prints a line for each range.
    static func printMeaning(versions: String?, builds: String?, os: String?) throws {
        for (name, range) in [("versions", versions), ("builds", builds), ("os", os)] {
            if let range {
                let meaning = try VersionRange(range)
                let remarks = meaning.remarks.isEmpty ? "" : " (\(meaning.remarks.joined(separator: "; ")))"
                print("\(name) \(range) means: \(meaning.inWords)\(remarks)")
            }
        }
    }
}
