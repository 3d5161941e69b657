// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
        let platforms = try PolicyReader.policy(session, bundles: [selector.bundle]).releases.filter {
            AppVersion($0.version) == AppVersion(selector.version)
        }.map(\.platform)
        let all = Set(platforms).sorted()
        let several =
            selector.platform == nil && all.count > 1
            ? [
                "this sets the least system on \(all.joined(separator: ", ")), each of which counts its own; one is named by --platform"
            ]
            : []
        return several + Release.doubts(minOS: minOS)
    }
}
