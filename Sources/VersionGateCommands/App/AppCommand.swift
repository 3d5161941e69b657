import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate app`: the apps that rules are for.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "app", "Add, show, change, pause and remove apps.",
        discussion: """
            An app is identified by its bundle (or package) identifier; upper and lower case do not count. Add the \
            app before you write rules for it.
            """,
        examples: ["versiongate app add com.example.doto --name Doto"],
        subcommands: [
            EditCommand<AppAdd>.self, AppListCommand.self, AppShowCommand.self, EditCommand<AppEdit>.self,
            EditCommand<AppPause>.self, EditCommand<AppResume>.self, EditCommand<AppRemove>.self,
        ]
    )
}

/// The argument that names an app.
struct AppBundle: ParsableArguments {
    @Argument(help: "The bundle of the app.") var bundle: String
}

/// The options for the columns of an app and its links in stores, of `add` and `edit` alike.
struct AppOptions: ParsableArguments {
    @Option(help: "The app's name, which texts can use as {app}.") var name: String?

    @Option(
        help: .init("The app's number in the App Store, by which look-ups ask.", valueName: "number"),
        transform: numberInStore
    )
    var storeID: Int64?

    @Option(help: "The name of the seller, as the store has it.") var seller: String?
    @Option(help: "A note for the people who edit; never sent.") var note: String?

    @Option(
        name: .customLong("store-link"),
        help: .init("Where a store has the app, one link a platform; can be repeated.", valueName: "platform=url"),
        transform: NamedValue.storeLink
    )
    var storeLinks: [NamedValue] = []

    func validate() throws {
        let platforms = storeLinks.map { Platform($0.name).name }
        if let again = platforms.indices.first(where: { platforms[..<$0].contains(platforms[$0]) }) {
            throw ValidationError("--store-link is given twice for \(platforms[again]); leave one of the two out.")
        }
    }

    var given: [GivenColumn<App>?] {
        [
            GivenColumn(\.name, name), GivenColumn(\.storeID, storeID), GivenColumn(\.seller, seller),
            GivenColumn(\.note, note),
        ]
    }

    /// Adds the links to an app, each instead of the one that its platform has.
    func addStoreLinks(to bundle: String, _ editor: PolicyEditor) throws {
        for link in storeLinks {
            try editor.upsert(
                where: [.owner(bundle), .init(\StoreLink.platform, Platform(link.name).name)],
                set: [.init(\.link, link.value)]
            )
        }
    }

    /// Reads the digits of a number in the App Store, also behind the `id` that addresses have.
    private static func numberInStore(_ argument: String) throws -> Int64 {
        guard let number = Int64(argument.hasPrefix("id") ? argument.dropFirst(2) : argument[...]) else {
            throw CommandError("write the digits behind \"id\" in the address of the app in the App Store: 1234567890")
        }
        return number
    }
}

struct AppAdd: EditVerb {
    static let configuration = CommandConfiguration(
        "add", "Add an app.",
        examples: [
            "versiongate app add com.example.doto --name Doto --store-link ios=https://apps.apple.com/app/id123456789"
        ]
    )

    @Argument(help: "The bundle or package identifier, spelled as it is to be shown.") var bundle: String
    @OptionGroup var columns: AppOptions

    func values(_ clock: CommandClock) throws -> [ColumnValue<App>] { try ColumnEdit(columns.given).values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<App>]) throws {
        try editor.insert([.init(\App.bundle, bundle)] + values)
        try columns.addStoreLinks(to: bundle, editor)
    }
}

struct AppEdit: EditVerb {
    static let configuration = CommandConfiguration(
        "edit", "Change an app's name, note, store links and what finds it in stores.",
        examples: [
            "versiongate app edit com.example.doto --store-link android=market://details?id=com.example.doto"
        ]
    )

    @OptionGroup var app: AppBundle
    @OptionGroup var columns: AppOptions
    @Option(clear: App.self) var cleared: [ClearedField<App>]

    private var edit: ColumnEdit<App> { ColumnEdit(columns.given, clearing: cleared) }
    private var clearsStoreLinks: Bool { cleared.contains { $0.column == nil } }

    func validate() throws {
        try edit.requireChange(changesRows: !columns.storeLinks.isEmpty, examples: "--name, --store-link or --clear")
    }

    var asksAboutRemovals: Bool { clearsStoreLinks }

    func values(_ clock: CommandClock) throws -> [ColumnValue<App>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<App>]) throws {
        try editor.edit(app: app.bundle, set: values)
        if clearsStoreLinks { try editor.delete(where: [ColumnValue<StoreLink>.owner(app.bundle)]) }
        try columns.addStoreLinks(to: app.bundle, editor)
    }
}

struct AppPause: EditVerb {
    static let configuration = CommandConfiguration(
        "pause", "Answer the checks of an app, or of every app, with no messages, whatever the rules say.",
        discussion: """
            After --all, undo resumes exactly the apps that it paused. Rules for every app go on for clients whose app \
            was not added; a warning names them.
            """,
        examples: [
            #"versiongate app pause com.example.doto --why "the store is down""#,
            "versiongate app pause --all",
        ]
    )

    @OptionGroup var apps: AppSelection

    func edit(_ editor: PolicyEditor, _: Void) throws { try apps.set(paused: true, editor) }

    func warnings(_ session: PostgresSession) throws -> [String] {
        guard apps.all else { return [] }
        return try PolicyReader.activeRulesForEveryApp(session).map { key in
            "Warning: rule \(key) is for every app, so clients whose app was not added still get it "
                + "(\(PrintedCommand("rule disable \(key)")))"
        }
    }
}

struct AppResume: EditVerb {
    static let configuration = CommandConfiguration(
        "resume", "Let the rules answer the checks of an app, or of every app, again.",
        discussion: """
            --all also resumes apps that were paused for other reasons; to resume only those that `app pause --all` \
            paused, undo that change.
            """,
        examples: [
            "versiongate app resume com.example.doto",
            "versiongate app resume --all",
        ]
    )

    @OptionGroup var apps: AppSelection

    func edit(_ editor: PolicyEditor, _: Void) throws { try apps.set(paused: false, editor) }
}

/// The arguments that say which apps are paused or resumed.
struct AppSelection: ParsableArguments {
    @Argument(help: "The bundle of the app.") var bundle: String?
    @Flag(help: "Every app.") var all = false

    func validate() throws {
        if all, let bundle { throw ValidationError("--all means every app; leave out either \(bundle) or --all.") }
        if !all, [nil, "all", "*"].contains(bundle) {
            throw ValidationError("Name the app, or give --all for every app.")
        }
    }

    /// Pauses or resumes the apps.
    ///
    /// - Throws: an error that says so when there is none.
    func set(paused: Bool, _ editor: PolicyEditor) throws {
        if let bundle { return try editor.edit(app: bundle, set: [.init(\.paused, paused)]) }
        // All, as others may be paused or resumed meanwhile.
        if try !editor.mayOnlyBrake { try editor.lock(where: [ColumnValue<App>]()) }
        let bundles = try PolicyReader.bundles(editor.session)
        for bundle in bundles { try editor.edit(app: bundle, set: [.init(\.paused, paused)]) }
        guard bundles.isEmpty else { return }
        throw CommandError("there are no apps; add one with `\(PrintedCommand("app add BUNDLE"))`")
    }
}

struct AppRemove: EditVerb {
    static let configuration = CommandConfiguration(
        "remove", "Remove an app with its store links, releases and rules.",
        discussion: """
            To silence an app for a while, pause it instead. It shows what is removed and which checks that affects, \
            and asks on a terminal; in scripts it needs --yes.
            """,
        examples: ["versiongate app remove com.example.doto"]
    )

    @OptionGroup var app: AppBundle

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.delete(where: [.init(\App.bundle, app.bundle)]) > 0 else {
            throw try CommandError.noSuchApp(app.bundle, editor.session)
        }
    }
}
