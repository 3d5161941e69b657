-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The roles, and all that they may do:
--
-- versiongate_server   reads the policy, writes counts, notes that it is there, and has fuses blow
-- versiongate_viewer   reads everything
-- versiongate_brake    reads everything, and calls what can only take messages and lockouts away
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
          FROM unnest(
                   '{versiongate_server,versiongate_viewer,versiongate_brake,versiongate_planner,versiongate_admin}'::text[]
               )
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
    FOREACH name IN ARRAY
        '{versiongate_server,versiongate_viewer,versiongate_brake,versiongate_planner,versiongate_admin}'::text[]
    LOOP
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
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        REVOKE EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) FROM PUBLIC;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA public, versiongate_internal
    TO versiongate_server, versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;

-- What is read, and what is written.

GRANT SELECT ON
    apps, store_links, feed_templates, releases, release_notes, rules, rule_texts, rollout_steps, policy_revision,
    check_counts, rule_counts, merged_counts, versiongate_internal.server_sightings, versiongate_internal.schema_reader
    TO versiongate_server, versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;
GRANT INSERT, UPDATE, DELETE ON check_counts, rule_counts, merged_counts TO versiongate_server;

GRANT SELECT ON fuse_counts, versiongate_internal.fuse_restarts
    TO versiongate_server, versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;
GRANT INSERT, UPDATE, DELETE ON fuse_counts TO versiongate_server;

GRANT SELECT ON
    changes, change_rows, history, rule_status, policy_warnings, active_rules, current_releases, recent_checks,
    versiongate_internal.recorded_rows, versiongate_internal.rule_spans
    TO versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;

GRANT INSERT, UPDATE, DELETE ON
    apps, store_links, feed_templates, releases, release_notes, rules, rule_texts, rollout_steps
    TO versiongate_planner, versiongate_admin;

-- The bookkeeping of the migrations is not there where psql runs the files alone.
DO $$
BEGIN
    IF to_regclass('versiongate_internal.schema_migrations') IS NOT NULL THEN
        GRANT SELECT ON versiongate_internal.schema_migrations
            TO versiongate_server, versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;
    END IF;
END
$$;

-- What is called. Nothing is for everybody.

REVOKE ALL ON FUNCTION
    version_compare(text, text), version_matches(text, text), messages_for(jsonb, timestamptz),
    explain_check(jsonb, timestamptz), rollout_bucket(text, text), rollout_at(text, timestamptz),
    rows_at(anyelement, bigint), hold_rule(text, timestamptz), resume_rule(text, timestamptz),
    brake_rule(text, text, text), brake_app(text, text), rehearse_edits(), undo_change(bigint), schema_faults(),
    blow_fuses()
    FROM PUBLIC;

GRANT EXECUTE ON FUNCTION schema_faults()
    TO versiongate_server, versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION
    version_compare(text, text), version_matches(text, text), messages_for(jsonb, timestamptz),
    explain_check(jsonb, timestamptz), rollout_bucket(text, text), rollout_at(text, timestamptz),
    rows_at(anyelement, bigint)
    TO versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION hold_rule(text, timestamptz), resume_rule(text, timestamptz), undo_change(bigint)
    TO versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION brake_rule(text, text, text), brake_app(text, text) TO versiongate_brake;
GRANT EXECUTE ON FUNCTION rehearse_edits() TO versiongate_brake, versiongate_planner, versiongate_admin;
GRANT EXECUTE ON FUNCTION blow_fuses() TO versiongate_server, versiongate_planner, versiongate_admin;

-- Views, CHECKs, indices and triggers call functions with the rights of whoever asks or edits, so these need what is
-- called. Functions that run with their owner's rights, and what they call, are not among it.
DO $$
DECLARE
    read_by_servers CONSTANT text[] := '{apps_changed_since,history_has,version_key,fuse_status,fuse_start}';
    written_by_servers CONSTANT text[] := '{note_server,add_fuse_counts}';
    read_by_people CONSTANT text[] := '{
        read_version_range,read_version_side,read_version_comparator,version_family,version_family_start,
        version_family_end,version_operand_fault,version_operator_fault,version_separator_fault,version_range_error,
        platform_name,is_system,is_country,country_of_region,current_language,language_tag,language_matches,
        language_fallbacks,quoted,first_names,
        time_text,policy_tables,key_columns,may_only_plan,may_only_brake,read_client,judge_rules,rule_matches_release,
        release_is_above,
        lockout_obstacle,version_shown,fill_placeholders,rule_status_at,read_rules,ways_out,hidden_rules,full_times,
        present_steps,place_name,time_span,time_after,rule_warnings,rule_text_warnings,
        release_warnings,release_words,placeholder_warnings,platform_warnings,platform_meant,link_warnings,lockout_warnings,
        app_warnings,row_columns,row_difference,row_contents,value_text,changed_columns,release_name,
        missing_store_link,releases_for
    }';
    called_by_edits CONSTANT text[] := '{
        refuse,refuse_reference,refuse_planner,warn,code_point,ignorable_characters,is_language_code,check_key,
        check_bundle,check_version,check_version_range,check_list,check_platform,check_region,check_language,
        check_attributes,check_percentage,check_time,check_duration,check_characters,check_text,check_placeholders,check_note,
        check_content_type,check_link,stored_bundle,distinct_items
    }';
    function_name text;
BEGIN
    FOR function_name IN
        SELECT p.proname FROM pg_proc AS p
         WHERE p.pronamespace = 'versiongate_internal'::regnamespace
           -- What PostgreSQL made for a type is not ours.
           AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'i')
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION versiongate_internal.%I FROM PUBLIC', function_name);
    END LOOP;
    FOREACH function_name IN ARRAY read_by_servers || written_by_servers LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION versiongate_internal.%I TO versiongate_server', function_name);
    END LOOP;
    FOREACH function_name IN ARRAY read_by_servers || read_by_people LOOP
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION versiongate_internal.%I'
            ' TO versiongate_viewer, versiongate_brake, versiongate_planner, versiongate_admin',
            function_name
        );
    END LOOP;
    FOREACH function_name IN ARRAY called_by_edits LOOP
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION versiongate_internal.%I TO versiongate_planner, versiongate_admin', function_name
        );
    END LOOP;
END
$$;
