-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The two roles: versiongate_server reads the policy, versiongate_admin edits it. Neither can touch the history. Both
-- can log in, and have no password: give them one, or let the machine say who may (pg_hba.conf).
--
-- Roles belong to the whole cluster, so another database may have made them before, or be making them at this moment.

SET LOCAL search_path = public, pg_temp;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{versiongate_server,versiongate_admin}'::text[] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = name);
        BEGIN
            EXECUTE format('CREATE ROLE %I LOGIN', name);
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format('the role %s is missing, and %s may not create it', name, current_user),
                    HINT = format('Let a superuser run, then migrate again: CREATE ROLE %I LOGIN;', name);
        END;
    END LOOP;
END
$$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO versiongate_server, versiongate_admin;

GRANT SELECT ON
    apps, store_links, releases, rules, rule_texts, rollout_steps, rule_spans, policy_revision, schema_reader
    TO versiongate_server, versiongate_admin;
GRANT INSERT, UPDATE, DELETE ON apps, store_links, releases, rules, rule_texts, rollout_steps TO versiongate_admin;
GRANT SELECT ON changes, change_rows TO versiongate_admin;
GRANT EXECUTE ON FUNCTION undo_change(bigint) TO versiongate_admin;
GRANT EXECUTE ON FUNCTION apps_changed_since(bigint, uuid) TO versiongate_server, versiongate_admin;

-- The bookkeeping of the migrations is there if they are run by the migrate command.
DO $$
BEGIN
    IF to_regclass('public.schema_migrations') IS NOT NULL THEN
        GRANT SELECT ON public.schema_migrations TO versiongate_server, versiongate_admin;
    END IF;
END
$$;
