// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import UpdatePolicy

/// What the database knows about an app of which a version is to be blocked.
struct BlockFacts: Sendable {
    let app: App
    /// The releases that are not withdrawn.
    let releases: [Release]
    /// Those that are withdrawn.
    let withdrawn: [Release]
    /// The rules of the app.
    let rules: [Rule]
    /// The keys of all rules, of every app, also of those that were removed: clients remember them.
    let keys: Set<String>
    /// The counted checks of the app.
    let recent: RecentChecks
    /// The counted checks of the last day.
    let lastDay: [PeriodCount]
    let time: Timestamp

    /// Reads the facts.
    ///
    /// - Parameter platforms: Platforms that the database must accept.
    /// - Throws: an error if there is no such app, with the commands that add it.
    init(bundle: String, version: String, platforms: [String], _ session: PostgresSession) throws {
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        guard let app = policy.apps.first else {
            try CommandError.requireMeantApp(bundle, version: version, of: "block", session)
            let fault = try CommandError.noSuchApp(bundle, session)
            throw CommandError(
                "\(fault)\nTo add it: \(PrintedCommand("app add \(bundle.shellWord) --store-link ios=https://..."))"
            )
        }
        try PolicyReader.requirePlatforms(platforms, session)
        let time = try CommandClock(session).now
        self.app = app
        self.time = time
        releases = policy.releases.filter { !$0.isWithdrawn(at: time) }
        withdrawn = policy.releases.filter { $0.isWithdrawn(at: time) }
        rules = policy.rules.filter { $0.bundle != nil }
        keys = Set(try PolicyReader.usedKeys(session))
        let reader = CountReader(session)
        recent = try reader.recentChecksIfReadable(days: RecentDays.usual, bundles: [app.bundle])
        lastDay = try reader.ifReadable { try $0.countsOfLast(hours: 24, of: app.bundle) } ?? []
    }
}
