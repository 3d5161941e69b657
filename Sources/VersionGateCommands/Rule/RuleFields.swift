// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The options for the conditions and the message of a rule, as `rule add` and `rule edit` take them.
struct RuleFields: ParsableArguments {
    @Option(
        help: ArgumentHelp("The app; without it, the rule is for every app.", valueName: "bundle"),
        completion: .bundles
    )
    var bundle: String?

    @Option(help: ArgumentHelp("App versions, as a range: '<1.2', '>=2.3 <2.3.5', '1.2.x || 1.4'.", valueName: "range"))
    var versions: String?

    @Option(help: ArgumentHelp("Builds, as a range.", valueName: "range"))
    var builds: String?

    @Option(
        name: .customLong("os"),
        help: ArgumentHelp("Versions of the operating system, as a range.", valueName: "range")
    )
    var operatingSystems: String?

    @Option(
        name: .customLong("platform"),
        help: ArgumentHelp("A platform (ios, android, macos, ...); can be repeated.", valueName: "platform"),
        completion: .platforms
    )
    var platforms: [String] = []

    @Option(
        name: .customLong("region"),
        help: ArgumentHelp("A country, as two upper-case letters (JP); can be repeated.", valueName: "country")
    )
    var regions: [String] = []

    @Option(
        name: .customLong("language"),
        help: ArgumentHelp("A language (de, zh-Hant); can be repeated.", valueName: "language")
    )
    var languages: [String] = []

    @Option(
        name: .customLong("attribute"),
        help: ArgumentHelp(
            "A value that another member of the check may have; can be repeated, also for one name.",
            valueName: "name=value"
        ),
        transform: NamedValue.attribute
    )
    var attributes: [NamedValue] = []

    @Option(
        help: ArgumentHelp(
            "The version that clients are asked to reach, as soon as they can get it.",
            valueName: "version"
        ),
        completion: .versions
    )
    var target: String?

    @Option(
        help: ArgumentHelp("How long a release must have been live: '2 days', '36h'.", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var soak: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("When the rule begins to apply.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var startsAt: TimeArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("When it ceases to apply.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var endsAt: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Where the message leads: a URL, or 'store' for the app's store link.",
            valueName: "url|store"
        )
    )
    var link: String?

    @Option(
        help: ArgumentHelp(
            "How long after it was shown the message may be shown again: '1 day', '36h'.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var remind: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How often the message may be shown on one installation, 1 to 1,000.", valueName: "number")
    )
    var shows: Int32?

    @Option(parsing: .unconditional, help: "The order of messages; lower comes first.")
    var position: Int32?

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    /// The columns of the options that were given.
    var columns: [String] {
        values { _, _ in Timestamp(secondsSince1970: 0) }.map(\.column)
    }

    /// The values of the options that were given.
    ///
    /// - Parameter moment: The moment that a time means; also gets the option that it was given for.
    func values(_ moment: (TimeArgument, String) throws -> Timestamp) rethrows -> [ColumnValue] {
        var values: [ColumnValue] = []
        if let bundle { values.append(.text("bundle", bundle)) }
        if let versions { values.append(.text("versions", versions)) }
        if let builds { values.append(.text("builds", builds)) }
        if let operatingSystems { values.append(.text("os", operatingSystems)) }
        if !platforms.isEmpty { values.append(.texts("platforms", platforms)) }
        if !regions.isEmpty { values.append(.texts("regions", regions)) }
        if !languages.isEmpty { values.append(.texts("languages", languages)) }
        if !attributes.isEmpty { values.append(.json("attributes", Self.json(attributes))) }
        if let target { values.append(.text("target", target)) }
        if let soak { values.append(.duration("soak", soak)) }
        if let startsAt { values.append(.time("starts_at", try moment(startsAt, "--starts-at").description)) }
        if let endsAt { values.append(.time("ends_at", try moment(endsAt, "--ends-at").description)) }
        if let link { values.append(.text("link", link)) }
        if let remind { values.append(.duration("remind", remind)) }
        if let shows { values.append(.integer("shows", Int64(shows))) }
        if let position { values.append(.integer("position", Int64(position))) }
        if let note { values.append(.text("note", note)) }
        return values
    }

    /// The attributes as the database keeps them: each name with its accepted values.
    private static func json(_ attributes: [NamedValue]) -> String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for attribute in attributes {
            if values[attribute.name] == nil { names.append(attribute.name) }
            values[attribute.name, default: []].append(attribute.value)
        }
        return JSONValue.object(names.map { ($0, values[$0, default: []].jsonValue) }).text
    }
}
