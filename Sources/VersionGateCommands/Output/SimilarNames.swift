// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Finds the names that somebody may have meant.
enum SimilarNames {
    /// At most three names that differ from `name` by few characters or begin with it, the nearest first.
    static func of(_ name: String, among names: [String]) -> [String] {
        let wanted = Array(name.lowercased().unicodeScalars)
        let near = names.compactMap { candidate -> (name: String, distance: Int)? in
            let other = Array(candidate.lowercased().unicodeScalars)
            let distance = editDistance(wanted, other)
            let isNear = distance <= max(1, wanted.count / 3)
            let isLonger = wanted.count >= 3 && candidate.lowercased().hasPrefix(name.lowercased())
            return isNear || isLonger ? (candidate, distance) : nil
        }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }
}
