// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Rule {
    /// The clients of its app that the rule is for, by all of its conditions on them: `2.0, build 77, iOS, DE and AT,
    /// channel beta`; `everyone` where it has none.
    ///
    /// What stands behind a comma narrows it; "and" widens it.
    public var audience: String {
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
    public var who: String { "\(bundle ?? "every app"): \(audience)" }

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
