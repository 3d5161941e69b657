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

            --if-absent is for pipelines, which may run twice: where the release is recorded, the options that are \
            given must be what is recorded, and nothing changes. A row of another build, or for other countries alone, \
            is another release.

            Examples:
              versiongate release add com.example.doto 1.2 \\
                --platform ios --build 42 --min-os 15
              versiongate release add com.example.doto 1.2 \\
                --platform android --staged
              versiongate release add com.example.doto 1.2 \\
                --platform ios --build 42 --if-absent
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

    @Flag(help: "Change nothing where the release is recorded; fail where it is, with other values than those given.")
    var ifAbsent = false

    @OptionGroup var fields: ColumnOptions<Release, Adding>

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    /// The days of checks that are searched for versions that cannot be read.
    private static let daysOfChecks = 7

    func run() async throws {
        try await options.edit(on: database, doubts: doubts, values: values) { editor, values in
            if ifAbsent { try editor.lock(where: [.init(\App.bundle, bundle)]) }
            for platform in platforms {
                guard try !ifAbsent || isAbsent(on: platform, values.given, editor) else { continue }
                try editor.insert(
                    [.init(\.bundle, bundle), .init(\.version, version)] + values.usual + values.given
                        + [.init(\Release.platform, platform)]
                )
            }
        } remarks: { session in
            let counts = try CountReader(session).dailyCounts(of: bundle, days: Self.daysOfChecks)
            let unreadable = UnreadableVersions(
                ofApp: bundle,
                among: counts.map { (version: $0.version, checks: $0.checks) }
            )
            return try CountCaveats.warnings(unreadable.map { [$0] } ?? []) + withdrawals(session)
        }
    }

    /// What is given of a release, and what a new one has beside it.
    private struct Values: Sendable {
        let given: [ColumnValue<Release>]
        let usual: [ColumnValue<Release>]
    }

    private func values(_ clock: CommandClock) throws -> Values {
        let isLive = !fields.has(\.liveAt) && !fields.isSet(\.staged)
        return Values(given: try fields.values(clock), usual: isLive ? [.init(\.liveAt, clock.now)] : [])
    }

    /// Whether the release is not recorded on a platform.
    ///
    /// - Throws: An error that names what is recorded of it and differs.
    private func isAbsent(
        on platform: String,
        _ given: [ColumnValue<Release>],
        _ editor: PolicyEditor
    ) throws -> Bool {
        guard
            let present = try editor.presentRelease(bundle: bundle, platform: platform, version: version, given)
        else { return true }
        guard !present.differences.isEmpty else { return false }
        let differences = present.differences.map { column in
            let values = [column.before, column.after].map {
                ChangeWords.local.value($0, of: column.name, in: Release.table.rawValue)
            }
            return "\(column.name) is \(values[0]), not \(values[1])"
        }
        var words = ["release", "edit", bundle, version, "--platform", platform]
        if let build = fields.text(\.build), !present.differences.contains(where: { $0.name == "build" }) {
            words += ["--build", build]
        }
        words += present.differences.flatMap(Self.editing)
        throw CommandError(
            "\(version) of \(bundle) on \(platform) is recorded, and \(differences.joined(separator: ", ")); nothing was changed\n"
                + "Hint: Leave out what differs, or change what is recorded: "
                + "\(PrintedCommand(words.map(\.shellWord).joined(separator: " ")))"
        )
    }

    /// The words of `release edit` that make a column what is given.
    private static func editing(_ column: PolicyChange.Column) -> [String] {
        switch column.name {
        case "staged": [column.after == "true" ? "--staged" : "--no-staged"]
        case "regions": ["--set-region", "COUNTRY"]
        case "build": ["--set-build", column.after ?? ""]
        default: ["--\(column.name.replacing("_", with: "-"))", column.after ?? ""]
        }
    }

    /// Warns where a release that was not added again is withdrawn.
    private func withdrawals(_ session: PostgresSession) throws -> [String] {
        guard ifAbsent else { return [] }
        let rows = try PolicyReader.policy(session, bundles: [bundle]).releases.filter {
            AppVersion($0.version) == AppVersion(version)
        }
        return platforms.filter { platform in
            let rows = rows.filter { Platform($0.platform) == Platform(platform) }
            return !rows.isEmpty && rows.allSatisfy { $0.withdrawnAt != nil }
        }.map { "Warning: \(version) of \(bundle) on \($0) is withdrawn; --if-absent leaves it so" }
    }

    /// A version or a system that is far above all that is known.
    private func doubts(_ session: PostgresSession) throws -> [String] {
        try CommandError.requireMeantApp(
            bundle, version: version, of: "release add", options: platforms.flatMap { ["--platform", $0] }, session
        )
        var doubts: [String] = []
        let known = try PolicyReader.policy(session, bundles: [bundle]).releases.compactMap { AppVersion($0.version) }
            .max()
        if let known, let wanted = AppVersion(version), Release.isFar(wanted, above: known) {
            doubts.append("\(version) is far above the newest release of \(bundle), \(known)")
        }
        return doubts + Release.doubts(minOS: fields.text(\.minOS), on: platforms)
    }
}
