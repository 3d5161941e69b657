import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct AppCommand: AsyncParsableCommand {
    static let configuration = command(
        "app", "Add, show, change, pause and remove apps.", "versiongate app add com.example.doto --name Doto",
        discussion: """
            An app is identified by its bundle (or package) identifier; case is ignored. Add the app \
            before you write rules for it.
            """,
        subcommands: [
            EditCommand<AppAdd>.self, ReadCommand<AppList>.self, ReadCommand<AppShow>.self, EditCommand<AppEdit>.self,
            EditCommand<AppPause>.self, EditCommand<AppResume>.self, EditCommand<AppRemove>.self,
        ]
    )
}

struct AppOptions: ParsableArguments {
    @Option(help: "The app's name, which texts can use as {app}.") var name: String?
    @Option("number", "The app's number in the App Store, which look-ups send.", numberInStore) var storeID: Int64?
    @Option(help: "The name of the seller, as the store has it.") var seller: String?
    @Option(help: "A note for the people who edit; never sent.") var note: String?
    @Option(
        each: "store-link", "Where a store has the app, one link per platform", valueName: "platform=url",
        NamedValue.storeLink
    )
    var storeLinks: [NamedValue]

    func validate() throws {
        let platforms = storeLinks.map { Platform($0.name).name }
        if let again = platforms.indices.first(where: { platforms[..<$0].contains(platforms[$0]) }) {
            throw ValidationError("--store-link is given twice for \(platforms[again]); leave one of the two out.")
        }
    }

    func addStoreLinks(to bundle: String, _ editor: PolicyEditor) throws {
        for link in storeLinks {
            try editor.upsert(
                where: [.owner(bundle), .init(\StoreLink.platform, Platform(link.name).name)],
                set: [.init(\.link, link.value)]
            )
        }
    }

    private static func numberInStore(_ argument: String) throws -> Int64 {
        guard let number = Int64(argument.hasPrefix("id") ? argument.dropFirst(2) : argument[...]) else {
            throw CommandError("write the digits behind \"id\" in the address of the app in the App Store: 1234567890")
        }
        return number
    }
}

struct AppAdd: EditVerb {
    static let configuration = command(
        "add", "Add an app.",
        "versiongate app add com.example.doto --name Doto --store-link ios=https://apps.apple.com/app/id123456789"
    )

    @Argument(help: "The bundle or package identifier, spelled as it should be shown.") var bundle: String
    @OptionGroup var columns: AppOptions

    func values(_ clock: CommandClock) throws -> [ColumnValue<App>] { try ColumnEdit(columns).values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<App>]) throws {
        try editor.insert([.init(\App.bundle, bundle)] + values)
        try columns.addStoreLinks(to: bundle, editor)
    }
}

struct AppList: ReadVerb {
    static let configuration = command(
        "list", "List the apps.",
        "versiongate app list", "versiongate app list --format json"
    )

    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        .apps(try reports.apps(), at: try reports.now)
    }
}

struct AppShow: ReadVerb {
    static let configuration = command(
        "show", "Show an app with its store links, releases and rules.", "versiongate app show com.example.doto"
    )

    @Argument(help: "The bundle of the app.") var bundle: String

    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        guard let app = try reports.apps(bundle: bundle).first else {
            throw try CommandError.noSuchApp(bundle, reports.session)
        }
        return .app(app, at: try reports.now)
    }
}

struct AppEdit: EditVerb {
    static let configuration = command(
        "edit", "Change an app's name, note, store links and what finds it in stores.",
        "versiongate app edit com.example.doto --store-link android=market://details?id=com.example.doto"
    )

    @Argument(help: "The bundle of the app.") var bundle: String
    @OptionGroup var columns: AppOptions
    @Option(clear: App.self) var cleared: [ClearedField<App>]

    private var edit: ColumnEdit<App> { ColumnEdit(columns, clearing: cleared) }
    private var clearsStoreLinks: Bool { cleared.contains { $0.column == nil } }

    func validate() throws {
        try edit.requireChange(changesRows: !columns.storeLinks.isEmpty, examples: "--name, --store-link or --clear")
    }

    var asksAboutRemovals: Bool { clearsStoreLinks }

    func values(_ clock: CommandClock) throws -> [ColumnValue<App>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<App>]) throws {
        try editor.edit(app: bundle, set: values)
        if clearsStoreLinks { try editor.delete(where: [ColumnValue<StoreLink>.owner(bundle)]) }
        try columns.addStoreLinks(to: bundle, editor)
    }
}

struct AppPause: EditVerb {
    static let configuration = command(
        "pause", "Answer the checks of an app, or of every app, with no messages, whatever the rules say.",
        #"versiongate app pause com.example.doto --why "the store is down""#, "versiongate app pause --all",
        discussion: """
            After --all, undo resumes exactly the apps that it paused. Rules for every app still apply to clients \
            whose app was not added; a warning names them.
            """
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
    static let configuration = command(
        "resume", "Let the rules answer the checks of an app, or of every app, again.",
        "versiongate app resume com.example.doto", "versiongate app resume --all",
        discussion: """
            --all also resumes apps that were paused for other reasons; to resume only those that `app pause --all` \
            paused, undo that change.
            """
    )

    @OptionGroup var apps: AppSelection

    func edit(_ editor: PolicyEditor, _: Void) throws { try apps.set(paused: false, editor) }
}

struct AppSelection: ParsableArguments {
    @Argument(help: "The bundle of the app.") var bundle: String?
    @Flag(help: "Every app.") var all = false

    func validate() throws {
        if all, let bundle { throw ValidationError("--all means every app; leave out either \(bundle) or --all.") }
        if !all, [nil, "all", "*"].contains(bundle) {
            throw ValidationError("Name the app, or give --all for every app.")
        }
    }

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
    static let configuration = command(
        "remove", "Remove an app with its store links, releases and rules.",
        "versiongate app remove com.example.doto",
        discussion: "To silence an app for a while, pause it instead."
    )

    @Argument(help: "The bundle of the app.") var bundle: String

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.delete(where: [.init(\App.bundle, bundle)]) > 0 else {
            throw try CommandError.noSuchApp(bundle, editor.session)
        }
    }
}
