import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing

/// What must hold of everything in the schema, also of what is added to it one day.
@Suite("Schema", .migratedDatabase)
struct SchemaTests {
    /// A rule, and the query that lists what breaks it.
    struct Rule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violations: String

        init(_ description: String, _ violations: String) {
            testDescription = description
            self.violations = violations
        }
    }

    /// A condition on a column with the number of a schema: one of the two of the schema's.
    private static let ours = "IN ('public'::regnamespace, 'versiongate_internal'::regnamespace)"

    static let rules = [
        Rule(
            "Every table and view has a comment",
            """
            SELECT relname FROM pg_class
             WHERE relnamespace \(ours) AND relkind IN ('r', 'v', 'm', 'p')
               AND obj_description(oid, 'pg_class') IS NULL
            """
        ),
        Rule(
            "Every column of a table or view has a comment",
            """
            SELECT c.relname || '.' || a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
             WHERE c.relnamespace \(ours) AND c.relkind IN ('r', 'v', 'm', 'p')
               AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NULL
            """
        ),
        Rule(
            "Every function has a comment",
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace \(ours) AND obj_description(oid, 'pg_proc') IS NULL
               AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'i')
            """
        ),
        Rule(
            "Every type has a comment",
            """
            SELECT typname FROM pg_type AS t
             WHERE typnamespace \(ours) AND obj_description(oid, 'pg_type') IS NULL
               AND (typtype IN ('d', 'e', 'r') OR typtype = 'c' AND EXISTS (
                   SELECT FROM pg_class WHERE oid = t.typrelid AND relkind = 'c'))
            """
        ),
        Rule(
            "Every function has a search path that begins with public and ends with pg_temp; an aggregate can have none",
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace \(ours) AND prokind <> 'a'
               AND 'search_path=public, pg_temp' <> ALL (coalesce(proconfig, '{}'))
               AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'i')
            """
        ),
        Rule(
            "Every function with a backslash in it says what a backslash means",
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace \(ours) AND strpos(prosrc, E'\\\\') > 0
               AND 'standard_conforming_strings=on' <> ALL (coalesce(proconfig, '{}'))
            """
        ),
        Rule(
            "No function may be called by everybody",
            """
            SELECT p.oid::regprocedure::text
              FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS granted
             WHERE p.pronamespace \(ours) AND granted.grantee = 0
               AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'i')
            """
        ),
        Rule(
            "Nobody but the owner may call what only triggers, undo and the record need",
            """
            SELECT p.oid::regprocedure || ' ' || role
              FROM pg_proc AS p,
                   unnest('{versiongate_server,versiongate_viewer,versiongate_brake,versiongate_planner,versiongate_admin}'::text[]) AS role
             WHERE p.pronamespace \(ours) AND has_function_privilege(role, p.oid, 'EXECUTE')
               AND (p.prorettype = 'trigger'::regtype
                   OR p.proname ~ '^(undo_.+|guard_.+|judge_edits|warn_of_.+|record_.+|take_edits)$'
                       AND p.proname <> 'undo_change')
            """
        ),
        Rule(
            "What only serves others is in versiongate_internal, so that psql lists what people use on one screen",
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype
             UNION ALL
            SELECT 'relations' FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S') HAVING count(*) > 24
             UNION ALL
            SELECT 'functions' FROM pg_proc WHERE pronamespace = 'public'::regnamespace HAVING count(*) > 24
            """
        ),
        Rule(
            "Every view asks with the rights of who asks",
            """
            SELECT relname FROM pg_class
             WHERE relnamespace \(ours) AND relkind = 'v'
               AND 'security_invoker=true' <> ALL (coalesce(reloptions, '{}'))
            """
        ),
        Rule(
            "Every view is for viewers, brakes, planners and admins to read, and for nobody to write",
            """
            SELECT relname
              FROM pg_class, unnest('{versiongate_viewer,versiongate_brake,versiongate_planner,versiongate_admin}'::text[]) AS role
             WHERE relnamespace \(ours) AND relkind = 'v'
               AND (NOT has_table_privilege(role, oid, 'SELECT')
                   OR has_table_privilege(role, oid, 'INSERT, UPDATE, DELETE'))
            """
        ),
        Rule(
            "What admins may read and planners may do, viewers and brakes may read and admins may do; these two write nothing",
            """
            SELECT relname FROM pg_class
             WHERE relnamespace \(ours) AND relkind IN ('r', 'v')
               AND (has_table_privilege('versiongate_admin', oid, 'SELECT')
                       <> has_table_privilege('versiongate_viewer', oid, 'SELECT')
                   OR has_table_privilege('versiongate_viewer', oid, 'INSERT, UPDATE, DELETE')
                   OR has_table_privilege('versiongate_brake', oid, 'INSERT, UPDATE, DELETE')
                   OR has_table_privilege('versiongate_brake', oid, 'SELECT')
                       <> has_table_privilege('versiongate_viewer', oid, 'SELECT')
                   OR EXISTS (
                       SELECT FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS privilege
                        WHERE has_table_privilege('versiongate_admin', oid, privilege)
                           <> has_table_privilege('versiongate_planner', oid, privilege)))
            """
        ),
        Rule(
            "No table is granted to everybody, and none may be emptied or given triggers by the roles",
            """
            SELECT relname FROM pg_class, unnest('{versiongate_admin,versiongate_planner,versiongate_brake,versiongate_viewer,versiongate_server}'::text[]) AS role
             WHERE relnamespace \(ours) AND relkind IN ('r', 'v')
               AND (has_table_privilege(role, oid, 'TRUNCATE, TRIGGER, REFERENCES')
                   OR EXISTS (SELECT FROM aclexplode(relacl) WHERE grantee = 0))
            """
        ),
        Rule(
            "Every policy table has the triggers of the history, and refuses TRUNCATE",
            """
            SELECT t.name || ' ' || trigger
              FROM versiongate_internal.policy_tables() AS t,
                   unnest('{a_note_edit,await_commit,refuse_truncate}'::text[]) AS trigger
             WHERE NOT EXISTS (
                 SELECT FROM pg_trigger WHERE tgrelid = t.name::regclass AND tgname = trigger AND tgenabled = 'O')
            """
        ),
        Rule(
            "Every table with a trigger of the history, and every table that belongs to a policy table, is a policy table",
            """
            SELECT tgrelid::regclass::text FROM pg_trigger
             WHERE tgname = 'a_note_edit'
               AND NOT EXISTS (SELECT FROM versiongate_internal.policy_tables() AS t WHERE t.name::regclass = tgrelid)
             UNION ALL
            SELECT conrelid::regclass::text FROM pg_constraint
             WHERE contype = 'f' AND confrelid IN (SELECT t.name::regclass FROM versiongate_internal.policy_tables() AS t)
               AND conrelid <> 'versiongate_internal.rule_spans'::regclass
               AND NOT EXISTS (SELECT FROM versiongate_internal.policy_tables() AS t WHERE t.name::regclass = conrelid)
            """
        ),
        Rule(
            "Nothing judges the policy by a trigger that a session can make immediate",
            """
            SELECT tgname FROM pg_trigger
             WHERE tgrelid IN (SELECT t.name::regclass FROM versiongate_internal.policy_tables() AS t)
               AND tgdeferrable AND NOT tgisinternal
            """
        ),
        Rule(
            "The key and the parent of every policy table are known, and parents come first",
            """
            SELECT t.name
              FROM versiongate_internal.policy_tables() AS t
              LEFT JOIN versiongate_internal.policy_tables() AS parent ON parent.name = t.parent
             WHERE t.key IS DISTINCT FROM (
                 SELECT array_agg(a.attname::text ORDER BY array_position(i.indkey::int2[], a.attnum))
                   FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                  WHERE i.indrelid = t.name::regclass AND i.indisprimary)
                OR concat_ws(' ', t.parent, t.parent_column, parent.key[1]) IS DISTINCT FROM coalesce((
                 SELECT concat_ws(' ', c.confrelid::regclass::text, mine.attname, theirs.attname)
                   FROM pg_constraint AS c
                   JOIN pg_attribute AS mine ON mine.attrelid = c.conrelid AND mine.attnum = c.conkey[1]
                   JOIN pg_attribute AS theirs ON theirs.attrelid = c.confrelid AND theirs.attnum = c.confkey[1]
                  WHERE c.contype = 'f' AND c.conrelid = t.name::regclass), '')
                OR parent.place >= t.place
            """
        ),
        Rule(
            "Every policy table is for the admins to edit",
            """
            SELECT t.name FROM versiongate_internal.policy_tables() AS t
             WHERE NOT has_table_privilege('versiongate_admin', t.name, 'SELECT')
                OR NOT has_table_privilege('versiongate_admin', t.name, 'INSERT')
                OR NOT has_table_privilege('versiongate_admin', t.name, 'UPDATE')
                OR NOT has_table_privilege('versiongate_admin', t.name, 'DELETE')
            """
        ),
        Rule(
            "Every table can be published: subscribers can tell its rows apart",
            """
            SELECT relname FROM pg_class AS c
             WHERE relnamespace \(ours) AND relkind = 'r' AND relreplident <> 'f'
               AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary AND indimmediate)
            """
        ),
        Rule(
            "Every function names the schema of what it calls: of what is internal, and of all with its owner's rights",
            """
            SELECT DISTINCT p.oid::regprocedure || ' calls ' || called.proname
              FROM pg_proc AS p JOIN pg_proc AS called ON called.pronamespace \(ours) AND called.oid <> p.oid
             WHERE p.pronamespace \(ours)
               AND (p.prosecdef OR called.pronamespace = 'versiongate_internal'::regnamespace)
               AND p.prosrc ~ ('(^|[^.a-z0-9_"])' || called.proname || '[(]')
            """
        ),
        Rule(
            "No function takes the name of a trigger's table as the type name, for which others could make an overload",
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace \(ours) AND prosecdef AND prosrc ~ '[(][^()]*TG_TABLE_NAME *[,)]'
            """
        ),
        Rule(
            "Every text of the policy has a bound",
            """
            SELECT t || '.' || a.attname FROM (SELECT name FROM versiongate_internal.policy_tables()) AS p(t)
              JOIN pg_attribute AS a ON a.attrelid = t::regclass AND a.attnum > 0
               AND a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype)
              LEFT JOIN pg_constraint AS c ON c.conrelid = a.attrelid AND a.attnum = ANY (c.conkey)
               AND (c.contype = 'f' OR pg_get_constraintdef(c.oid) ~ 'check_|refuse')
             WHERE c.oid IS NULL
            """
        ),
        Rule(
            "Every function for people can be called by admins and planners, and by viewers if it edits nothing; brakes have theirs",
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace = 'public'::regnamespace
               AND (has_function_privilege('versiongate_admin', oid, 'EXECUTE')
                       = (proname IN ('brake_rule', 'brake_app'))
                   OR has_function_privilege('versiongate_planner', oid, 'EXECUTE')
                       <> (has_function_privilege('versiongate_admin', oid, 'EXECUTE') AND proname <> 'end_open_edits')
                   OR has_function_privilege('versiongate_viewer', oid, 'EXECUTE') = (proname IN (
                       'undo_change', 'hold_rule', 'resume_rule', 'rehearse_edits', 'brake_rule', 'brake_app', 'blow_fuses',
                       'end_open_edits'))
                   OR has_function_privilege('versiongate_brake', oid, 'EXECUTE')
                       = (proname IN ('undo_change', 'hold_rule', 'resume_rule', 'blow_fuses', 'end_open_edits')))
            """
        ),
    ]

    @Test("The guide for SQL calls nothing that only serves others")
    func hidesWhatIsInternal() async throws {
        let owner = try await TestDatabase.current.connect()
        let names = try await owner.query(
            "SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'versiongate_internal'::regnamespace"
        )
        .map { try $0.decode(0, as: String.self) }
        let guide = try String(contentsOf: RepositoryFile.url("Documentation/SQL.md"), encoding: .utf8)
        #expect(names.count > 100)
        #expect(names.filter { guide.contains("\($0)(") } == [])
    }

    @Test("The schema holds to its rules", .sharedDatabase(), arguments: rules)
    func holds(_ rule: Rule) async throws {
        let owner = try await TestDatabase.current.connect()
        let violations = try await owner.query(rule.violations).map { try $0.decode(0, as: String.self) }
        #expect(violations == [], "\(rule.testDescription)")
    }
}
