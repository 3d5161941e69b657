/// A message and the conditions under which a client gets it.
///
/// A condition that is `nil` is none. Flags stand behind optional values, where they take no memory of their own.
package struct Rule: PolicyRecord {
    /// The rule's name, the message's id and the salt of its buckets.
    package var key: String

    /// The app; `nil`: every app, also those that are not known.
    package var bundle: String?

    /// The order of the messages, before the key.
    package var position: Int

    /// The range of versions of the app.
    package var versions: String?

    /// The range of builds.
    package var builds: String?

    /// The range of versions of the operating system.
    package var os: String?

    /// The platforms, one of which must be the client's.
    package var platforms: [String]?

    /// The codes of the regions, one of which must be the client's.
    package var regions: [String]?

    /// The language ranges, one of which must hold the client's language.
    package var languages: [String]?

    /// The attributes that a client must have.
    package var attributes: [AttributeCondition]?

    /// The version that the rule asks clients to reach.
    package var target: String?

    /// How long a release must have been live before it is offered; `nil`: no time. Servers keep it in microseconds, without
    /// days.
    package var soak: DayTimeInterval?

    /// Whether the app must not be used until it is updated.
    package var lockout: Bool

    /// Whether clients without a way out are locked out too.
    package var lockoutWithoutUpdate: Bool

    /// The share of an app's checks beyond which the lockout is taken away, above zero; `nil`: any share may be locked out.
    package var fuse: Percentage?

    /// Whether no message follows this one when it is sent.
    package var final: Bool

    /// The share of installs that the rule reaches before the first of its steps.
    package var rollout: Percentage

    /// From when on the steps are held: none after it begins.
    package var heldAt: Timestamp?

    /// When the rule begins to apply, inclusive.
    package var startsAt: Timestamp?

    /// When the rule stops to apply, exclusive.
    package var endsAt: Timestamp?

    /// Whether the rule reaches anybody.
    package var enabled: Bool

    /// The message's title.
    package var title: String

    /// The message's text.
    package var text: String

    /// The message's link; ``storeLink`` stands for the app's link on the client's platform.
    package var link: String?

    /// How long after it was shown the message may be shown again; `nil`: at every start. Whole seconds, above zero.
    package var remind: DayTimeInterval?

    /// How often the message may be shown on one installation, 1 to 1,000; `nil`: without limit.
    package var shows: Int64?

    /// Whether the person may choose never to see the message again.
    package var skippable: Bool

    /// For the people who edit; never sent. `nil` also where notes were not read.
    package var note: String?

    /// The message in other languages, each once.
    package var texts: [RuleText]

    /// Planned changes of the rollout.
    package var steps: [RolloutStep]

    /// A rule with these columns.
    package init(
        key: String,
        bundle: String? = nil,
        enabled: Bool = true,
        position: Int = 0,
        versions: String? = nil,
        builds: String? = nil,
        os: String? = nil,
        platforms: [String]? = nil,
        regions: [String]? = nil,
        languages: [String]? = nil,
        attributes: [AttributeCondition]? = nil,
        target: String? = nil,
        soak: DayTimeInterval? = nil,
        rollout: Percentage = .all,
        heldAt: Timestamp? = nil,
        startsAt: Timestamp? = nil,
        endsAt: Timestamp? = nil,
        title: String,
        text: String,
        link: String? = nil,
        remind: DayTimeInterval? = nil,
        shows: Int64? = nil,
        skippable: Bool = false,
        lockout: Bool = false,
        lockoutWithoutUpdate: Bool = false,
        fuse: Percentage? = nil,
        final: Bool = false,
        note: String? = nil,
        texts: [RuleText] = [],
        steps: [RolloutStep] = []
    ) {
        self.key = key
        self.bundle = bundle
        self.enabled = enabled
        self.position = position
        self.versions = versions
        self.builds = builds
        self.os = os
        self.platforms = platforms
        self.regions = regions
        self.languages = languages
        self.attributes = attributes
        self.target = target
        self.soak = soak
        self.rollout = rollout
        self.heldAt = heldAt
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.title = title
        self.text = text
        self.link = link
        self.remind = remind
        self.shows = shows
        self.skippable = skippable
        self.lockout = lockout
        self.lockoutWithoutUpdate = lockoutWithoutUpdate
        self.fuse = fuse
        self.final = final
        self.note = note
        self.texts = texts
        self.steps = steps
    }
}

extension Rule {
    /// The link that stands for the app's link on the client's platform.
    package static let storeLink = "store"

    /// `rules`
    package static let table = PolicyTable.rules

    /// A rule without a key and a message, which reaches nobody.
    package static let blank = Rule(key: "", enabled: false, title: "", text: "")

    /// The columns that people edit.
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

    /// The share of installs that is in force at a time.
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

/// The values of one attribute that a rule accepts.
package struct AttributeCondition: Sendable, Equatable, Codable {
    /// The attribute's name; case counts.
    package var name: String

    /// The accepted values, case counts, in the order they were written.
    package var values: [String]

    /// A condition on an attribute.
    package init(name: String, values: [String]) {
        self.name = name
        self.values = values
    }
}

/// A rule's message in another language.
package struct RuleText: PolicyRecord {
    /// The language, a BCP 47 tag.
    package var language: String

    /// The message's title.
    package var title: String

    /// The message's text.
    package var text: String

    /// A message in a language.
    package init(language: String, title: String, text: String) {
        self.language = language
        self.title = title
        self.text = text
    }
}

/// A planned change of a rule's rollout.
package struct RolloutStep: PolicyRecord {
    /// When the step begins; it applies until the next one.
    package var at: Timestamp

    /// The share of installs that the rule reaches from then on.
    package var rollout: Percentage

    /// A change of the rollout at a time.
    package init(at: Timestamp, rollout: Percentage) {
        self.at = at
        self.rollout = rollout
    }
}

extension RuleText {
    /// `rule_texts`
    package static let table = PolicyTable.ruleTexts

    /// A text without a language and without words.
    package static let blank = RuleText(language: "", title: "", text: "")

    /// The columns that people edit.
    package static let columns: [PolicyColumn<RuleText>] = [
        .init("language", \.language, .language, role: .identity, isRequired: true),
        .init("title", \.title, .text, role: .message, isRequired: true),
        .init("text", \.text, .text, role: .message, isRequired: true),
    ]

    /// The rule.
    package static let owner: ColumnDefinition? = Rule.keyOfOwner
}

extension RolloutStep {
    /// `rollout_steps`
    package static let table = PolicyTable.rolloutSteps

    /// A step to nobody.
    package static let blank = RolloutStep(at: Timestamp(microsecondsSince1970: 0), rollout: .zero)

    /// The columns that people edit.
    package static let columns: [PolicyColumn<RolloutStep>] = [
        .init("at", \.at, .time, role: .identity, isRequired: true),
        .init("rollout", \.rollout, .percentage, role: .schedule, isRequired: true),
    ]

    /// The rule.
    package static let owner: ColumnDefinition? = Rule.keyOfOwner
}

extension Rule {
    /// The column of other tables that names the rule.
    fileprivate static let keyOfOwner = ColumnDefinition("rule", .key, role: .identity, default: nil, example: nil)
}
