/// A message and the conditions under which a client gets it.
///
/// A condition that is `nil` is none. The order of the properties saves memory: a flag fits behind an optional value.
package struct Rule: PolicyRecord {
    /// The rule's name, the message's id and the salt of its buckets.
    package var key: String

    /// The app; `nil`: every app, also those that are not known.
    package var bundle: String?

    /// The order of the messages, before the key.
    package var position = 0

    package var versions: String?
    package var builds: String?
    package var os: String?

    /// The platforms, one of which must be the client's.
    package var platforms: [String]?

    /// The codes of the regions, one of which must be the client's.
    package var regions: [String]?

    /// The language ranges, one of which must hold the client's language.
    package var languages: [String]?

    package var attributes: [AttributeCondition]?
    package var target: String?

    /// How long a release must have been live before it is offered; `nil`: no time. Servers keep it in microseconds, without
    /// days.
    package var soak: DayTimeInterval?

    package var lockout = false
    package var lockoutWithoutUpdate = false

    /// The share of an app's checks beyond which the lockout is taken away, above zero; `nil`: any share may be locked out.
    package var fuse: Percentage?

    package var final = false

    /// The share of installs that the rule reaches before the first of its steps.
    package var rollout = Percentage.all

    /// From when on the steps are held: none after it begins.
    package var heldAt: Timestamp?

    /// When the rule begins to apply, inclusive.
    package var startsAt: Timestamp?

    /// When the rule stops to apply, exclusive.
    package var endsAt: Timestamp?

    package var enabled = true
    package var title: String
    package var text: String

    /// The message's link; ``storeLink`` stands for the app's link on the client's platform.
    package var link: String?

    /// How long after it was shown the message may be shown again; `nil`: at every start. Whole seconds, above zero.
    package var remind: DayTimeInterval?

    /// How often the message may be shown on one installation, 1 to 1,000; `nil`: without limit.
    package var shows: Int64?

    package var skippable = false

    /// For the people who edit; never sent. `nil` also where notes were not read.
    package var note: String?

    /// The message in other languages, each once.
    package var texts: [RuleText] = []

    package var steps: [RolloutStep] = []

    /// A rule for everybody, unless `change` narrows it.
    package init(key: String, title: String, text: String, _ change: (inout Rule) -> Void = { _ in }) {
        (self.key, self.title, self.text) = (key, title, text)
        change(&self)
    }

    /// The link that stands for the app's link on the client's platform.
    package static let storeLink = "store"

    fileprivate static let keyOfOwner = ColumnDefinition("rule", .key, role: .identity, default: nil, example: nil)

    package static let table = PolicyTable.rules

    /// A rule without a key and a message, which reaches nobody.
    package static let blank = Rule(key: "", title: "", text: "") { $0.enabled = false }

    package static let columns: [PolicyColumn<Rule>] = [
        .init("key", \.key, .key, role: .identity, isRequired: true),
        .init("bundle", \.bundle, .bundle, role: .condition),
        .init("enabled", \.enabled, .boolean, role: .switch),
        .init("position", \.position, .integer, role: .order),
        .init("versions", \.versions, .range, role: .condition),
        .init("builds", \.builds, .range, role: .condition),
        .init("os", \.os, .range, role: .condition),
        .init("platforms", \.platforms, .platforms, role: .condition),
        .init("regions", \.regions, .texts, role: .condition),
        .init("languages", \.languages, .texts, role: .condition, example: "[de, zh-Hant]"),
        .init("attributes", \.attributes, .attributes, role: .condition),
        .init("target", \.target, .version, role: .condition),
        .init("soak", \.soak, .duration, role: .condition, storedName: "soakMicroseconds"),
        .init("rollout", \.rollout, .percentage, role: .schedule),
        .init("held_at", \.heldAt, .time, role: .schedule),
        .init("starts_at", \.startsAt, .time, role: .schedule),
        .init("ends_at", \.endsAt, .time, role: .schedule),
        .init("title", \.title, .text, role: .message, isRequired: true),
        .init("text", \.text, .text, role: .message, isRequired: true),
        .init("link", \.link, .text, role: .message, example: "https://example.com"),
        .init("remind", \.remind, .duration, role: .message, storedName: "remindMicroseconds"),
        .init("shows", \.shows, .integer, role: .message),
        .init("skippable", \.skippable, .boolean, role: .message),
        .init("lockout", \.lockout, .boolean, role: .switch),
        .init("lockout_without_update", \.lockoutWithoutUpdate, .boolean, role: .switch),
        .init("fuse", \.fuse, .percentage, role: .fuse, example: "5"),
        .init("final", \.final, .boolean, role: .switch),
        .init("note", \.note, .text, role: .note),
    ]

    /// The steps that begin: all, or those up to the time from which on they are held.
    package var effectiveSteps: [RolloutStep] {
        guard let heldAt else { return steps }
        return steps.filter { $0.at <= heldAt }
    }

    /// Since when steps are kept from beginning; `nil` where none is held at this time.
    package func holdInForce(at time: Timestamp) -> Timestamp? {
        guard let heldAt, heldAt <= time, steps.contains(where: { heldAt < $0.at }) else { return nil }
        return heldAt
    }

    package func rollout(at time: Timestamp) -> Percentage {
        effectiveSteps.filter { $0.at <= time }.max { $0.at < $1.at }?.rollout ?? rollout
    }

    /// ``soak`` in microseconds, 0 for none.
    package var soakMicroseconds: Int64 { soak?.inMicroseconds ?? 0 }

    /// When a lockout ends, in whole seconds since 1970-01-01T00:00:00Z, rounded up; `nil` where no end is set.
    var until: Int64? {
        endsAt.map { -(-$0.microsecondsSince1970).flooredQuotient(by: 1_000_000) }
    }

    /// What the message asks of clients where it is sent without a lockout; `nil` where it asks nothing.
    package var hints: MessageHints? {
        guard remind != nil || shows != nil || skippable else { return nil }
        return MessageHints(
            remind: remind.map { $0.inMicroseconds / 1_000_000 }, shows: shows, skip: skippable, target: target
        )
    }

    /// Whether a rule's message comes before that of another: by position, then by key as bytes.
    package static func precedes(_ left: Rule, _ right: Rule) -> Bool {
        if left.position != right.position { return left.position < right.position }
        return UTF8Text(left.key) < UTF8Text(right.key)
    }
}

