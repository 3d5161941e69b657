import Testing

/// Something that a role must not do, and what PostgreSQL says to it.
struct RoleAttempt: Sendable, CustomTestStringConvertible {
    let sql: String
    let sqlState: String
    /// How its message begins: in one of these ways, for newer versions of PostgreSQL have other words for some.
    let messages: [String]

    init(_ sql: String, _ messages: String..., sqlState: String = "42501") {
        self.sql = sql
        self.sqlState = sqlState
        self.messages = messages
    }

    var testDescription: String { sql }

    /// What no role must do. `pg_temp.rules` is a temporary table that the role has made, `{owner}` the owner's process.
    static let ofAll: [RoleAttempt] = [
        // Forging entries of the history
        RoleAttempt(
            "CREATE TRIGGER a AFTER INSERT ON pg_temp.rules FOR EACH ROW EXECUTE FUNCTION versiongate_internal.note_edit('key')",
            "permission denied for function versiongate_internal.note_edit"
        ),
        RoleAttempt(
            "CREATE TRIGGER b AFTER INSERT ON pg_temp.rules FOR EACH ROW EXECUTE FUNCTION versiongate_internal.record_edits()",
            "permission denied for function versiongate_internal.record_edits"
        ),
        RoleAttempt(
            "CREATE TRIGGER c AFTER INSERT ON pg_temp.rules FOR EACH ROW EXECUTE FUNCTION versiongate_internal.keep_rule_spans()",
            "permission denied for function versiongate_internal.keep_rule_spans"
        ),
        RoleAttempt("SELECT versiongate_internal.note_edit()", "permission denied for function note_edit"),
        RoleAttempt("SELECT versiongate_internal.record_edits()", "permission denied for function record_edits"),
        RoleAttempt("SELECT versiongate_internal.keep_rule_spans()", "permission denied for function keep_rule_spans"),
        RoleAttempt(
            "SELECT versiongate_internal.record_noted_edits()",
            "permission denied for function record_noted_edits"
        ),
        RoleAttempt("SELECT versiongate_internal.take_edits(NULL)", "permission denied for function take_edits"),
        RoleAttempt("SELECT versiongate_internal.undo_rows(1)", "permission denied for function undo_rows"),
        RoleAttempt("SELECT versiongate_internal.refuse_truncate()", "permission denied for function refuse_truncate"),
        RoleAttempt(
            "INSERT INTO changes (id, at, role) VALUES (99, now(), 'versiongate')",
            "permission denied for table changes"
        ),
        RoleAttempt("UPDATE changes SET role = 'somebody else'", "permission denied for table changes"),
        RoleAttempt("DELETE FROM changes", "permission denied for table changes"),
        RoleAttempt("SELECT FROM changes FOR UPDATE", "permission denied for table changes"),
        RoleAttempt(
            "INSERT INTO versiongate_internal.recorded_rows SELECT token, 9, 'rules', '{}', '{}', '{}' FROM changes",
            "permission denied for table recorded_rows"
        ),
        RoleAttempt(
            "UPDATE versiongate_internal.recorded_rows SET before = '{}'",
            "permission denied for table recorded_rows"
        ),
        RoleAttempt("DELETE FROM versiongate_internal.recorded_rows", "permission denied for table recorded_rows"),
        RoleAttempt("DELETE FROM change_rows", "cannot delete from view", sqlState: "55000"),
        RoleAttempt("SELECT FROM versiongate_internal.edited_rows", "permission denied for table edited_rows"),
        RoleAttempt(
            "INSERT INTO versiongate_internal.edited_rows (table_name, key) VALUES ('changes', '{\"id\": 1}')",
            "permission denied for table edited_rows"
        ),
        RoleAttempt("DELETE FROM versiongate_internal.edited_rows", "permission denied for table edited_rows"),
        RoleAttempt("DELETE FROM versiongate_internal.edits_to_record", "permission denied for table edits_to_record"),
        RoleAttempt(
            "INSERT INTO versiongate_internal.edits_to_record DEFAULT VALUES",
            "permission denied for table edits_to_record"
        ),
        RoleAttempt("UPDATE policy_revision SET revision = 0", "permission denied for table policy_revision"),
        RoleAttempt("UPDATE policy_revision SET is_rehearsal = false", "permission denied for table policy_revision"),
        RoleAttempt("DELETE FROM policy_revision", "permission denied for table policy_revision"),
        RoleAttempt(
            "INSERT INTO policy_revision VALUES (false, 1, gen_random_uuid())",
            "permission denied for table policy_revision"
        ),
        RoleAttempt("SELECT FROM policy_revision FOR UPDATE", "permission denied for table policy_revision"),
        RoleAttempt("BEGIN; LOCK TABLE policy_revision; COMMIT", "permission denied for table policy_revision"),
        RoleAttempt(
            "BEGIN; LOCK TABLE versiongate_internal.recorded_rows; COMMIT",
            "permission denied for table recorded_rows"
        ),
        RoleAttempt("UPDATE history SET why = 'x'", "permission denied for view history"),
        RoleAttempt("DELETE FROM history", "permission denied for view history"),
        RoleAttempt("UPDATE active_rules SET title = 'x'", "cannot update view", sqlState: "55000"),

        // Leaving no trace
        RoleAttempt("TRUNCATE public.rules CASCADE", "permission denied for table rules"),
        RoleAttempt("TRUNCATE apps CASCADE", "permission denied for table apps"),
        RoleAttempt("TRUNCATE changes CASCADE", "permission denied for table changes"),
        RoleAttempt("TRUNCATE policy_revision", "permission denied for table policy_revision"),
        RoleAttempt("TRUNCATE check_counts", "permission denied for table check_counts"),
        RoleAttempt(
            "SET session_replication_role = replica",
            "permission denied to set parameter \"session_replication_role\""
        ),
        RoleAttempt("ALTER TABLE public.rules DISABLE TRIGGER ALL", "must be owner of table rules"),
        RoleAttempt("ALTER TABLE public.rules DISABLE TRIGGER USER", "must be owner of table rules"),
        RoleAttempt("DROP TRIGGER a_note_edit ON public.rules", "must be owner of relation rules"),
        RoleAttempt(
            """
            CREATE TRIGGER z BEFORE INSERT ON public.rules FOR EACH ROW
            EXECUTE FUNCTION suppress_redundant_updates_trigger()
            """,
            "permission denied for table rules"
        ),
        RoleAttempt("CREATE RULE z AS ON INSERT TO public.rules DO INSTEAD NOTHING", "must be owner of table rules"),
        RoleAttempt(
            "CREATE EVENT TRIGGER z ON ddl_command_start EXECUTE FUNCTION versiongate_internal.refuse_truncate()",
            "permission denied to create event trigger \"z\""
        ),
        RoleAttempt(
            "DO 'BEGIN END'; SET plpgsql.variable_conflict = use_column",
            "permission denied to set parameter \"plpgsql.variable_conflict\""
        ),

        // Changing the schema
        RoleAttempt("ALTER TABLE public.rules ADD COLUMN z int", "must be owner of table rules"),
        RoleAttempt("ALTER TABLE public.rules DROP CONSTRAINT rules_key_check", "must be owner of table rules"),
        RoleAttempt("ALTER TABLE public.rules OWNER TO CURRENT_USER", "must be owner of table rules"),
        RoleAttempt("ALTER TABLE changes ADD COLUMN z int", "must be owner of table changes"),
        RoleAttempt("DROP TABLE public.rules CASCADE", "must be owner of table rules"),
        RoleAttempt("DROP VIEW history", "must be owner of view history"),
        RoleAttempt("COMMENT ON TABLE public.rules IS 'z'", "must be owner of table rules"),
        RoleAttempt("CREATE INDEX ON public.rules (title)", "must be owner of table rules"),
        RoleAttempt(
            "ALTER FUNCTION versiongate_internal.version_key(text) RESET ALL",
            "must be owner of function versiongate_internal.version_key"
        ),
        RoleAttempt(
            "DROP FUNCTION versiongate_internal.note_edit() CASCADE",
            "must be owner of function versiongate_internal.note_edit"
        ),
        RoleAttempt(
            "CREATE OR REPLACE FUNCTION versiongate_internal.note_edit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "permission denied for schema versiongate_internal"
        ),
        RoleAttempt(
            "CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
            "permission denied for schema public"
        ),
        RoleAttempt("CREATE TABLE public.z ()", "permission denied for schema public"),
        RoleAttempt("CREATE VIEW public.z AS SELECT 1", "permission denied for schema public"),
        RoleAttempt("CREATE TYPE public.z AS (a int)", "permission denied for schema public"),
        RoleAttempt(
            "CREATE OPERATOR public.< (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = byteagt)",
            "permission denied for schema public"
        ),
        RoleAttempt("CREATE SCHEMA z", "permission denied for database"),
        RoleAttempt("CREATE PUBLICATION z", "permission denied for database"),
        RoleAttempt("CREATE EXTENSION hstore", "permission denied to create extension \"hstore\""),
        RoleAttempt("DROP SCHEMA public CASCADE", "must be owner of schema public"),
        RoleAttempt("DROP SCHEMA versiongate_internal CASCADE", "must be owner of schema versiongate_internal"),
        RoleAttempt(
            "UPDATE versiongate_internal.rule_spans SET versions = NULL",
            "permission denied for table rule_spans"
        ),
        RoleAttempt("DELETE FROM versiongate_internal.rule_spans", "permission denied for table rule_spans"),
        RoleAttempt(
            "UPDATE versiongate_internal.schema_reader SET oldest = 'z'",
            "permission denied for table schema_reader"
        ),
        RoleAttempt(
            "DELETE FROM versiongate_internal.schema_migrations",
            "permission denied for table schema_migrations"
        ),
        RoleAttempt("SELECT nextval('releases_id_seq')", "permission denied for sequence releases_id_seq"),
        RoleAttempt("SELECT setval('releases_id_seq', 1)", "permission denied for sequence releases_id_seq"),

        // Becoming somebody else
        RoleAttempt("SET ROLE versiongate", "permission denied to set role \"versiongate\""),
        RoleAttempt(
            "SET SESSION AUTHORIZATION versiongate",
            "permission denied to set session authorization \"versiongate\""
        ),
        RoleAttempt(
            "GRANT versiongate TO CURRENT_USER", "must be superuser to alter superusers",
            "permission denied to grant role \"versiongate\""
        ),
        RoleAttempt("ALTER ROLE CURRENT_USER CREATEDB", "permission denied"),
        RoleAttempt("ALTER ROLE CURRENT_USER SUPERUSER", "must be superuser", "permission denied to alter role"),
        RoleAttempt("CREATE ROLE z", "permission denied to create role"),
        RoleAttempt("CREATE DATABASE z", "permission denied to create database"),
        RoleAttempt("SELECT rolpassword FROM pg_authid", "permission denied for table pg_authid"),
        RoleAttempt("SELECT passwd FROM pg_shadow", "permission denied for view pg_shadow"),
        RoleAttempt("DROP OWNED BY versiongate", "permission denied to drop objects"),
        RoleAttempt("REASSIGN OWNED BY versiongate TO CURRENT_USER", "permission denied to reassign objects"),
        RoleAttempt("ALTER SYSTEM SET fsync = off", "permission denied to set parameter \"fsync\""),
        RoleAttempt(
            "ALTER ROLE versiongate SET search_path = pg_temp", "must be superuser to alter superusers",
            "permission denied to alter role"
        ),

        // The machine that PostgreSQL runs on
        RoleAttempt(
            "COPY public.apps TO '/tmp/z'", "must be superuser or have privileges of the pg_write_server_files",
            "permission denied to COPY to a file"
        ),
        RoleAttempt(
            "COPY public.apps FROM PROGRAM 'id'",
            "must be superuser or have privileges of the pg_execute_server_program",
            "permission denied to COPY to or from an external program"
        ),
        RoleAttempt("SELECT pg_read_file('/etc/passwd')", "permission denied for function pg_read_file"),
        RoleAttempt("SELECT pg_ls_dir('/')", "permission denied for function pg_ls_dir"),
        RoleAttempt("SELECT lo_import('/etc/passwd')", "permission denied for function lo_import"),
        RoleAttempt("SELECT lo_export(1, '/tmp/z')", "permission denied for function lo_export"),
        RoleAttempt("SELECT lo_create(0)", "permission denied for function lo_create"),
        RoleAttempt("SELECT lo_creat(0)", "permission denied for function lo_creat"),
        RoleAttempt("SELECT lo_from_bytea(0, '')", "permission denied for function lo_from_bytea"),
        RoleAttempt("SELECT lo_get(4711)", "permission denied for large object 4711"),
        RoleAttempt("SELECT lo_unlink(4711)", "must be owner of large object 4711"),
        RoleAttempt("LOAD 'auto_explain'", "access to library \"auto_explain\" is not allowed"),
        RoleAttempt("SELECT pg_reload_conf()", "permission denied for function pg_reload_conf"),
        RoleAttempt(
            "SELECT pg_terminate_backend({owner})", "must be a superuser to terminate superuser process",
            "permission denied to terminate process"
        ),
    ]

