import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The arguments that say which rows of a release a command is about.
struct ReleaseSelector: ParsableArguments {
    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Argument(help: "The version.", completion: .versions)
    var version: String

    @Option(help: "Only this platform.", completion: .platforms)
    var platform: String?

    @Option(help: "Only this build.")
    var build: String?

    @Option(help: ArgumentHelp("Only the row for this country.", valueName: "country"))
    var region: String?

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
