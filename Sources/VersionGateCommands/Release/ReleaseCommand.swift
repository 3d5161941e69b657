import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = command(
        "release", "Record which versions users can get, where and since when.",
        "versiongate release add com.example.doto 1.2 --platform ios",
        discussion: """
            Releases define when a client can get an update: rules with a target wait for them, and a lockout is sent \
            only to a client that has a newer release to install.
            """,
        subcommands: [
            EditCommand<ReleaseAdd>.self, ReadCommand<ReleaseList>.self, EditCommand<ReleaseEdit>.self,
            EditCommand<ReleaseWithdraw>.self, EditCommand<ReleaseRemove>.self, ReleaseNotesCommand.self,
        ]
    )
}

struct ReleaseOptions: ParsableArguments {
    @Option("version", "The lowest version of the operating system.") var minOS: String?
    @Option(time: "When users can get it.") var liveAt: TimeArgument?
    @Flag(column: "It is in a staged rollout, so not everybody can get it yet.") var staged: Bool?
    @Option(help: "A note for the people who edit; never sent.") var note: String?

    /// The platforms whose systems have no number of 100 or more; others, as ChromeOS, do.
    private static let countedBelow100 = ["android", "ios", "macos", "tvos", "visionos", "watchos", "windows"]

    func confirmations(on platforms: [String]) -> [String] {
        guard let minOS, let major = Int(minOS.prefix { $0.isNumber }), major >= 100 else { return [] }
        let names = Set(platforms.map { Platform($0).name }).intersection(Self.countedBelow100).sorted()
        guard !names.isEmpty else { return [] }
        return [
            "no client on \(names.joined(separator: ", ")) is offered it, because no system there has reached \(minOS)"
        ]
    }
}

struct ReleaseSelector: ParsableArguments {
    @Argument(help: "The bundle of the app.") var bundle: String
    @Argument(help: "The version.") var version: String
    @Option(help: "Only this platform.") var platform: String?
    @Option(help: "Only this build.") var build: String?
    @Option(help: ArgumentHelp("Only the row for this country.", valueName: "country")) var region: String?

    func rows(_ session: PostgresSession) throws -> [Release] {
        func isVersion(_ text: String?, _ wanted: String) -> Bool {
            guard let wanted = AppVersion(wanted) else { return false }
            return text.flatMap { AppVersion($0) } == wanted
        }
        return try PolicyReader.policy(session, bundles: [bundle]).releases.filter { release in
            isVersion(release.version, version)
                && (platform.map { Platform($0).name == Platform(release.platform).name } ?? true)
                && (build.map { isVersion(release.build, $0) } ?? true)
                && (region.map { release.regions?.contains($0) ?? false } ?? true)
        }
    }

    func forEach(_ editor: PolicyEditor, _ body: (Release) throws -> Void) throws {
        let rows = try rows(editor.session)
        guard !rows.isEmpty else {
            throw CommandError(
                "there is no such release \(version) of \(bundle); `\(PrintedCommand("release list --bundle \(bundle.shellWord)"))` "
                    + "lists its releases"
            )
        }
        for row in rows { try body(row) }
    }
}

struct ReleaseList: ReadVerb {
    static let configuration = command(
        "list", "List the releases by app and platform, the greatest version first.",
        "versiongate release list --bundle com.example.doto"
    )

    @Option("bundle", "Only the releases of this app.") var bundle: String?

    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        try reports.warnOfUnknownApp(bundle)
        return .releases(try reports.releases(bundle: bundle), at: try reports.now)
    }
}

struct ReleaseEdit: EditVerb {
    static let configuration = command(
        "edit", "Change all rows of a release, or those of one platform, build or country.",
        "versiongate release edit com.example.doto 1.2 --platform android --no-staged",
        "versiongate release edit com.example.doto 1.2 --platform ios --set-build 42",
        discussion: """
            --build and --region select rows; --set-build and --set-region change them. --no-staged ends a staged \
            rollout: the release is live from now on, unless --live-at says otherwise.
            """
    )

    @OptionGroup var release: ReleaseSelector
    @Option("build", "The build, as the app reports it.") var setBuild: String?
    @Option(each: "set-region", "A country where users can get it (JP); everywhere unless given", valueName: "country")
    var regions: [String]
    @OptionGroup var columns: ReleaseOptions
    @Option(clear: Release.self) var cleared: [ClearedField<Release>]

