-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The roles, and all that they may do:
--
-- versiongate_server   reads the policy, writes counts and notes that it is there
-- versiongate_viewer   reads everything
-- versiongate_planner  reads everything, edits the policy and cannot commit it
-- versiongate_admin    reads everything and edits the policy
--
-- None can touch the history. All can log in, and have no password: give people roles of their own that are members of
-- these (`versiongate user add` does), or let the machine say who may (pg_hba.conf).
--
-- Roles belong to the whole cluster, so another database may have made them before, or be making them at this moment.
-- What only a superuser may do is done if a superuser migrates; schema_faults() tells what is left.

SET LOCAL search_path = public, pg_temp;

DO $$
DECLARE
    missing CONSTANT text[] := ARRAY(
        SELECT wanted.name
          FROM unnest('{versiongate_server,versiongate_viewer,versiongate_planner,versiongate_admin}'::text[])
               WITH ORDINALITY AS wanted(name, place)
         WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name)
         ORDER BY wanted.place
    );
    name text;
BEGIN
    FOREACH name IN ARRAY missing LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I LOGIN', name);
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format(
                        'missing roles: %s, and %s may not create them', array_to_string(missing, ', '), current_user
                    ),
                    HINT = 'Let a superuser run this, then migrate again:' || (
                        SELECT string_agg(format(' CREATE ROLE %I LOGIN;', wanted), '') FROM unnest(missing) AS wanted
                    );
        END;
    END LOOP;
END
$$;

-- A forgotten transaction must not block all editors, nor a lock keep one waiting without a word. A role that is a
-- member of these does not inherit settings: give each person's role its own.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{versiongate_server,versiongate_viewer,versiongate_planner,versiongate_admin}'::text[] LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting
             WHERE s.setrole = name::regrole AND setting LIKE 'idle_in_transaction_session_timeout=%'
        );
        BEGIN
            EXECUTE format(
                'ALTER ROLE %I SET idle_in_transaction_session_timeout = %L',
                name,
                CASE name WHEN 'versiongate_planner' THEN '1min' ELSE '5min' END
            );
            EXECUTE format('ALTER ROLE %I SET lock_timeout = ''10s''', name);
        EXCEPTION
            -- The role was made by somebody else, or another database is doing the same at this moment.
            WHEN insufficient_privilege OR internal_error OR unique_violation THEN
                NULL;
        END;
    END LOOP;
    IF pg_has_role((SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') THEN
        EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
        EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO versiongate_admin', current_database());
    END IF;
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        REVOKE EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) FROM PUBLIC;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA public TO versiongate_server, versiongate_viewer, versiongate_planner, versiongate_admin;

GRANT SELECT ON
    apps, store_links, feed_templates, releases, release_notes, rules, rule_texts, rollout_steps, rule_spans,
    policy_revision, schema_reader, check_counts, rule_counts, merged_counts, server_sightings
    TO versiongate_server, versiongate_viewer, versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION apps_changed_since(bigint, uuid), history_has(bigint, text)
    TO versiongate_server, versiongate_viewer, versiongate_planner, versiongate_admin;

GRANT INSERT, UPDATE, DELETE ON check_counts, rule_counts, merged_counts TO versiongate_server;
GRANT EXECUTE ON FUNCTION note_server(text, bigint) TO versiongate_server;

GRANT SELECT ON
    changes, recorded_rows, change_rows, rule_status, policy_warnings, active_rules, rollout_now, current_releases, recent_checks, history, user_functions
    TO versiongate_viewer, versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION
    rows_at(text, bigint), apps_at(bigint), store_links_at(bigint), feed_templates_at(bigint), releases_at(bigint),
    release_notes_at(bigint), rules_at(bigint), rule_texts_at(bigint), rollout_steps_at(bigint)
    TO versiongate_viewer, versiongate_planner, versiongate_admin;

GRANT INSERT, UPDATE, DELETE ON
    apps, store_links, feed_templates, releases, release_notes, rules, rule_texts, rollout_steps
    TO versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION undo_change(bigint), rehearse_edits() TO versiongate_planner, versiongate_admin;

-- What everybody may call is what is meant for people. The rest serves tables and views: those who may use them may call it.
DO $$
DECLARE
    internal record;
BEGIN
    FOR internal IN
        SELECT p.oid::regprocedure AS name
          FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS granted
         WHERE p.pronamespace = 'public'::regnamespace AND granted.grantee = 0
           AND p.oid::regprocedure::text NOT IN (SELECT u.function FROM user_functions AS u)
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', internal.name);
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION %s TO versiongate_server, versiongate_viewer, versiongate_planner, versiongate_admin',
            internal.name
        );
    END LOOP;
END
$$;

-- The bookkeeping of the migrations is not there where psql runs the files alone.
DO $$
BEGIN
    IF to_regclass('public.schema_migrations') IS NOT NULL THEN
        GRANT SELECT ON public.schema_migrations
            TO versiongate_server, versiongate_viewer, versiongate_planner, versiongate_admin;
    END IF;
END
$$;