    /// What the roles that do not edit must not do beside that.
    static let ofReaders: [RoleAttempt] =
        [
            "apps", "store_links", "feed_templates", "releases", "release_notes", "public.rules", "rule_texts",
            "rollout_steps",
        ].flatMap { table in
            let name = table.split(separator: ".").last.map(String.init) ?? table
            return [
                RoleAttempt("INSERT INTO \(table) DEFAULT VALUES", "permission denied for table \(name)"),
                RoleAttempt("DELETE FROM \(table)", "permission denied for table \(name)"),
                RoleAttempt("SELECT FROM \(table) FOR SHARE", "permission denied for table \(name)"),
                RoleAttempt("BEGIN; LOCK TABLE \(table); COMMIT", "permission denied for table \(name)"),
                RoleAttempt(
                    "BEGIN; LOCK TABLE \(table) IN ROW SHARE MODE; COMMIT",
                    "permission denied for table \(name)"
                ),
            ]
        } + [
            RoleAttempt("UPDATE apps SET paused = true", "permission denied for table apps"),
            RoleAttempt("UPDATE public.rules SET enabled = true", "permission denied for table rules"),
            RoleAttempt("SELECT undo_change(1)", "permission denied for function undo_change"),
            RoleAttempt(
                "SELECT versiongate_internal.refuse('rules.key', 'x', 'y')",
                "permission denied for function refuse"
            ),
            RoleAttempt("SET ROLE versiongate_admin", "permission denied to set role \"versiongate_admin\""),
            RoleAttempt("SET ROLE versiongate_planner", "permission denied to set role \"versiongate_planner\""),
        ]