package struct AttributeCondition: Sendable, Equatable, Codable {
    /// The attribute's name; case counts.
    package var name: String

    package var values: AcceptedValues

    package init(name: String, _ values: AcceptedValues) { (self.name, self.values) = (name, values) }

    /// A condition that accepts one of some values.
    package init(name: String, values: [String]) { self.init(name: name, .among(values.map { UTF8Text($0) })) }
}

extension [AttributeCondition] {
    /// In the order in which they are judged.
    var byName: [AttributeCondition] { sorted { UTF8Text($0.name) < UTF8Text($1.name) } }
}

package struct RuleText: PolicyRecord {
    /// The language, a BCP 47 tag.
    package var language: String

    package var title: String
    package var text: String

    package init(language: String, title: String, text: String) {
        (self.language, self.title, self.text) = (language, title, text)
    }

    package static let table = PolicyTable.ruleTexts
    package static let blank = RuleText(language: "", title: "", text: "")

    package static let columns: [PolicyColumn<RuleText>] = [
        .init("language", \.language, .language, role: .identity, isRequired: true),
        .init("title", \.title, .text, role: .message, isRequired: true),
        .init("text", \.text, .text, role: .message, isRequired: true),
    ]

    package static let owner: ColumnDefinition? = Rule.keyOfOwner
}

package struct RolloutStep: PolicyRecord {
    /// When the step begins; it applies until the next one.
    package var at: Timestamp

    package var rollout: Percentage

    package init(at: Timestamp, rollout: Percentage) {
        (self.at, self.rollout) = (at, rollout)
    }

    package static let table = PolicyTable.rolloutSteps
    package static let blank = RolloutStep(at: Timestamp(microsecondsSince1970: 0), rollout: .zero)

    package static let columns: [PolicyColumn<RolloutStep>] = [
        .init("at", \.at, .time, role: .identity, isRequired: true),
        .init("rollout", \.rollout, .percentage, role: .schedule, isRequired: true),
    ]

    package static let owner: ColumnDefinition? = Rule.keyOfOwner
}
