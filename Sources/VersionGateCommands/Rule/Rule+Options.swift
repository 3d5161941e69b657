import UpdatePolicy

extension Rule: EditableRecord {
    static let options: [ColumnOption<Rule>] = [
        ColumnOption(\.title, "The message's title, up to 200 characters"),
        ColumnOption(\.text, "The message's text, up to 4,000 characters. {app}, {target} and {date} are filled in"),
        ColumnOption(\.bundle, "The app; without it, the rule is for every app", completion: .bundles),
        ColumnOption(\.versions, "App versions, as a range: '<1.2', '>=2.3 <2.3.5', '1.2.x || 1.4'"),
        ColumnOption(\.builds, "Builds, as a range"),
        ColumnOption(\.os, "Versions of the operating system, as a range"),
        ColumnOption(\.platforms, "A platform (ios, android, macos, ...)", completion: .platforms),
        ColumnOption(\.regions, "A country, as two upper-case letters (JP)", value: "country"),
        ColumnOption(\.languages, "A language (de, zh-Hant)"),
        ColumnOption(\.attributes, "A value that another member of the check may have, also several of one name"),
        ColumnOption(
            \.target, "The version that clients are asked to reach, as soon as they can get it", value: "version",
            completion: .versions
        ),
        ColumnOption(\.soak, "How long a release must have been live: '2 days', '36h'"),
        ColumnOption(
            \.rollout, "The share of installs that the rule reaches, with up to two decimals", isEdited: false
        ),
        ColumnOption(\.startsAt, "When the rule begins to apply"),
        ColumnOption(\.endsAt, "When it ceases to apply"),
        ColumnOption(\.link, "Where the message leads: a URL, or 'store' for the app's store link", value: "url|store"),
        ColumnOption(\.remind, "How long after it was shown the message may be shown again: '1 day', '36h'"),
        ColumnOption(\.shows, "How often the message may be shown on one installation, 1 to 1,000"),
        ColumnOption(\.skippable, "Let people choose never to see the message again"),
        ColumnOption(\.lockout, "Lock the app until it is updated. Sent only to clients that have a way out"),
        ColumnOption(
            \.lockoutWithoutUpdate,
            "Lock out clients without a way out as well (maintenance, end of a platform)"
        ),
        ColumnOption(\.fuse, "Remove the lockout automatically above this share of an app's checks"),
        ColumnOption(\.final, "When this message is sent, send none after it"),
        ColumnOption(\.position, "The order of messages; lower comes first"),
        ColumnOption(\.note, "A note for the people who edit; never sent"),
        ColumnOption(\.enabled, "Turn the rule on at once", name: "enable", isEdited: false),
    ]
}
