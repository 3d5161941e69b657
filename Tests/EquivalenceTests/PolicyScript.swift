import Postgres
import TestPolicies
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
        case template(FeedTemplate, bundle: String)
        case release(Release)
        /// Notes of the release that was written so many releases after the first.
        case note(ReleaseNote, release: Int)
        case rule(Rule)
        case text(RuleText, rule: String)
        case step(RolloutStep, rule: String)
        case hold(Timestamp, rule: String)
    }

    let rows: [(row: Row, statement: String)]
    /// Says that lockouts for everybody are meant, as they may well be among random ones.
    let consent: String
    let withdrawals: [String]

    init(_ policy: Policy) {
        var rows: [(Row, String)] = []
        for app in policy.apps {
            rows.append((.app(app), Self.insert(app)))
            for link in app.storeLinks {
                rows.append((.link(link, bundle: app.bundle), Self.insert(link, owner: Self.text(app.bundle))))
            }
            for template in app.feedTemplates {
                rows.append(
                    (.template(template, bundle: app.bundle), Self.insert(template, owner: Self.text(app.bundle)))
                )
            }
        }
        for release in policy.releases {
            var written = release
            written.withdrawnAt = nil
            rows.append((.release(release), Self.insert(written)))
        }
        for (place, release) in policy.releases.enumerated() {
            for note in release.notes {
                rows.append((.note(note, release: place), Self.insert(note, owner: "(\(Self.idOfRelease(place)))")))
            }
        }
        for rule in policy.rules {
            var written = rule
            written.heldAt = nil
            rows.append((.rule(rule), Self.insert(written)))
            for text in rule.texts {
                rows.append((.text(text, rule: rule.key), Self.insert(text, owner: Self.text(rule.key))))
            }
            for step in rule.steps {
                rows.append((.step(step, rule: rule.key), Self.insert(step, owner: Self.text(rule.key))))
            }
            // What has no steps cannot be held.
            if let heldAt = rule.heldAt {
                let update =
                    "UPDATE rules SET held_at = \(Self.text("\(heldAt)")) WHERE key = \(Self.text(rule.key))"
                rows.append((.hold(heldAt, rule: rule.key), update))
            }
        }
        self.rows = rows
        consent = "SET versiongate.consent = \(Self.text(policy.rules.map(\.key).joined(separator: ",")))"
        withdrawals = Self.withdrawals(policy.releases)
    }

    /// Everything as one script.
    var text: String {
        ([consent] + rows.map(\.statement) + withdrawals).map { $0 + ";" }.joined(separator: "\n")
    }

    /// Writes the rows, without those that the database refuses.
    func write(to connection: PostgresConnection) async throws {
        try await connection.execute(consent)
        for (_, statement) in rows {
            do {
                try await connection.execute(statement)
            } catch let error as PostgresError where error.sqlState?.isIntegrityViolation == true {
                continue
            }
        }
    }

    /// The id of a release. They are told apart by their order, as they have no id before they are written.
    private static func idOfRelease(_ place: Int) -> String {
        "SELECT id FROM releases ORDER BY id OFFSET \(place) LIMIT 1"
    }

    private static func withdrawals(_ releases: [Release]) -> [String] {
        let updates: [String] = releases.enumerated().compactMap { place, release in
            release.withdrawnAt.map {
                """
                UPDATE releases SET withdrawn_at = \(text("\($0)")) WHERE id = (\(idOfRelease(place)))
                """
            }
        }
        guard !updates.isEmpty else { return [] }
        return ["SET LOCAL session_replication_role = replica"] + updates
            + ["SET LOCAL session_replication_role = origin"]
    }

    /// The statement that writes a record; what is as it is by default is left out.
    ///
    /// - Parameter owner: What the record belongs to, as SQL.
    private static func insert<Record: PolicyRecord>(_ record: Record, owner: String? = nil) -> String {
        var written: [(name: String, value: String)] = []
        if let column = Record.owner, let owner { written.append((column.name, owner)) }
        for column in Record.columns {
            let value = column.value(of: record)
            if value != column.defaultValue { written.append((column.name, literal(value))) }
        }
        let names = written.map(\.name).joined(separator: ", ")
        let values = written.map(\.value).joined(separator: ", ")
        return "INSERT INTO \(Record.table.rawValue) (\(names)) VALUES (\(values))"
    }

    private static func literal(_ value: PolicyValue) -> String {
        switch value {
        case .null: "NULL"
        case .text(let value): text(value.string)
        case .texts(let texts): "ARRAY[\(texts.map { text($0.string) }.joined(separator: ", "))]::text[]"
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .percentage(let percentage): "\(percentage)"
        case .time(let time): text("\(time)")
        case .duration(let duration): interval(duration.inMicroseconds)
        case .attributes(let attributes): text(json(attributes))
        }
    }

    /// A text as a literal.
    static func text(_ text: String) -> String {
        var literal = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { literal += "'" }
            literal.unicodeScalars.append(scalar)
        }
        return literal + "'"
    }

    private static func json(_ attributes: [UTF8Text: AcceptedValues]) -> String {
        let members = attributes.sorted { $0.key < $1.key }.map { name, values in
            let list = "[\(values.texts.map { JSONText.quoted($0.string) }.joined(separator: ", "))]"
            let range = values.range.map { "{\"range\": \(JSONText.quoted($0.string))}" }
            return "\(JSONText.quoted(name.string)): \(range ?? (values.isNot ? "{\"not\": \(list)}" : list))"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private static func interval(_ microseconds: Int64) -> String {
        let (days, rest) = microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
        let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(fraction)
        let decimals = String(repeating: "0", count: 6 - digits.count) + digits
        return text("\(days) days \(seconds).\(decimals) seconds")
    }
}
