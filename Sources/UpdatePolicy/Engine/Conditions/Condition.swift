// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A condition of a rule, named as its column, in the order in which they are judged.
///
/// What is said of a condition beside its test in a check (`RuleGroup.meets`) stands in this file; explanations,
/// announcements, impacts and statuses follow.
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

    /// Those by which checks are not counted.
    package static let uncounted = Set(allCases.filter { !$0.isCounted })

    /// Those on what a client is.
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

    /// A range or a list as people read it.
    func text(in rule: Rule) -> String? {
        switch value(in: rule) {
        case .text(let text): text.string
        case .texts(let texts): texts.map(\.string).joined(separator: ", ")
        default: nil
        }
    }
}

extension JudgedRule {
    /// Whether every client that another rule is for meets the conditions of this one, which has no target.
    func includes(_ other: JudgedRule) -> Bool {
        (bundle == nil || bundle == other.bundle) && Condition.onClients.allSatisfy { includes($0, of: other) }
    }

    private func includes(_ condition: Condition, of other: JudgedRule) -> Bool {
        switch condition {
        case .versions:
            versions == nil
                || (other.versions != nil || other.target != nil)
                    && Self.include(versions, other.effectiveVersions)
        case .builds: Self.include(builds, other.builds)
        case .os: Self.include(os, other.os)
        case .platforms: Self.include(platforms, other.platforms)
        case .regions: Self.include(row.regions, other.row.regions)
        case .languages:
            Self.include(row.languages?.map { LanguageTag($0) }, other.row.languages?.map { LanguageTag($0) }) {
                $1.matches($0)
            }
        case .attributes:
            (row.attributes ?? []).allSatisfy { attribute in
                other.row.attributes?.contains {
                    UTF8Text($0.name) == UTF8Text(attribute.name) && Self.include(attribute.values, $0.values)
                } ?? false
            }
        case .target, .startsAt, .endsAt, .rollout, .enabled, .paused: true
        }
    }

    private static func include(_ intervals: [VersionInterval]?, _ others: [VersionInterval]?) -> Bool {
        include(intervals, others) { !($1.lower < $0.lower) && !($0.upper < $1.upper) }
    }

    private static func include(_ names: [String]?, _ others: [String]?) -> Bool {
        include(names, others) { UTF8Text($0) == UTF8Text($1) }
    }

    /// Whether each value of another condition is in one of a condition; `nil` is no condition.
    private static func include<Value>(
        _ values: [Value]?,
        _ others: [Value]?,
        _ holds: (Value, Value) -> Bool
    ) -> Bool {
        guard let values else { return true }
        return others.map { $0.allSatisfy { other in values.contains { holds($0, other) } } } ?? false
    }
}

extension Rule {
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
            parts.append("\(Self.plain(attribute.name)) \(Self.list(attribute.values.map(Self.plain)))")
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

    /// `DE, AT and CH`; of a long list the first names, and how many there are beside them.
    private static func list(_ names: [String]) -> String {
        guard names.count > 1 else { return names.first ?? "nobody" }
        let shown = names.count > mostNames ? names.prefix(mostNames - 1) : names.dropLast()
        let rest = names.count - shown.count
        return "\(shown.joined(separator: ", ")) and \(rest == 1 ? names[names.count - 1] : "\(rest) more")"
    }

    /// A name or value of an attribute, quoted where it could be read as something else.
    private static func plain(_ text: String) -> String {
        text.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains($0) }
            && !text.isEmpty ? text : "\"\(text)\""
    }
}