    /// What of these a brake may do.
    static let ofViewers = [
        RoleAttempt("SELECT rehearse_edits()", "permission denied for function rehearse_edits"),
        RoleAttempt("SELECT brake_rule('k', 'disable')", "permission denied for function brake_rule"),
        RoleAttempt("SELECT brake_app('a')", "permission denied for function brake_app"),
        RoleAttempt("SELECT end_open_edits()", "permission denied for function end_open_edits"),
    ]

    /// What a brake must not do beside that.
    static let ofBrakes = [
        RoleAttempt("SELECT end_open_edits()", "permission denied for function end_open_edits"),
        RoleAttempt("SELECT hold_rule('k')", "permission denied for function hold_rule"),
        RoleAttempt("SELECT resume_rule('k')", "permission denied for function resume_rule"),
        RoleAttempt("SELECT versiongate_internal.note_brake('x')", "permission denied for function note_brake"),
        RoleAttempt("SELECT versiongate_internal.guard_brake(NULL)", "permission denied for function guard_brake"),
        RoleAttempt("BEGIN; SELECT rehearse_edits(); UPDATE apps SET name = 'z'", "permission denied for table apps"),
        RoleAttempt(
            "SELECT brake_rule('k', 'enable')", "\"enable\" is nothing that a brake does to a rule", sqlState: "22023"
        ),
    ]

