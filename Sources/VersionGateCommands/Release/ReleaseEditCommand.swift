// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
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

    @Option(help: ArgumentHelp("When users can get it.", valueName: "time"))
    var liveAt: TimeArgument?

    @Flag(inversion: .prefixedNo, help: "It is in a staged rollout.")
    var staged: Bool?

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    @Option(help: ArgumentHelp("Empty a field; can be repeated.", valueName: "field"))
    var clear: [ClearedField<Release>] = []

    @OptionGroup var options: EditOptions

    func run() async throws {
        var values: [ColumnValue] = []
        if let newBuild { values.append(.text("build", newBuild)) }
        if let minOS { values.append(.text("min_os", minOS)) }
        if !regions.isEmpty { values.append(.texts("regions", regions)) }
        if let liveAt { values.append(.time("live_at", liveAt.timestamp(now: .now()).description)) }
        if let staged { values.append(.boolean("staged", staged)) }
        if let note { values.append(.text("note", note)) }
        let cleared = Set(clear).map(\.value)
        if let both = cleared.first(where: { field in values.contains { $0.column == field.column } }) {
            throw ValidationError("\(both.column) is both set and cleared; leave one of the two out.")
        }
        values += cleared
        guard !values.isEmpty else {
            throw ValidationError("Say what to change, for example --live-at or --no-staged.")
        }
        let changes = values
        try await options.edit { editor in
            try selector.forEach(editor) { row in
                try editor.update(.releases, where: [row], set: changes)
            }
        }
    }
}
