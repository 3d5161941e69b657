/// A condition of a rule, named as its column, in the order in which they are judged.
///
/// What is said of a condition beside its tests (`RuleGroup.isMet` and `Evaluator.verdict`) stands in this file;
/// explanations, announcements and impacts follow.
package enum Condition: String, Sendable, CaseIterable {
    case platforms
    case versions
    case builds
    case os
    case regions
    case languages
    case attributes
    case target
    case startsAt = "starts_at"
    case endsAt = "ends_at"
    case rollout
    case enabled
    /// Not of the rule but of the client's app.
    case paused

    /// Whether checks are counted by what it asks for, so that the share of them that meets it is known. Of a rollout the
    /// percentage is taken, as if every client sent an install.
    private var isCounted: Bool {
        switch self {
        case .platforms, .versions, .builds, .os, .regions, .target, .startsAt, .endsAt, .enabled, .paused: true
        case .languages, .attributes, .rollout: false
        }
    }

    package static let uncounted = Set(allCases.filter { !$0.isCounted })

    static let onClients: [Condition] = [.platforms, .versions, .builds, .os, .regions, .languages, .attributes]

    /// The member of a check that is asked about, where it is one.
    var field: ClientField? {
        switch self {
        case .platforms: .platform
        case .versions, .target: .version
        case .builds: .build
        case .os: .os
        case .regions: .region
        case .languages: .language
        case .rollout: .install
        case .attributes, .startsAt, .endsAt, .enabled, .paused: nil
        }
    }

    /// How a sentence names what is asked for, and how it says what a client has in its place.
    var words: (asked: String, had: String) {
        switch self {
        case .platforms: ("", "this client is on")
        case .versions: ("version ", "this client has")
        case .builds: ("build ", "this client has")
        case .regions: ("", "this client is in")
        case .languages: ("the language ", "this client's is")
        default: ("", "this client has")
        }
    }

    private static let columns = Dictionary(
        uniqueKeysWithValues: Rule.columns.compactMap { column in
            Condition(rawValue: column.name).map { ($0, column) }
        }
    )

    /// What a rule asks for; null where it has no such condition.
    func value(in rule: Rule) -> PolicyValue { Self.columns[self]?.value(of: rule) ?? .null }

    func text(in rule: Rule) -> String? {
        switch value(in: rule) {
        case .text(let text): text.string
        case .texts(let texts): texts.map(\.string).joined(separator: ", ")
        default: nil
        }
    }
}

extension Rule {
    /// The members of a check that its conditions ask about, in the order of judgement, the platform and the version apart.
    package func membersAsked(at time: Timestamp) -> [String] {
        Condition.allCases.flatMap { condition -> [String] in
            switch condition {
            case .platforms, .versions, .target: []
            case .attributes: (attributes ?? []).map(\.name)
            case .rollout: rollout(at: time) == .all ? [] : [ClientField.install.name]
            default: condition.value(in: self) == .null ? [] : [condition.field?.name].compactMap(\.self)
            }
        }
    }

    /// The clients of its app that the rule is for, by all of its conditions on them: `2.0, build 77, iOS, DE and AT,
    /// channel beta`; `everyone` where it has none.
    ///
    /// What stands behind a comma narrows it; "and" widens it.
    package var audience: String {
        var parts: [String] = []
        if let target { parts.append("below \(target)") }
        if let versions { parts.append(Self.shortened(versions)) }
        if let builds { parts.append("build \(Self.shortened(builds))") }
        if let platforms { parts.append(Self.list(platforms.map { Platform($0).displayName })) }
        if let os { parts.append("system \(Self.shortened(os))") }
        if let regions { parts.append(Self.list(regions)) }
        if let languages { parts.append("language \(Self.list(languages))") }
        for attribute in attributes ?? [] {
            let texts = Self.list(attribute.values.texts.map { Self.plain($0.string) })
            let accepted = attribute.values.range?.string ?? (attribute.values.isNot ? "not \(texts)" : texts)
            parts.append("\(Self.plain(attribute.name)) \(accepted)")
        }
        return parts.isEmpty ? "everyone" : parts.joined(separator: ", ")
    }

    /// The app and the clients of it that the rule is for: `com.example.doto: below 1.2, iOS`.
    package var who: String { "\(bundle ?? "every app"): \(audience)" }

    /// How many names a list has at most before it is cut.
    private static let mostNames = 6

    /// A range as it is written, without the sign of a single version.
    private static func shortened(_ range: String) -> String {
        guard range.hasPrefix("="), AppVersion(String(range.dropFirst())) != nil else { return range }
        return String(range.dropFirst())
    }

    /// `DE, AT or CH`; of a long list the first names, and how many there are beside them.
    private static func list(_ names: [String]) -> String {
        guard names.count > 1 else { return names.first ?? "nobody" }
        let shown = names.count > mostNames ? names.prefix(mostNames - 1) : names.dropLast()
        let rest = names.count - shown.count
        return "\(shown.joined(separator: ", ")) or \(rest == 1 ? names[names.count - 1] : "\(rest) more")"
    }

    /// A name or value of an attribute, quoted where it could be read as something else.
    private static func plain(_ text: String) -> String {
        text.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains($0) }
            && !text.isEmpty ? text : "\"\(text)\""
    }
}
