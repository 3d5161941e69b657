import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate release`: the versions that users can get.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "release", "Record which versions users can get, where and since when.",
        discussion: """
            Releases define when a client can get an update: rules with a target wait for them, and a lockout is \
            sent only to a client that has a release to go to.
            """,
        examples: ["versiongate release add com.example.doto 1.2 --platform ios"],
        subcommands: [
            EditCommand<ReleaseAdd>.self, ReleaseListCommand.self, EditCommand<ReleaseEdit>.self,
            EditCommand<ReleaseWithdraw>.self, EditCommand<ReleaseRemove>.self, ReleaseNotesCommand.self,
        ]
    )
}

/// The options for the columns of a release, of `add` and `edit` alike. Build and regions have other names where they
/// select rows.
struct ReleaseOptions: ParsableArguments {
    @Option("version", "The least version of the operating system.") var minOS: String?
    @Option(time: "When users can get it.") var liveAt: TimeArgument?
    @Flag(column: "It is in a staged rollout, so not everybody can get it yet.") var staged: Bool?
    @Option(help: "A note for the people who edit; never sent.") var note: String?

    func given(build: String?, regions: [String]) -> [GivenColumn<Release>?] {
        [
            GivenColumn(\.build, build), GivenColumn(\.minOS, minOS), GivenColumn(\.regions, regions),
            GivenColumn(\.liveAt, liveAt), GivenColumn(\.staged, staged), GivenColumn(\.note, note),
        ]
    }

    /// The platforms whose systems have no number of 100 or more; others, as ChromeOS, do.
    private static let countedBelow100 = ["android", "ios", "macos", "tvos", "visionos", "watchos", "windows"]

    /// Asks about a least system that no client of a platform has.
    func confirmations(on platforms: [String]) -> [String] {
        guard let minOS, let major = Int(minOS.prefix { $0.isNumber }), major >= 100 else { return [] }
        let names = Set(platforms.map { Platform($0).name }).intersection(Self.countedBelow100).sorted()
        guard !names.isEmpty else { return [] }
        return ["no client on \(names.joined(separator: ", ")) is offered it, as no system there is at \(minOS)"]
    }
}

/// The arguments that say which rows of a release a command is about.
struct ReleaseSelector: ParsableArguments {
    @Argument(help: "The bundle of the app.") var bundle: String
    @Argument(help: "The version.") var version: String
    @Option(help: "Only this platform.") var platform: String?
    @Option(help: "Only this build.") var build: String?
    @Option(help: ArgumentHelp("Only the row for this country.", valueName: "country")) var region: String?

    /// Whether a release of the app is one of the rows that are meant.
    func selects(_ release: Release) -> Bool {
        func isVersion(_ text: String?, _ wanted: String) -> Bool {
            guard let text = text.flatMap({ AppVersion($0) }), let wanted = AppVersion(wanted) else { return false }
            return text == wanted
        }
        return isVersion(release.version, version)
            && (platform.map { Platform($0).name == Platform(release.platform).name } ?? true)
            && (build.map { isVersion(release.build, $0) } ?? true)
            && (region.map { release.regions?.contains($0) ?? false } ?? true)
    }

    /// Does something with the id of each row that is meant.
    ///
    /// - Throws: an error that says so when there is none.
    func forEach(_ editor: PolicyEditor, _ body: (Int64) throws -> Void) throws {
        let ids = try editor.releaseIDs(
            ReleaseSelection(bundle: bundle, version: version, platform: platform, build: build, region: region)
        )
        guard !ids.isEmpty else {
            throw CommandError(
                "there is no such release \(version) of \(bundle); `\(PrintedCommand("release list --bundle \(bundle.shellWord)"))` "
                    + "shows those there are"
            )
        }
        for id in ids { try body(id) }
    }
}

struct ReleaseEdit: EditVerb {
    static let configuration = CommandConfiguration(
        "edit", "Change all rows of a release, or those of one platform, build or country.",
        discussion: """
            --build and --region select rows; --set-build and --set-region change them. --no-staged ends a staged \
            rollout: the release is live from now on, unless --live-at says otherwise.
            """,
        examples: [
            "versiongate release edit com.example.doto 1.2 --platform android --no-staged",
            "versiongate release edit com.example.doto 1.2 --platform ios --set-build 42",
        ]
    )

    @OptionGroup var release: ReleaseSelector
    @Option("build", "The build, as the app reports it.") var setBuild: String?

    @Option(each: "set-region", "A country where it is (JP); without one it is everywhere", valueName: "country")
    var regions: [String]

    @OptionGroup var columns: ReleaseOptions
    @Option(clear: Release.self) var cleared: [ClearedField<Release>]

    private var edit: ColumnEdit<Release> {
        ColumnEdit(columns.given(build: setBuild, regions: regions), clearing: cleared)
    }

    func validate() throws { try edit.requireChange(examples: "--live-at or --no-staged") }

    var asksAboutMassEdits: Bool { true }

    /// Asks about a least system for several platforms, whose systems are counted differently, or one that no client has.
    func confirmations(_ session: PostgresSession) throws -> [String] {
        guard columns.minOS != nil else { return [] }
        let rows = try PolicyReader.policy(session, bundles: [release.bundle]).releases.filter(release.selects)
        let platforms = Set(rows.map(\.platform)).sorted()
        let several =
            "--min-os means something else on \(platforms.joined(separator: " and ")); choose one with --platform"
        return (platforms.count > 1 ? [several] : []) + columns.confirmations(on: platforms)
    }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Release>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<Release>]) throws {
        try release.forEach(editor) { id in try editor.update(where: [.id(id)], set: values) }
    }
}

struct ReleaseWithdraw: EditVerb {
    static let configuration = CommandConfiguration(
        "withdraw", "Say that users can no longer get a release.",
        discussion: """
            It shows which checks that affects, and asks on a terminal; in scripts it needs --yes. To undo it, use \
            release edit with --clear withdrawn-at.
            """,
        examples: [
            "versiongate release withdraw com.example.doto 1.2",
            "versiongate release withdraw com.example.doto 1.2 --platform ios",
        ]
    )

    @OptionGroup var release: ReleaseSelector
    @Option(time: "From when on; now unless given.") var at: TimeArgument?

    var asksAboutRemovals: Bool { true }

    func values(_ clock: CommandClock) throws -> Timestamp {
        try at.map { try clock.moment($0, of: "--at") } ?? clock.now
    }

    func edit(_ editor: PolicyEditor, _ time: Timestamp) throws {
        try release.forEach(editor) { id in try editor.withdraw(id, at: time) }
    }
}

struct ReleaseRemove: EditVerb {
    static let configuration = CommandConfiguration(
        "remove", "Remove the record of a release.",
        discussion: """
            For a release that was recorded by mistake; withdraw one that the store no longer has. It shows what is \
            removed and which checks that affects, and asks on a terminal; in scripts it needs --yes.
            """,
        examples: ["versiongate release remove com.example.doto 1.2 --region JP"]
    )

    @OptionGroup var release: ReleaseSelector

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try release.forEach(editor) { id in try editor.delete(where: [ColumnValue<Release>.id(id)]) }
    }
}

/// `versiongate release notes`
struct ReleaseNotesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "notes", "Say what is new in a release, for the feeds that show it.",
        discussion: """
            Without --language they are the notes for whoever has none of the other languages, under the tag und. They \
            replace what was there in that language. Without --platform, --build and --region they go into all rows of \
            the release.
            """,
        examples: [
            #"versiongate release notes com.example.doto 1.2 --platform ios "Fixes a crash at the start.""#,
            "versiongate release notes com.example.doto 1.2 --language de --file notes.de.txt",
            "versiongate release notes com.example.doto 1.2 --language de --remove",
        ]
    )

    /// More than any notes of 4,000 characters have.
    private static let longestFile = 65_536

    @OptionGroup var release: ReleaseSelector
    @Argument(help: "The notes.") var text: String?

    @Option(
        help: ArgumentHelp("A file with the notes; - reads standard input.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @Option(help: "The language, as a BCP 47 tag: de, pt-BR, zh-Hant.") var language = ReleaseNote.anyLanguage
    @Flag(help: "Remove the notes in that language.") var remove = false

    func validate() throws {
        if [text != nil, file != nil, remove].count(where: { $0 }) != 1 {
            throw ValidationError("Give the notes, or --file with a file that has them, or --remove: one of the three.")
        }
    }

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let notes =
            try file.map { try InputFile.text($0, upTo: Self.longestFile, what: "the file with the notes") } ?? text
        try await options.edit(on: database) { editor in
            var removed = 0
            try release.forEach(editor) { id in
                let key: [ColumnValue<ReleaseNote>] = [.owner(id), .init(\.language, language)]
                if let notes {
                    try editor.upsert(where: key, set: [.init(\.text, notes)])
                } else {
                    removed += try editor.delete(where: key)
                }
            }
            guard notes != nil || removed > 0 else {
                throw CommandError(
                    "the release \(release.version) of \(release.bundle) has no notes in \(language); `"
                        + "\(PrintedCommand("release list --bundle \(release.bundle.shellWord)"))` shows the languages that there are"
                )
            }
        }
    }
}
