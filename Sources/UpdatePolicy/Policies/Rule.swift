// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A message and the conditions under which a client gets it.
///
/// A condition that is `nil` is none.
public struct Rule: Sendable, Equatable {
    /// The rule's name, the message's id and the salt of its buckets.
    public var key: String

    /// The app; `nil`: every app, also those that are not known.
    public var bundle: String?

    /// Whether the rule reaches anybody.
    public var enabled: Bool

    /// The order of the messages, before the key.
    public var position: Int

    /// The range of versions of the app.
    public var versions: String?

    /// The range of builds.
    public var builds: String?

    /// The range of versions of the operating system.
    public var os: String?

    /// The platforms, one of which must be the client's.
    public var platforms: [String]?

    /// The codes of the regions, one of which must be the client's.
    public var regions: [String]?

    /// The language ranges, one of which must hold the client's language.
    public var languages: [String]?

    /// The attributes that a client must have.
    public var attributes: [AttributeCondition]?

    /// The version that the rule asks clients to reach.
    public var target: String?

    /// How long a release must have been live before it is offered, in microseconds.
    public var soakMicroseconds: Int64

    /// The share of installs that the rule reaches before the first of its steps.
    public var rollout: Percentage

    /// From when on the rule applies.
    public var startsAt: Timestamp?

    /// Until just before when the rule applies.
    public var endsAt: Timestamp?

    /// The message's title.
    public var title: String

    /// The message's text.
    public var text: String

    /// The message's link; `store` stands for the app's link on the client's platform.
    public var link: String?

    /// Whether the app is to be unusable until it is updated.
    public var lockout: Bool

    /// Whether clients without a way out are locked out too.
    public var lockoutWithoutUpdate: Bool

    /// Whether no message follows this one when it is sent.
    public var final: Bool

    /// The message in other languages, each once.
    public var texts: [RuleText]

    /// Planned changes of the rollout.
    public var steps: [RolloutStep]

    /// A rule with these columns.
    public init(
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
        soakMicroseconds: Int64 = 0,
        rollout: Percentage = .all,
        startsAt: Timestamp? = nil,
        endsAt: Timestamp? = nil,
        title: String,
        text: String,
        link: String? = nil,
        lockout: Bool = false,
        lockoutWithoutUpdate: Bool = false,
        final: Bool = false,
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
        self.soakMicroseconds = soakMicroseconds
        self.rollout = rollout
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.title = title
        self.text = text
        self.link = link
        self.lockout = lockout
        self.lockoutWithoutUpdate = lockoutWithoutUpdate
        self.final = final
        self.texts = texts
        self.steps = steps
    }
}

extension Rule {
    /// Whether a rule's message comes before that of another: by position, then by key as bytes.
    static func precedes(_ left: Rule, _ right: Rule) -> Bool {
        if left.position != right.position { return left.position < right.position }
        return UTF8Text(left.key) < UTF8Text(right.key)
    }
}
