// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension CommandError {
    /// No checks are counted that could be judged.
    static func noCounts(of bundle: String?, days: Int) -> CommandError {
        let checks = bundle.map { "checks of \($0)" } ?? "checks"
        return CommandError(
            "no \(checks) were counted in the last \(days) days; servers count the checks that they "
                + "answer, unless --count-interval is 0; a longer period may have some: --days \(min(days * 4, 3_660))"
        )
    }

    /// There is no such rule, but some that are spelled nearly like it.
    static func noSuchRule(_ key: String, among keys: [String]) -> CommandError {
        let similar = SimilarNames.of(key, among: keys).prefix(3)
        guard !similar.isEmpty else { return noSuchRule(key) }
        return CommandError("there is no rule \(key); did you mean \(similar.joined(separator: " or "))?")
    }

    /// There is no such app, but some that are spelled nearly like it.
    static func noSuchApp(_ bundle: String, among bundles: [String]) -> CommandError {
        let similar = SimilarNames.of(bundle, among: bundles).prefix(3)
        guard !similar.isEmpty else { return noSuchApp(bundle) }
        return CommandError("there is no app \(bundle); did you mean \(similar.joined(separator: " or "))?")
    }
}
