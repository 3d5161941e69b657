import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The options for the columns of a rule, of `add` and `edit` alike.
struct RuleOptions: ParsableArguments {
    @Option(help: "The app; without it, the rule is for every app.") var bundle: String?
    @Option("range", "App versions, as a range: '<1.2', '>=2.3 <2.3.5', '1.2.x || 1.4'.") var versions: String?
    @Option("range", "Builds, as a range.") var builds: String?
    @Option("range", "Versions of the operating system, as a range.") var os: String?
    @Option(each: "platform", "A platform (ios, android, macos, ...)") var platforms: [String]
    @Option(each: "region", "A country, as two upper-case letters (JP)", valueName: "country") var regions: [String]
    @Option(each: "language", "A language (de, zh-Hant)") var languages: [String]

    @Option(
        name: .customLong("attribute"),
        help: .init(
            "A value that another member of the check may have, also several of one name; can be repeated.",
            valueName: "name=value"
        ),
        transform: NamedValue.attribute
    )
    var attributes: [NamedValue] = []

    @Option("version", "The version that clients are asked to reach, as soon as they can get it.") var target: String?
    @Option(duration: "How long a release must have been live: '2 days', '36h'.") var soak: String?
    @Option(time: "When the rule begins to apply.") var startsAt: TimeArgument?
    @Option(time: "When it ceases to apply.") var endsAt: TimeArgument?
    @Option("url|store", "Where the message leads: a URL, or 'store' for the app's store link.") var link: String?
    @Option(duration: "How long after it was shown the message may be shown again: '1 day', '36h'.") var remind: String?
    @Option(number: "How often the message may be shown on one installation, 1 to 1,000.") var shows: Int64?
    @Flag(column: "Let people choose never to see the message again.") var skippable: Bool?
    @Flag(column: "Lock the app until it is updated. Sent only to clients that have a way out.") var lockout: Bool?

    @Flag(column: "Lock out clients without a way out as well (maintenance, end of a platform).")
    var lockoutWithoutUpdate: Bool?

    @Option(percent: "Remove the lockout automatically above this share of an app's checks.") var fuse: PercentArgument?
    @Flag(column: "When this message is sent, send none after it.") var final: Bool?
    @Option(number: "The order of messages; lower comes first.") var position: Int64?
    @Option(help: "A note for the people who edit; never sent.") var note: String?

    var given: [GivenColumn<Rule>?] {
        typealias Given = GivenColumn<Rule>
        return [
            Given(\.bundle, bundle), Given(\.versions, versions), Given(\.builds, builds), Given(\.os, os),
            Given(\.platforms, platforms), Given(\.regions, regions), Given(\.languages, languages),
            Given(\.attributes, attributes), Given(\.target, target), Given(\.soak, soak),
            Given(\.startsAt, startsAt), Given(\.endsAt, endsAt), Given(\.link, link), Given(\.remind, remind),
            Given(\.shows, shows), Given(\.skippable, skippable), Given(\.lockout, lockout),
            Given(\.lockoutWithoutUpdate, lockoutWithoutUpdate), Given(\.fuse, fuse?.number), Given(\.final, final),
            Given(\.position, position), Given(\.note, note),
        ]
    }

    var warnings: [String] {
        attributes.compactMap { attribute in
            let value = attribute.value
            guard value.wholeMatch(of: /True|TRUE|False|FALSE|.*\*/) != nil else { return nil }
            let cure = value.hasSuffix("*") ? "write each value" : "a boolean is \(value.lowercased())"
            return
                "Warning: --attribute \(attribute.name)=\(value) is compared letter by letter, without wildcards; \(cure)"
        }
    }
}

/// What a shell does not do with a text, and somebody may have meant.
enum MessageText {
    static func warnings(title: String?, text: String?) -> [String] {
        [("--title", title), ("--text", text)].compactMap { option, text in
            guard let text else { return nil }
            if text.wholeMatch(of: /@\S+/) != nil {
                return
                    "Warning: \(option) is \(text), and no file is read; write \(option) \"$(cat \(text.dropFirst()))\""
            }
            guard text.contains("\\n") else { return nil }
            return
                "Warning: \(option) has \\n in it, two characters that are shown as they are; a new line is written: "
                + "\(option) $\(text.shellWord.hasPrefix("'") ? text.shellWord : "'\(text)'")"
        }
    }
}
