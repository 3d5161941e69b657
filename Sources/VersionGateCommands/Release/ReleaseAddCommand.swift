// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate release add`
struct ReleaseAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Record a release.",
        discussion: """
            Without --live-at and --staged the release is live from now on. A version may have several rows with \
            different regions and times. Warns if apps in use name versions that cannot be read: no rule with versions \
            or a target reaches them.

            Examples:
              versiongate release add com.example.doto 1.2 \\
                --platform ios --build 42 --min-os 15
              versiongate release add com.example.doto 1.2 \\
                --platform android --staged
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Argument(help: "The version, as the app reports it.")
    var version: String

    @Option(
        name: .customLong("platform"),
        help: ArgumentHelp("A platform: ios, android, macos, ...; can be repeated.", valueName: "platform"),
        completion: .platforms
    )
    var platforms: [String]

    @OptionGroup var fields: ColumnOptions<Release, Adding>

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    /// The days of checks that are searched for versions that cannot be read.
    private static let daysOfChecks = 7

    func run() async throws {
        try await options.edit(on: database, doubts: doubts, values: row) { editor, row in
            for platform in platforms { try editor.insert(row + [.init(\Release.platform, platform)]) }
        } remarks: { session in
            let counts = try CountReader(session).dailyCounts(of: bundle, days: Self.daysOfChecks)
            let unreadable = UnreadableVersions(
                ofApp: bundle,
                among: counts.map { (version: $0.version, checks: $0.checks) }
            )
            return CountCaveats.warnings(unreadable.map { [$0] } ?? [])
        }
    }

    /// A version or a system that is far above all that is known.
    private func doubts(_ session: PostgresSession) throws -> [String] {
        try CommandError.requireMeantApp(
            bundle,
            version: version,
            of: "release add",
            options: platforms.flatMap { ["--platform", $0] },
            session
        )
        var doubts: [String] = []
        let known = try PolicyReader.policy(session, bundles: [bundle]).releases.compactMap { AppVersion($0.version) }
            .max()
        if let known, let wanted = AppVersion(version), Self.isFar(wanted.text, above: known.text) {
            doubts.append("\(version) is far above the newest release of \(bundle), \(known)")
        }
        return doubts + Release.doubts(minOS: fields.text(\.minOS))
    }

    /// Whether the first number of a version is so much greater that a dot may be missing.
    private static func isFar(_ version: String, above known: String) -> Bool {
        func first(_ text: String) -> Int? { Int(text.drop { !$0.isNumber }.prefix { $0.isNumber }) }
        guard let wanted = first(version), let present = first(known) else { return false }
        return wanted >= 10 && wanted >= 5 * max(present, 1)
    }

    private func row(_ clock: CommandClock) throws -> [ColumnValue<Release>] {
        let isLive = !fields.has(\.liveAt) && !fields.isSet(\.staged)
        return [.init(\.bundle, bundle), .init(\.version, version)] + (isLive ? [.init(\.liveAt, clock.now)] : [])
            + (try fields.values(clock))
    }
}
