import Foundation
import TestPolicies
import Testing

@testable import UpdatePolicy

/// What SQL and the engine both say of two texts, and the table that it is written in.
struct Meaning: Sendable, CustomTestStringConvertible {
    /// Two texts, and what is said of them.
    struct Question: Sendable {
        let a: String
        let b: String
        let expected: String?
    }

    /// The name of the table.
    let table: String
    /// What SQL says of the columns `a` and `b`; nil: only the engine has it.
    let sql: String?
    /// Statements that come before that.
    var setup = ""
    /// What the engine says; nil: only SQL has it.
    let engine: (@Sendable (_ a: String, _ b: String) -> String?)?
    /// What a row asks.
    let questions: @Sendable (MeaningTable.Row) -> [Question]

    var testDescription: String { table }

    /// Whether each text of two columns is held by what the first column says.
    private static func isHeld(
        _ holder: String, in held: String, out excluded: String
    ) -> @Sendable (MeaningTable.Row) -> [Question] {
        { row in
            [(held, "yes"), (excluded, "no")].flatMap { column, answer in
                row.texts(column).map { Question(a: $0, b: row.text(holder) ?? "", expected: answer) }
            }
        }
    }

    /// What is read of each text of a column.
    private static func isRead(_ text: String, as meaning: String) -> @Sendable (MeaningTable.Row) -> [Question] {
        { row in row.texts(text).map { Question(a: $0, b: "", expected: row.text(meaning)) } }
    }
}

// MARK: - Versions

extension Meaning {
    private static let sqlOrder = "(ARRAY['<', '=', '>'])[version_compare(a, b) + 2]"

    private static let engineOrder: @Sendable (String, String) -> String? = { a, b in
        guard let a = AppVersion(a), let b = AppVersion(b) else { return nil }
        if a == b { return a.hashValue == b.hashValue && !(a < b) && !(b < a) ? "=" : "equal, and is not" }
        return a < b ? "<" : b < a ? ">" : "neither equal nor before nor after"
    }

    static let versions = [
        Meaning(table: "order", sql: sqlOrder, engine: engineOrder) { row in
            let places = row["versions"].components(separatedBy: " < ").enumerated().flatMap { place, equals in
                equals.components(separatedBy: " = ").map { (place: place, version: CaseText.read($0)) }
            }
            return places.flatMap { a in
                places.map { b in
                    let order = a.place < b.place ? "<" : a.place > b.place ? ">" : "="
                    return Question(a: a.version, b: b.version, expected: order)
                }
            }
        },
        Meaning(table: "unreadable", sql: sqlOrder, engine: engineOrder) { row in
            row.texts("versions").flatMap { version in
                [(version, "1"), ("1", version), (version, version)].map { Question(a: $0, b: $1, expected: nil) }
            }
        },
    ]

    static let ranges = [
        Meaning(
            table: "range", sql: "CASE WHEN version_matches(a, b) THEN 'yes' ELSE 'no' END",
            engine: { version, range in
                guard let range = VersionRange(range) else { return nil }
                return AppVersion(version).map(range.contains) ?? false ? "yes" : "no"
            },
            questions: isHeld("range", in: "matches", out: "does not match")
        ),
        Meaning(table: "range", sql: nil, engine: { range, _ in VersionRange(range)?.inWords }) { row in
            row["in words"].isEmpty
                ? [] : [Question(a: row.text("range") ?? "", b: "", expected: row["in words"])]
        },
        Meaning(table: "range", sql: nil, engine: { range, _ in VersionRange(range)?.text }) { row in
            [Question(a: row.text("range") ?? "", b: "", expected: row.text("range"))]
        },
        Meaning(
            table: "remark", sql: nil,
            engine: { range, _ in
                guard let remarks = VersionRange(range)?.remarks else { return "refused" }
                return remarks.isEmpty ? nil : remarks.joined(separator: ". ")
            },
            questions: { row in [Question(a: row["range"], b: "", expected: row.text("remarks"))] }
        ),
        Meaning(
            table: "refused range",
            sql: """
                (SELECT message || chr(10) || hint FROM versiongate_internal.version_range_error(a))
                """,
            engine: nil,
            questions: { row in
                let said = [row.text("message"), row.text("hint")].compactMap(\.self).joined(separator: "\n")
                return [Question(a: row.text("range") ?? "", b: "", expected: said)]
            }
        ),
        Meaning(table: "refused range", sql: nil, engine: { range, _ in VersionRange(range)?.text }) { row in
            [Question(a: row.text("range") ?? "", b: "", expected: nil)]
        },
    ]
}

// MARK: - What clients send