    /// What the server's role must not do beside that: reading the history.
    static let ofServer: [RoleAttempt] = [
        RoleAttempt("SELECT FROM changes", "permission denied for table changes"),
        RoleAttempt("SELECT FROM change_rows", "permission denied for view change_rows"),
        RoleAttempt("SELECT FROM versiongate_internal.recorded_rows", "permission denied for table recorded_rows"),
        RoleAttempt("SELECT FROM history", "permission denied for view history"),
        RoleAttempt("SELECT FROM rows_at(NULL::public.rules, 0)", "permission denied for function rows_at"),
        RoleAttempt("SELECT messages_for('{}')", "permission denied for function messages_for"),
        RoleAttempt("SELECT version_compare('1', '2')", "permission denied for function version_compare"),
        RoleAttempt("GRANT SELECT ON public.rules TO PUBLIC; SELECT FROM changes", "permission denied for table"),
    ]

    /// What people's roles must not do beside what no role must: writing counts, and reaching beyond the policy.
    static let ofPeople: [RoleAttempt] = [
        RoleAttempt("INSERT INTO check_counts DEFAULT VALUES", "permission denied for table check_counts"),
        RoleAttempt("UPDATE check_counts SET checks = 0", "permission denied for table check_counts"),
        RoleAttempt("DELETE FROM check_counts", "permission denied for table check_counts"),
        RoleAttempt("INSERT INTO rule_counts DEFAULT VALUES", "permission denied for table rule_counts"),
        RoleAttempt("UPDATE rule_counts SET sent = 0", "permission denied for table rule_counts"),
        RoleAttempt("DELETE FROM rule_counts", "permission denied for table rule_counts"),
        RoleAttempt("INSERT INTO lockout_counts DEFAULT VALUES", "permission denied for table lockout_counts"),
        RoleAttempt("UPDATE lockout_counts SET lockouts = 0", "permission denied for table lockout_counts"),
        RoleAttempt("DELETE FROM lockout_counts", "permission denied for table lockout_counts"),
        RoleAttempt("SET ROLE versiongate_server", "permission denied to set role \"versiongate_server\""),
        RoleAttempt("ALTER ROLE versiongate_server SET statement_timeout = 1", "permission denied"),
        RoleAttempt("SELECT versiongate_internal.note_server('x', 1)", "permission denied for function note_server"),
        RoleAttempt(
            "SELECT rows_at(NULL::pg_authid, 0)", "pg_authid is not the row of a policy table", sqlState: "22023"
        ),
        RoleAttempt("SELECT rows_at(NULL::changes, 0)", "changes is not the row of a policy table", sqlState: "22023"),
        RoleAttempt("SELECT rows_at(NULL::pg_temp.rules, 0)", "pg_temp", sqlState: "22023"),
        RoleAttempt("SELECT rows_at(1, 0)", "integer is not the row of a policy table", sqlState: "22023"),
    ]

    /// What the roles that edit must not do beside that.
    static let ofEditors: [RoleAttempt] = [
        RoleAttempt("UPDATE releases SET id = 5", "column \"id\" can only be updated to DEFAULT", sqlState: "428C9"),
        RoleAttempt(
            "INSERT INTO releases (id, bundle, platform, version) VALUES (5, 'a', 'ios', '9')",
            "cannot insert a non-DEFAULT value into column \"id\"", sqlState: "428C9"
        ),
        RoleAttempt("SELECT undo_change(4711)", "there is no change 4711", sqlState: "P0002"),
    ]
}