    private var edit: ColumnEdit<Release> {
        ColumnEdit(
            self, columns, also: [GivenColumn(Release.column(\.build).definition, setBuild)], clearing: cleared)
    }

    func validate() throws { try edit.requireChange(examples: "--live-at or --no-staged") }

    var asksAboutMassEdits: Bool { true }

    func confirmations(_ session: PostgresSession) throws -> [String] {
        guard columns.minOS != nil else { return [] }
        let platforms = Set(try release.rows(session).map(\.platform)).sorted()
        let several =
            "--min-os means something else on \(platforms.joined(separator: " and ")); choose one with --platform"
        return (platforms.count > 1 ? [several] : []) + columns.confirmations(on: platforms)
    }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Release>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<Release>]) throws {
        try release.forEach(editor) { row in try editor.update(where: [.id(row.id)], set: values) }
    }
}

struct ReleaseWithdraw: EditVerb {
    static let configuration = command(
        "withdraw", "Say that users can no longer get a release.",
        "versiongate release withdraw com.example.doto 1.2",
        "versiongate release withdraw com.example.doto 1.2 --platform ios",
        discussion: "To undo it, use release edit with --clear withdrawn-at."
    )

    @OptionGroup var release: ReleaseSelector
    @Option(time: "From when on; now unless given.") var at: TimeArgument?

    var asksAboutRemovals: Bool { true }

    func values(_ clock: CommandClock) throws -> Timestamp {
        try at.map { try clock.moment($0, of: "--at") } ?? clock.now
    }

    func edit(_ editor: PolicyEditor, _ time: Timestamp) throws {
        try release.forEach(editor) { row in
            // From when it would be live where that is later, so that users never get it.
            try editor.update(where: [.id(row.id)], set: [.init(\.withdrawnAt, max(time, row.liveAt ?? time))])
        }
    }
}

struct ReleaseRemove: EditVerb {
    static let configuration = command(
        "remove", "Remove the record of a release.", "versiongate release remove com.example.doto 1.2 --region JP",
        discussion: "For a release that was recorded by mistake; withdraw one that the store no longer has."
    )

    @OptionGroup var release: ReleaseSelector

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try release.forEach(editor) { row in try editor.delete(where: [ColumnValue<Release>.id(row.id)]) }
    }
}

struct ReleaseNotesCommand: AsyncParsableCommand {
    static let configuration = command(
        "notes", "Say what is new in a release, for the feeds that show it.",
        #"versiongate release notes com.example.doto 1.2 --platform ios "Fixes a crash at the start.""#,
        "versiongate release notes com.example.doto 1.2 --language de --file notes.de.txt",
        "versiongate release notes com.example.doto 1.2 --language de --remove",
        discussion: """
            Without --language the notes are for everybody whose language has none, under the tag und. \
            They replace the notes in that language. Without --platform, --build and --region they go into all rows of \
            the release.
            """
    )

    @OptionGroup var release: ReleaseSelector
    @Argument(help: "The notes.") var text: String?
    @Option(file: "A file with the notes; - reads standard input.") var file: String?
    @Option(help: "The language, as a BCP 47 tag: de, pt-BR, zh-Hant.") var language = ReleaseNote.anyLanguage
    @Flag(help: "Remove the notes in that language.") var remove = false
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        if [text != nil, file != nil, remove].count(where: { $0 }) != 1 {
            throw ValidationError("Give the notes, or --file with a file that has them, or --remove: one of the three.")
        }
    }

    func run() async throws {
        let notes = try file.map { try InputFile.text($0, upTo: 65_536, what: "the file with the notes") } ?? text
        try await options.edit(on: database, values: { _ in }) { editor, _ in
            var removed = 0
            try release.forEach(editor) { row in
                let key: [ColumnValue<ReleaseNote>] = [.owner(row.id), .init(\.language, language)]
                if let notes {
                    try editor.upsert(where: key, set: [.init(\.text, notes)])
                } else {
                    removed += try editor.delete(where: key)
                }
            }
            guard notes != nil || removed > 0 else {
                throw CommandError(
                    "the release \(release.version) of \(release.bundle) has no notes in \(language); `"
                        + "\(PrintedCommand("release list --bundle \(release.bundle.shellWord)"))` lists its languages"
                )
            }
        }
    }
}

