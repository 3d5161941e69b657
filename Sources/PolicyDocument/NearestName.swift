// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Finds the name that somebody may have meant.
enum NearestName {
    /// The name that takes the fewest edits to be reached, unless it takes too many to be meant.
    static func of(_ text: String, among names: [String]) -> String? {
        let written = text.lowercased().replacing("-", with: "_")
        guard written.utf8.count <= 64 else { return nil }
        let nearest = names.map { ($0, editDistance(Array(written.utf8), Array($0.utf8))) }.min { $0.1 < $1.1 }
        guard let (name, distance) = nearest, distance <= max(1, min(written.utf8.count, name.utf8.count) / 3) else {
            return names.first { $0.hasPrefix(written) && written.utf8.count >= 3 }
        }
        return name
    }
}
