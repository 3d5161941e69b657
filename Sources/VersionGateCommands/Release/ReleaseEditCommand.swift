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
        name: .customLong("min-os"),
        help: ArgumentHelp("The least version of the operating system.", valueName: "version")
    )
    var minOS: String?

    @Option(
        name: .customLong("set-region"),
        help: ArgumentHelp("A country where it is; replaces the list; can be repeated.", valueName: "country")
    )
    var regions: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("When users can get it.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var liveAt: TimeArgument?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "It is in a staged rollout.")
    var staged: Bool?

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    @Option(help: ArgumentHelp("Empty a field; can be repeated.", valueName: "field"))
    var clear: [ClearedField<Release>] = []

    @OptionGroup var options: EditOptions

    func validate() throws {
        let given = values { _, _ in Timestamp(secondsSince1970: 0) }.map(\.column)
        guard !given.isEmpty || !clear.isEmpty else {
            throw ValidationError("Say what to change, for example --live-at or --no-staged.")
        }
        if let both = clear.map(\.value.column).first(where: given.contains) {
            throw ValidationError("\(both) is both set and cleared; leave one of the two out.")
        }
    }

    func run() async throws {
        let cleared = Set(clear).map(\.value)
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
        guard let minOS else { return [] }
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
        return several + ReleaseAddCommand.doubts(minOS: minOS)
    }

    /// The values of the options that were given.
    private func values(_ moment: (TimeArgument, String) throws -> Timestamp) rethrows -> [ColumnValue] {
        var values: [ColumnValue] = []
        if let newBuild { values.append(.text("build", newBuild)) }
        if let minOS { values.append(.text("min_os", minOS)) }
        if !regions.isEmpty { values.append(.texts("regions", regions)) }
        if let liveAt { values.append(.time("live_at", try moment(liveAt, "--live-at").description)) }
        if let staged { values.append(.boolean("staged", staged)) }
        if let note { values.append(.text("note", note)) }
        return values
    }
}
