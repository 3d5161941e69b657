// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A policy as SQL that writes it, a statement a row.
///
/// Releases are withdrawn after the rules were written: so a lockout may stand without a way out, as it does in life.
/// There it takes a second transaction; here triggers are off meanwhile, which needs a superuser.
struct PolicyScript {
    /// The row that a statement writes, to know which rows the database took.
    enum Row {
        case app(App)
        case link(StoreLink, bundle: String)
        case release(Release)
        case rule(Rule)
        case text(RuleText, rule: String)
        case step(RolloutStep, rule: String)
    }

    let rows: [(row: Row, statement: String)]
    let withdrawals: [String]

    init(_ policy: Policy) {
        var rows: [(Row, String)] = []
        for app in policy.apps {
            rows.append((.app(app), Self.insert("apps", Self.columns(app))))
            for link in app.storeLinks {
                let columns = [
                    ("bundle", Self.text(app.bundle)), ("platform", Self.text(link.platform)),
                    ("link", Self.text(link.link)),
                ]
                rows.append((.link(link, bundle: app.bundle), Self.insert("store_links", columns)))
            }
        }
        for release in policy.releases {
            rows.append((.release(release), Self.insert("releases", Self.columns(release))))
        }
        for rule in policy.rules {
            rows.append((.rule(rule), Self.insert("rules", Self.columns(rule))))
            for text in rule.texts {
                let columns = [
                    ("rule", Self.text(rule.key)), ("language", Self.text(text.language)),
                    ("title", Self.text(text.title)), ("text", Self.text(text.text)),
                ]
                rows.append((.text(text, rule: rule.key), Self.insert("rule_texts", columns)))
            }
            for step in rule.steps {
                let columns = [
                    ("rule", Self.text(rule.key)), ("at", Self.time(step.at)), ("rollout", step.rollout.description),
                ]
                rows.append((.step(step, rule: rule.key), Self.insert("rollout_steps", columns)))
            }
        }
        self.rows = rows
        withdrawals = Self.withdrawals(policy.releases)
    }

    /// Everything as one script.
    var text: String {
        (rows.map(\.statement) + withdrawals).map { $0 + ";" }.joined(separator: "\n")
    }

    /// Releases are told apart by their order, as they have no id before they are written.
    private static func withdrawals(_ releases: [Release]) -> [String] {
        let updates: [String] = releases.enumerated().compactMap { place, release in
            release.withdrawnAt.map {
                """
                UPDATE releases SET withdrawn_at = \(time($0)) \
                WHERE id = (SELECT id FROM releases ORDER BY id OFFSET \(place) LIMIT 1)
                """
            }
        }
        guard !updates.isEmpty else { return [] }
        return ["SET LOCAL session_replication_role = replica"] + updates
            + ["SET LOCAL session_replication_role = origin"]
    }

    private static func insert(_ table: String, _ columns: [(name: String, value: String)]) -> String {
        let written = columns.filter { $0.value != "NULL" }
        let names = written.map(\.name).joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) VALUES (\(written.map(\.value).joined(separator: ", ")))"
    }

    private static func columns(_ app: App) -> [(String, String)] {
        [("bundle", text(app.bundle)), ("name", text(app.name)), ("paused", flag(app.paused))]
    }

    private static func columns(_ release: Release) -> [(String, String)] {
        [
            ("bundle", text(release.bundle)), ("platform", text(release.platform)), ("version", text(release.version)),
            ("build", text(release.build)), ("min_os", text(release.minOS)), ("regions", list(release.regions)),
            ("live_at", time(release.liveAt)), ("staged", flag(release.staged)),
        ]
    }

    private static func columns(_ rule: Rule) -> [(String, String)] {
        [
            ("key", text(rule.key)), ("bundle", text(rule.bundle)), ("enabled", flag(rule.enabled)),
            ("position", rule.position == 0 ? "NULL" : String(rule.position)), ("versions", text(rule.versions)),
            ("builds", text(rule.builds)), ("os", text(rule.os)), ("platforms", list(rule.platforms)),
            ("regions", list(rule.regions)), ("languages", list(rule.languages)),
            ("attributes", attributes(rule.attributes)), ("target", text(rule.target)),
            ("soak", interval(rule.soakMicroseconds)),
            ("rollout", rule.rollout == .all ? "NULL" : rule.rollout.description),
            ("starts_at", time(rule.startsAt)), ("ends_at", time(rule.endsAt)), ("title", text(rule.title)),
            ("text", text(rule.text)), ("link", text(rule.link)), ("lockout", flag(rule.lockout)),
            ("lockout_without_update", flag(rule.lockoutWithoutUpdate)), ("final", flag(rule.final)),
        ]
    }

    /// A text as a literal.
    static func text(_ text: String?) -> String {
        guard let text else { return "NULL" }
        var literal = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { literal += "'" }
            literal.unicodeScalars.append(scalar)
        }
        return literal + "'"
    }

    private static func flag(_ flag: Bool) -> String { flag ? "true" : "NULL" }

    private static func time(_ time: Timestamp?) -> String { text(time?.description) }

    private static func list(_ list: [String]?) -> String {
        guard let list else { return "NULL" }
        return "ARRAY[\(list.map { text($0) }.joined(separator: ", "))]::text[]"
    }

    private static func attributes(_ attributes: [AttributeCondition]?) -> String {
        guard let attributes else { return "NULL" }
        let members = attributes.map { attribute in
            "\(JSONText.quoted(attribute.name)): [\(attribute.values.map(JSONText.quoted).joined(separator: ", "))]"
        }
        return text("{\(members.joined(separator: ", "))}")
    }

    private static func interval(_ microseconds: Int64) -> String {
        guard microseconds != 0 else { return "NULL" }
        let (days, rest) = microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
        let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(fraction)
        let decimals = String(repeating: "0", count: 6 - digits.count) + digits
        return text("\(days) days \(seconds).\(decimals) seconds")
    }
}
