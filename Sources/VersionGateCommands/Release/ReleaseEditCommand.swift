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

    @Option(name: .customLong("set-build"), help: ArgumentHelp("The build, as the app reports it.", valueName: "build"))
    var newBuild: String?

    @Option(
        name: .customLong("set-region"),
        help: ArgumentHelp("A country where it is; replaces the list; can be repeated.", valueName: "country")
    )
    var regions: [String] = []

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "It is in a staged rollout.")
    var staged: Bool?

    @OptionGroup var fields: ReleaseFields

    @Option(help: ArgumentHelp("Empty a field; can be repeated.", valueName: "field"))
    var clear: [ClearedField<Release>] = []

    @OptionGroup var options: EditOptions

    func validate() throws {
        try ClearedField.requireChange(
            values { _, _ in Timestamp(secondsSince1970: 0) }.map(\.column),
            clear: clear,
            examples: "--live-at or --no-staged"
        )
    }

    func run() async throws {
        let cleared = Set(clear).compactMap(\.value)
        let changes: @Sendable (CommandClock) throws -> [ColumnValue] = { clock in
            try values { time, option in try clock.moment(time, of: option) } + cleared
        }
        try await options.edit(doubts: doubts, values: changes) { editor, changes in
            try selector.forEach(editor) { row in
                try editor.update(.releases, where: [row], set: changes)
            }
        }
    }

    /// A least system for several platforms, whose systems are counted differently, or one that no client has.
    private func doubts(_ session: PostgresSession) throws -> [String] {
        guard fields.minOS != nil else { return [] }
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
        return several + fields.doubts
    }

    /// The values of the options that were given.
    private func values(_ moment: (TimeArgument, String) throws -> Timestamp) rethrows -> [ColumnValue] {
        var values = try fields.values(moment)
        if let newBuild { values.append(.text("build", newBuild)) }
        if !regions.isEmpty { values.append(.texts("regions", regions)) }
        if let staged { values.append(.boolean("staged", staged)) }
        return values
    }
}
