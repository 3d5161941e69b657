import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate release edit`
struct ReleaseEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change all rows of a release, or those of one platform, build or country.",
        discussion: """
            --build and --region select rows; --set-build and --set-region change them. --no-staged ends a staged \
            rollout: the release is live from now on, unless --live-at says otherwise.

            Examples:
              versiongate release edit com.example.doto 1.2 \\
                --platform android --no-staged
              versiongate release edit com.example.doto 1.2 \\
                --platform ios --set-build 42
            """
    )

    @OptionGroup var selector: ReleaseSelector

    @OptionGroup var edits: ColumnOptions<Release, Editing>

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        try edits.requireChange(examples: "--live-at or --no-staged")
    }

    func run() async throws {
        try await options.edit(on: database, asksAboutMassEdits: true, doubts: doubts, values: edits.values) {
            editor,
            changes in
            try selector.forEach(editor) { id in try editor.update(where: [.id(id)], set: changes) }
        }
    }

    /// A least system for several platforms, whose systems are counted differently, or one that no client has.
    private func doubts(_ session: PostgresSession) throws -> [String] {
        guard let minOS = edits.text(\.minOS) else { return [] }
        let rows = try PolicyReader.policy(session, bundles: [selector.bundle]).releases.filter(selector.selects)
        let platforms = Set(rows.map(\.platform)).sorted()
        let several =
            platforms.count > 1
            ? [
                "--min-os means something else on \(platforms.joined(separator: " and ")); choose one with --platform"
            ]
            : []
        return several + Release.doubts(minOS: minOS, on: platforms)
    }
}