struct ReleaseAdd: EditVerb {
    static let configuration = command(
        "add", "Record a release.",
        "versiongate release add com.example.doto 1.2 --platform ios --build 42 --min-os 15",
        "versiongate release add com.example.doto 1.2 --platform android --staged",
        "versiongate release add com.example.doto 1.2 --platform ios --build 42 --if-absent",
        discussion: """
            Without --live-at and --staged the release is live from now on. A version may have several rows with \
            different regions and times: one of another build, or for other countries alone, is another release. \
            Warns if apps in use name versions that cannot be read: no rule with versions or a target reaches them.
            """
    )

    @Argument(help: "The bundle of the app.") var bundle: String
    @Argument(help: "The version, as the app reports it.") var version: String
    @Option(
        name: .customLong("platform"),
        help: .init("A platform: ios, android, macos, ...; can be repeated.", valueName: "platform")
    )
    var platforms: [String]
    @Flag(help: "Change nothing if the release is already recorded; fail if it is recorded with other values.")
    var ifAbsent = false
    @Option(help: "The build, as the app reports it.") var build: String?
    @Option(each: "region", "A country where users can get it (JP); everywhere unless given", valueName: "country")
    var regions: [String]
    @OptionGroup var columns: ReleaseOptions

    typealias Values = (given: [ColumnValue<Release>], usual: [ColumnValue<Release>])

    func values(_ clock: CommandClock) throws -> Values {
        let isLive = columns.liveAt == nil && columns.staged != true
        return (
            try ColumnEdit(self, columns).values(clock),
            isLive ? [.init(\.liveAt, clock.now)] : []
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
        let period = CountPeriod(days: 7, at: try DatabaseClock(session) { .now() }.now)
        let counts = try CountReader(session).checks(of: bundle, by: .version, in: period)
        let unreadable = UnreadableVersions(ofApp: bundle, among: counts.map { ($0.name, $0.checks) })
        let warning = unreadable.map { Report(at: .now(), CountNotes.warnings([$0])).text(on: .file) }
        return try [warning].compactMap(\.self) + withdrawals(session)
    }

    /// Whether the release is not recorded on a platform. If it is, with other values, that is refused.
    private func isAbsent(on platform: String, _ given: [ColumnValue<Release>], _ editor: PolicyEditor) throws -> Bool {
        guard let present = try editor.presentRelease(bundle: bundle, platform: platform, version: version, given)
        else { return true }
        guard !present.differences.isEmpty else { return false }
        let differences = present.differences.map { column in
            let values = [column.before, column.after].map {
                ChangeFormatter.value($0, of: column.name, in: Release.table.rawValue).local
            }
            return "\(column.name) \(values[0]) instead of \(values[1])"
        }
        var words = ["release", "edit", bundle, version, "--platform", platform]
        if let build, !present.differences.contains(where: { $0.name == "build" }) { words += ["--build", build] }
        words += present.differences.flatMap(Self.editing)
        throw CommandError(
            "\(version) of \(bundle) on \(platform) is already recorded, with \(differences.joined(separator: ", ")); nothing was changed\n"
                + "Hint: Leave out what differs, or change what is recorded: "
                + "\(PrintedCommand(words.map(\.shellWord).joined(separator: " ")))"
        )
    }

    private static func editing(_ column: PolicyChange.Column) -> [String] {
        switch column.name {
        case "staged": [column.after == "true" ? "--staged" : "--no-staged"]
        case "regions": ["--set-region", "COUNTRY"]
        case "build": ["--set-build", column.after ?? ""]
        default: ["--\(column.name.replacing("_", with: "-"))", column.after ?? ""]
        }
    }

    private func withdrawals(_ session: PostgresSession) throws -> [String] {
        guard ifAbsent else { return [] }
        let rows = try PolicyReader.policy(session, bundles: [bundle]).releases.filter {
            AppVersion($0.version) == AppVersion(version)
        }
        return platforms.filter { platform in
            let rows = rows.filter { Platform($0.platform) == Platform(platform) }
            return !rows.isEmpty && rows.allSatisfy { $0.withdrawnAt != nil }
        }.map { "Warning: \(version) of \(bundle) on \($0) is withdrawn; --if-absent leaves it that way" }
    }

    func confirmations(_ session: PostgresSession) throws -> [String] {
        try CommandError.requireMeantApp(bundle, version: version, session)
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
