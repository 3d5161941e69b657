import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct ReleaseAdd: EditVerb {
    static let configuration = CommandConfiguration(
        "add", "Record a release.",
        discussion: """
            Without --live-at and --staged the release is live from now on. A version may have several rows with \
            different regions and times. Warns if apps in use name versions that cannot be read: no rule with versions \
            or a target reaches them.

            --if-absent is for pipelines, which may run twice: where the release is recorded, the options that are \
            given must be what is recorded, and nothing changes. A row of another build, or for other countries alone, \
            is another release.
            """,
        examples: [
            "versiongate release add com.example.doto 1.2 --platform ios --build 42 --min-os 15",
            "versiongate release add com.example.doto 1.2 --platform android --staged",
            "versiongate release add com.example.doto 1.2 --platform ios --build 42 --if-absent",
        ]
    )

    @Argument(help: "The bundle of the app.") var bundle: String
    @Argument(help: "The version, as the app reports it.") var version: String

    @Option(
        name: .customLong("platform"),
        help: .init("A platform: ios, android, macos, ...; can be repeated.", valueName: "platform")
    )
    var platforms: [String]

    @Flag(help: "Change nothing where the release is recorded; fail where it is, with other values than those given.")
    var ifAbsent = false

    @Option(help: "The build, as the app reports it.") var build: String?

    @Option(each: "region", "A country where it is (JP); without one it is everywhere", valueName: "country")
    var regions: [String]

    @OptionGroup var columns: ReleaseOptions

    /// The days of checks that are searched for versions that cannot be read.
    private static let daysOfChecks = 7

    /// What is given of a release, and what a new one has beside it.
    struct Values: Sendable {
        let given: [ColumnValue<Release>]
        let usual: [ColumnValue<Release>]
    }

    func values(_ clock: CommandClock) throws -> Values {
        let isLive = columns.liveAt == nil && columns.staged != true
        return Values(
            given: try ColumnEdit(columns.given(build: build, regions: regions)).values(clock),
            usual: isLive ? [.init(\.liveAt, clock.now)] : []
        )
    }

    func edit(_ editor: PolicyEditor, _ values: Values) throws {
        if ifAbsent { try editor.lock(where: [.init(\App.bundle, bundle)]) }
        for platform in platforms {
            guard try !ifAbsent || isAbsent(on: platform, values.given, editor) else { continue }
            try editor.insert(
                [.init(\.bundle, bundle), .init(\.version, version)] + values.usual + values.given
                    + [.init(\Release.platform, platform)]
            )
        }
    }

    func warnings(_ session: PostgresSession) throws -> [String] {
        let period = CountPeriod(days: Self.daysOfChecks, at: try DatabaseClock(session) { .now() }.now)
        let counts = try CountReader(session).versions(of: bundle, in: period)
        let unreadable = UnreadableVersions(
            ofApp: bundle,
            among: counts.map { (version: $0.name, checks: $0.checks) }
        )
        let warnings = unreadable.map { Report(at: .now(), CountNotes.warnings([$0])).text(on: .file) }
        return try [warnings].compactMap(\.self) + withdrawals(session)
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
        if let build, !present.differences.contains(where: { $0.name == "build" }) { words += ["--build", build] }
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
    func confirmations(_ session: PostgresSession) throws -> [String] {
        try CommandError.requireMeantApp(
            bundle, version: version, of: "release add", options: platforms.flatMap { ["--platform", $0] }, session
        )
        let known = try PolicyReader.policy(session, bundles: [bundle]).releases.compactMap { AppVersion($0.version) }
            .max()
        let isFar = if let known, let wanted = AppVersion(version) { Self.isFar(wanted, above: known) } else { false }
        return (isFar ? ["\(version) is far above the newest release of \(bundle), \(known?.text ?? "")"] : [])
            + columns.confirmations(on: platforms)
    }

    /// Whether the first number of a version is so much greater that a dot may be missing.
    private static func isFar(_ version: AppVersion, above known: AppVersion) -> Bool {
        func first(_ version: AppVersion) -> Int? { Int(version.text.drop { !$0.isNumber }.prefix { $0.isNumber }) }
        guard let wanted = first(version), let present = first(known) else { return false }
        return wanted >= 10 && wanted >= 5 * max(present, 1)
    }
}
