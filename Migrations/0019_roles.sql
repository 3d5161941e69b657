-- The roles, and all that they may do:
--
-- versiongate_server   reads the policy, writes counts, notes that it is there, has fuses blow, and records releases for tokens
-- versiongate_viewer   reads everything
-- versiongate_brake    reads everything, and calls what can only take messages and lockouts away
-- versiongate_planner  reads everything, edits the policy and cannot commit it
-- versiongate_admin    reads everything and edits the policy, and ends the open edits of others
--
-- None can touch the history. All can log in, and have no password: give people roles of their own that are members of
-- these (`versiongate user add` does), or let the machine say who may (pg_hba.conf).
--
-- Roles belong to the whole cluster, so another database may have made them before, or be making them at this moment.
-- What only a superuser may do is done if a superuser migrates; schema_faults() tells what is left.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

DO $$
DECLARE
    missing CONSTANT name[] := ARRAY(
        SELECT wanted.name
          FROM unnest(role_names()) WITH ORDINALITY AS wanted(name, place)
         WHERE NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = wanted.name)
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
    FOREACH name IN ARRAY role_names() LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting
             WHERE s.setrole = name::regrole AND setting LIKE 'idle_in_transaction_session_timeout=%'
        );
        BEGIN
            EXECUTE format(
                'ALTER ROLE %I SET idle_in_transaction_session_timeout = %L',
                name, CASE WHEN name IN ('versiongate_planner', 'versiongate_brake') THEN '1min' ELSE '5min' END
            );
            EXECUTE format('ALTER ROLE %I SET lock_timeout = ''10s''', name);
            -- So that 12/11/2026, which is a day in November or in December, is refused.
            EXECUTE format('ALTER ROLE %I SET datestyle = ''ISO, YMD''', name);
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
    -- So that end_open_edits() may end the sessions of any login, and sees which of them wait for a standby.
    FOREACH name IN ARRAY '{pg_signal_backend,pg_read_all_stats}'::text[] LOOP
        CONTINUE WHEN pg_has_role(name, 'USAGE');
        BEGIN
            EXECUTE format('GRANT %I TO %I', name, current_user);
        EXCEPTION
            WHEN insufficient_privilege OR internal_error OR unique_violation THEN
                NULL;
        END;
    END LOOP;
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        REVOKE EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) FROM PUBLIC;
    END IF;
END
$$;

-- What is read, and what is written. The bookkeeping of the migrations is not there where psql runs the files alone.
DO $$
DECLARE
    roles CONSTANT name[] := role_names();
    policy CONSTANT text := (SELECT string_agg(t.name, ', ') FROM policy_tables() AS t);
    counts CONSTANT text := 'check_counts, rule_counts, merged_counts, lockout_counts';
    right_to record;
BEGIN
    FOR right_to IN
        SELECT *
          FROM (VALUES
              ('USAGE', 'SCHEMA public, versiongate_internal', roles),
              ('SELECT', concat_ws(', ', policy, counts, 'policy_revision, rule_status, rule_spans'), roles),
              ('SELECT', 'server_sightings, schema_reader', roles),
              ('SELECT', 'changes, change_rows, history, policy_warnings, active_rules, current_releases', roles[2:]),
              ('SELECT', 'recent_checks, recorded_rows', roles[2:]),
              ('SELECT', to_regclass('versiongate_internal.schema_migrations')::text, roles),
              ('INSERT, UPDATE, DELETE', counts, '{versiongate_server}'),
              ('INSERT, UPDATE, DELETE', policy, '{versiongate_planner,versiongate_admin}'),
              ('SELECT (name, bundle, platforms, made_by, made_at)', 'release_tokens', roles[2:]),
              ('INSERT (name, hash, bundle, platforms), DELETE', 'release_tokens', '{versiongate_admin}')
          ) AS r(what, objects, roles)
         WHERE r.objects IS NOT NULL
    LOOP
        EXECUTE format('GRANT %s ON %s TO %s', right_to.what, right_to.objects, array_to_string(right_to.roles, ', '));
    END LOOP;
END
$$;

-- What is called. Nothing is for everybody. Views, CHECKs, indices and triggers call functions with the rights of whoever
-- asks or edits. A function that runs with these rights gives none, so people may call all that only looks; what edits,
-- and what runs with its owner's rights, is named.
DO $$
DECLARE
    called record;
BEGIN
    FOR called IN
        SELECT p.oid::regprocedure AS signature,
               string_agg('versiongate_' || r.name, ', ') FILTER (
                   WHERE p.proname = ANY (r.functions)
                      -- Servers ask the view rule_status too, and so rollout_at.
                      OR p.provolatile <> 'v' AND p.proname <> 'undo_is_running' AND NOT p.prosecdef
                         AND (r.name <> 'server' OR p.pronamespace = 'versiongate_internal'::regnamespace)
                      OR r.name <> 'server' AND p.proname ~
                          '^(rows_at|apps_changed_since|history_has|fuse_status|lockout_shares)$'
                      -- What the CHECKs and triggers of an edit call.
                      OR r.name IN ('planner', 'admin')
                         AND p.proname ~ '^(check_.*|refuse|refuse_reference|refuse_planner|warn)$'
               ) AS roles
          FROM pg_proc AS p,
               (VALUES
                   ('server', '{schema_faults,blow_fuses,apps_changed_since,history_has,version_key,fuse_status,
                       lockout_shares,note_server,rollout_at,record_release}'::text[]),
                   ('viewer', '{}'),
                   ('brake', '{brake_rule,brake_app,rehearse_edits}'),
                   ('planner', '{hold_rule,resume_rule,undo_change,rehearse_edits,blow_fuses}'),
                   ('admin', '{hold_rule,resume_rule,undo_change,rehearse_edits,blow_fuses,end_open_edits}')
               ) AS r(name, functions)
         WHERE p.pronamespace::regnamespace::text IN ('public', 'versiongate_internal')
           -- What PostgreSQL or an extension made is not ours.
           AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype IN ('i', 'e'))
         GROUP BY p.oid
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', called.signature);
        IF called.roles IS NOT NULL THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', called.signature, called.roles);
        END IF;
    END LOOP;
END
$$;