extension Meaning {
    static let clients = [
        Meaning(
            table: "country", sql: "versiongate_internal.country_of_region(a)",
            engine: { region, _ in Region(locale: region)?.code }, questions: isRead("sent", as: "country")
        ),
        Meaning(
            table: "platform", sql: "versiongate_internal.platform_name(a)",
            engine: { platform, _ in Platform(platform).name }, questions: isRead("sent", as: "platform")
        ),
        Meaning(
            table: "system",
            sql: """
                CASE WHEN versiongate_internal.is_system(
                    versiongate_internal.platform_name(b), versiongate_internal.version_key(a)
                ) THEN 'yes' ELSE 'no' END
                """,
            engine: { system, platform in
                guard let client = try? TestPolicy.client(["platform": platform, "os": system]),
                    client.sentNumberOfNoSystem == (client.system == nil)
                else { return nil }
                return client.sentNumberOfNoSystem ? "no" : "yes"
            },
            questions: isHeld("platform", in: "numbers of systems", out: "numbers of none")
        ),
        Meaning(
            table: "language",
            sql: """
                CASE WHEN versiongate_internal.language_matches(
                    versiongate_internal.language_tag(a), ARRAY[versiongate_internal.current_language(b)]
                ) THEN 'yes' ELSE 'no' END
                """,
            engine: { tag, range in LanguageTag(tag).matches(LanguageTag(range)) ? "yes" : "no" },
            questions: isHeld("rule", in: "matches", out: "does not match")
        ),
        Meaning(
            table: "attribute",
            sql: "CASE WHEN versiongate_internal.accepts(b::jsonb, nullif(a, '')) THEN 'yes' ELSE 'no' END",
            engine: { value, accepted in
                guard let values = try? JSONDecoder().decode(AcceptedValues.self, from: Data(accepted.utf8)),
                    let client = try? TestPolicy.client(["a": value]),
                    let policy = try? TestPolicy.policy([
                        TestPolicy.rule("k") { $0.attributes = [AttributeCondition(name: "a", values)] }
                    ])
                else { return nil }
                return policy.keys(client) == ["k"] ? "yes" : "no"
            },
            questions: isHeld("condition", in: "met by", out: "not met by")
        ),
        Meaning(
            table: "translation",
            sql: """
                (SELECT written FROM unnest(string_to_array(b, ', ')) AS written,
                     unnest(versiongate_internal.language_fallbacks(versiongate_internal.language_tag(a)))
                         WITH ORDINALITY AS fallback(tag, place)
                  WHERE versiongate_internal.language_tag(written) = fallback.tag ORDER BY fallback.place LIMIT 1)
                """,
            engine: { tag, written in
                let translations = written.components(separatedBy: ", ")
                return LanguageTag(tag).lookup(in: translations.map { LanguageTag($0) }).map { translations[$0] }
            },
            questions: { row in
                [Question(a: row["client"], b: row["translations"], expected: row.text("sent"))]
            }
        ),
        Meaning(
            table: "bucket", sql: "rollout_bucket(a, b)",
            engine: { key, install in "\(Bucket(key: key, install: UTF8Text(install)).number)" },
            questions: { row in
                [Question(a: row["key"], b: row.text("install") ?? "", expected: row["bucket"])]
            }
        ),
    ]
}

// MARK: - Columns

extension Meaning {
    /// The greatest values of columns, which the database alone takes or refuses.
    static let limits = Meaning(
        table: "limit", sql: "written(a, b)",
        setup: """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com');
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '1');
            INSERT INTO rules (key, title, text) VALUES ('r', 't', 'x');
            CREATE FUNCTION written(place text, value text) RETURNS text LANGUAGE plpgsql AS $$
            BEGIN
                EXECUTE CASE place
                    WHEN 'apps.bundle' THEN format('INSERT INTO apps (bundle) VALUES (%s)', value)
                    WHEN 'rules.key' THEN format('INSERT INTO rules (key, title, text) VALUES (%s, ''t'', ''x'')', value)
                    ELSE format('UPDATE %I SET %I = %s', split_part(place, '.', 1), split_part(place, '.', 2), value)
                END;
                SET CONSTRAINTS ALL IMMEDIATE;
                RAISE 'this takes the edit back' USING ERRCODE = 'ZZ000';
            EXCEPTION
                WHEN SQLSTATE 'ZZ000' THEN RETURN 'accepted';
                WHEN integrity_constraint_violation OR data_exception THEN RETURN 'refused';
            END $$;
            """,
        engine: nil,
        questions: { row in
            ["accepted", "refused"].map { Question(a: row["column"], b: row[$0], expected: $0) }
        }
    )

    /// All of them.
    static let all = versions + ranges + clients + [limits]
}
