// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The options for the columns of a release that `release add` and `release edit` take by the same names.
struct ReleaseFields: ParsableArguments {
    @Option(
        name: .customLong("min-os"),
        help: ArgumentHelp("The least version of the operating system.", valueName: "version")
    )
    var minOS: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("When users can get it.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var liveAt: TimeArgument?

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    /// The values of the options that were given.
    ///
    /// - Parameter moment: The moment that a time means; also gets the option that it was given for.
    func values(_ moment: (TimeArgument, String) throws -> Timestamp) rethrows -> [ColumnValue] {
        var values: [ColumnValue] = []
        if let minOS { values.append(.text("min_os", minOS)) }
        if let liveAt { values.append(.time("live_at", try moment(liveAt, "--live-at").description)) }
        if let note { values.append(.text("note", note)) }
        return values
    }

    /// A least system that no client has.
    var doubts: [String] {
        guard let minOS, let major = Int(minOS.prefix { $0.isNumber }), major >= 100 else { return [] }
        return ["no client is offered it, as no system is at \(minOS)"]
    }
}
