import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The arguments that say which apps are paused or resumed.
struct AppSelection: ParsableArguments {
    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String?

    @Flag(help: "Every app.")
    var all = false

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
        if paused, try editor.mayOnlyBrake {
            return try PolicyReader.bundles(editor.session).forEach {
                try editor.edit(app: $0, set: [.init(\.paused, true)])
            }
        }
        // All, as others may be paused or resumed meanwhile.
        try editor.lock(where: [ColumnValue<App>]())
        guard try editor.update(where: [.init(\App.paused, !paused)], set: [.init(\.paused, paused)]) == 0,
            try PolicyReader.bundles(editor.session).isEmpty
        else { return }
        throw CommandError("there are no apps; add one with `\(PrintedCommand("app add BUNDLE"))`")
    }
}
