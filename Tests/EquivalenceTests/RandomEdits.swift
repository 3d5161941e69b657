import TestPolicies
import TestRandom
import UpdatePolicy

/// The writer of random edits: rows added, changed, renamed, swapped and removed, also several in a transaction, and
/// changes taken back. Some of them are refused by the database.
struct RandomEdits {
    private var random: SeededGenerator
    private var inserts: [String] = []
    private var consent = ""
    private var generator: PolicyGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        generator = PolicyGenerator(seed: seed)
    }

    /// The next edit, as a script that is one transaction.
    mutating func script(revision: Int64) -> String {
        let edit = edit(revision: revision)
        return "\(consent); \(edit)"
    }

    private mutating func edit(revision: Int64) -> String {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10 where revision > 0: "SELECT undo_change(\(Int64.random(in: 1...revision, using: &random)))"
        case 10..<15 where revision > 0:
            "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SELECT undo_change(\(Int64.random(in: max(1, revision - 5)...revision, using: &random))); COMMIT"
        case 0..<45: statement()
        case 45..<55: "BEGIN; \(statement()); SAVEPOINT s; \(statement()); ROLLBACK TO s; \(statement()); COMMIT"
        default:
            "BEGIN; " + random.pick(["", "SET CONSTRAINTS ALL IMMEDIATE; "])
                + (0..<Int.random(in: 2...4, using: &random)).map { _ in statement() + "; " }.joined() + "COMMIT"
        }
    }

    private mutating func statement() -> String {
        random.chance(45) ? insert() : change()
    }

    /// A row of some random policy, always in the order in which rows need each other.
    private mutating func insert() -> String {
        while inserts.isEmpty {
            let script = PolicyScript(generator.scene().policy)
            consent = script.consent
            inserts = script.rows.map(\.statement).reversed()
        }
        return inserts.removeLast()
    }

    private mutating func change() -> String {
        let one = "ctid = (SELECT ctid FROM"
        let any = "ORDER BY random() LIMIT 1)"
        return random.pick([
            "UPDATE rules SET enabled = NOT enabled WHERE \(one) rules \(any)",
            "UPDATE rules SET title = left(title || '!', 200), note = 'noted' WHERE \(one) rules \(any)",
            "UPDATE rules SET position = (random() * 3)::int, final = false",
            "UPDATE rules SET versions = NULL, platforms = '{ios}' WHERE \(one) rules \(any)",
            "UPDATE rules SET target = NULL, soak = '36:00:00.000001' WHERE \(one) rules \(any)",
            "UPDATE rules SET remind = '36:00:00', shows = 3, skippable = NOT skippable WHERE \(one) rules \(any)",
            "UPDATE rules SET attributes = '{\"channel\": [\"beta\", \"1.10\"]}' WHERE \(one) rules \(any)",
            "UPDATE rules SET rollout = 12.34 WHERE \(one) rules \(any)",
            "DELETE FROM rules WHERE \(one) rules \(any)",
            "DELETE FROM rules WHERE \(one) rules \(any); \(insert())",
            "UPDATE releases SET staged = NOT staged WHERE \(one) releases \(any)",
            "UPDATE releases SET withdrawn_at = '2026-03-01T12:00:00.000001Z' WHERE \(one) releases \(any)",
            "DELETE FROM releases WHERE \(one) releases \(any)",
            "UPDATE apps SET paused = NOT paused WHERE \(one) apps \(any)",
            "UPDATE apps SET bundle = CASE bundle WHEN lower(bundle) THEN upper(bundle) ELSE lower(bundle) END",
            "DELETE FROM apps WHERE \(one) apps \(any)",
            "UPDATE apps SET store_id = (random() * 3)::int + 1 WHERE \(one) apps \(any)",
            "UPDATE feed_templates SET body = body || '{{floor}}' WHERE \(one) feed_templates \(any)",
            "DELETE FROM feed_templates WHERE \(one) feed_templates \(any)",
            "INSERT INTO release_notes SELECT id, 'fr', 'nouveau' FROM releases ON CONFLICT DO NOTHING",
            "UPDATE release_notes SET text = text || '!' WHERE \(one) release_notes \(any)",
            "UPDATE release_notes SET language = CASE language WHEN 'und' THEN 'fr' WHEN 'fr' THEN 'und' ELSE language END",
            "DELETE FROM release_notes WHERE \(one) release_notes \(any)",
            "DELETE FROM store_links WHERE \(one) store_links \(any)",
            "UPDATE store_links SET platform = platform || 'x' WHERE \(one) store_links \(any)",
            "UPDATE rule_texts SET language = CASE language WHEN 'de' THEN 'fr' ELSE 'de' END WHERE \(one) rule_texts \(any)",
            "UPDATE rule_texts SET language = CASE language WHEN 'de' THEN 'fr' WHEN 'fr' THEN 'de' ELSE language END",
            """
            UPDATE rule_texts SET language = 'x-de' WHERE language = 'de';
            UPDATE rule_texts SET language = 'de' WHERE language = 'fr';
            UPDATE rule_texts SET language = 'fr' WHERE language = 'x-de'
            """,
            "UPDATE rollout_steps SET at = at + interval '17 minutes'",
            "UPDATE rules SET held_at = '2026-03-01T12:00Z' WHERE key = (SELECT rule FROM rollout_steps \(any)",
            "SELECT resume_rule(key, '2026-03-02Z') FROM rules WHERE held_at IS NOT NULL",
            "UPDATE rules SET held_at = NULL WHERE \(one) rules \(any)",
            "UPDATE rollout_steps SET at = at - interval '1 day'",
            "DELETE FROM rollout_steps WHERE \(one) rollout_steps \(any)",
        ])
    }
}
