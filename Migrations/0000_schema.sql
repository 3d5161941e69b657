-- The two schemas that all else stands in, and what must hold of them: public has what people use, versiongate_internal
-- what that needs.
--
-- Functions that run with their owner's rights find names without a schema in schema public. Whoever may create a
-- function or an operator there can have it called in place of another, and so act as the owner. From PostgreSQL 15 on
-- nobody may by default; a database that came through pg_upgrade from an older one still lets everybody.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE SCHEMA IF NOT EXISTS versiongate_internal;
COMMENT ON SCHEMA versiongate_internal IS
    'What only the tables, views and functions in schema public need. It may change with any version.';

DO $$
BEGIN
    IF current_setting('server_version_num')::int < 150000 THEN
        RAISE EXCEPTION 'PostgreSQL % is too old', current_setting('server_version')
            USING HINT = 'versiongate needs PostgreSQL 15 or newer.';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the database is encoded in %, not in UTF8', current_setting('server_encoding')
            USING HINT = 'Create the database with ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
    IF EXISTS (
        SELECT FROM pg_namespace AS n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS granted
         WHERE n.nspname = 'public' AND granted.grantee = 0 AND granted.privilege_type = 'CREATE'
    ) THEN
        REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    END IF;
END
$$;

-- The last three may open an edit.
CREATE FUNCTION versiongate_internal.role_names() RETURNS name[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{versiongate_server,versiongate_viewer,versiongate_brake,versiongate_planner,versiongate_admin}'::name[];

-- Who could act as the owner by what he creates, or has created, in the two schemas.
CREATE FUNCTION versiongate_internal.creation_faults(schema_owner oid)
    RETURNS TABLE (fault text, remedy text, is_dangerous boolean, stops_servers boolean)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    owner_name CONSTANT text := schema_owner::regrole;
    schemas CONSTANT name[] := '{public,versiongate_internal}';
    names CONSTANT name[] := role_names();
BEGIN
    RETURN QUERY
    WITH open AS (
        SELECT n.nspname AS name
          FROM pg_namespace AS n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS granted
         WHERE n.nspname = ANY (schemas) AND granted.grantee = 0 AND granted.privilege_type = 'CREATE'
    )
    SELECT format('everybody may create objects in schema %s, and so act as %s', open.name, owner_name),
           format(
               'Let a superuser run: ALTER SCHEMA %1$s OWNER TO %2$s; REVOKE CREATE ON SCHEMA %1$s FROM PUBLIC;',
               open.name, owner_name
           ),
           true, false
      FROM open
     UNION ALL
    SELECT format(
               'the role %I may create objects in schema %s, and so act as %s',
               r.rolname, string_agg(s.name, ', '), owner_name
           ),
           CASE
               WHEN r.rolsuper THEN format('Let a superuser run: ALTER ROLE %I NOSUPERUSER;', r.rolname)
               ELSE format(
                   'Run: REVOKE CREATE ON SCHEMA %2$s FROM %1$I; and if that does not help, take it out of the roles'
                   ' that may: SELECT roleid::regrole FROM pg_auth_members WHERE member = %1$L::regrole;',
                   r.rolname, string_agg(s.name, ', ')
               )
           END,
           true, false
      FROM pg_roles AS r, unnest(schemas) AS s(name)
     WHERE r.rolname = ANY (names)
       AND has_schema_privilege(r.oid, s.name, 'CREATE')
       AND (r.rolsuper OR s.name NOT IN (SELECT open.name FROM open))
     GROUP BY r.rolname, r.rolsuper;

    -- Roles that may act as the owner anyway gain nothing by an object of theirs.
    RETURN QUERY
    SELECT format('%s belongs to %s, who could act as %s by it', o.name, o.holder::regrole, owner_name),
           format('Look at it, and let its owner or a superuser run: DROP %s;', o.name),
           true, false
      FROM (
          SELECT format('FUNCTION %s.%s', p.pronamespace::regnamespace, local.name) AS name, p.proowner AS holder,
                 p.pronamespace AS namespace
            FROM pg_proc AS p
           CROSS JOIN LATERAL regexp_replace(p.oid::regprocedure::text, '^versiongate_internal[.]', '') AS local(name)
           UNION ALL
          SELECT format('OPERATOR %s.%s', o.oprnamespace::regnamespace, local.name), o.oprowner, o.oprnamespace
            FROM pg_operator AS o
           CROSS JOIN LATERAL regexp_replace(o.oid::regoperator::text, '^versiongate_internal[.]', '') AS local(name)
           UNION ALL
          SELECT format('TYPE %s.%I', t.typnamespace::regnamespace, t.typname), t.typowner, t.typnamespace
            FROM pg_type AS t
           WHERE t.typrelid = 0 AND t.typelem = 0
      ) AS o
      JOIN pg_roles AS r ON r.oid = o.holder
     WHERE o.namespace::regnamespace::text = ANY (schemas)
       AND NOT r.rolsuper AND NOT pg_has_role(o.holder, schema_owner, 'MEMBER')
     ORDER BY o.name;
END
$$;

-- What roles may do without need, and what they lack that edits should not be blocked.
CREATE FUNCTION versiongate_internal.privilege_faults(schema_owner oid)
    RETURNS TABLE (fault text, remedy text, is_dangerous boolean, stops_servers boolean)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    names CONSTANT name[] := role_names();
    large_objects CONSTANT text := 'lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea)';
BEGIN
    RETURN QUERY
    SELECT format('the role %I may make large objects, which pg_dump run by the owner then fails on', r.rolname),
           format('Let a superuser run: REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC;', large_objects)
           || ' Until then, back up by pg_dump --no-blobs.',
           false, false
      FROM pg_roles AS r
     WHERE r.rolname = names[1] AND has_function_privilege(r.oid, 'pg_catalog.lo_create(oid)', 'EXECUTE');

    RETURN QUERY
    SELECT format('the role %I may make temporary tables, which it does not need', r.rolname),
           format(
               'Let the owner of the database run: REVOKE TEMPORARY ON DATABASE %1$I FROM PUBLIC;'
               ' GRANT TEMPORARY ON DATABASE %1$I TO %2$I;',
               current_database(), names[5]
           ),
           false, false
      FROM pg_roles AS r
     WHERE r.rolname = names[1] AND has_database_privilege(r.oid, current_database(), 'TEMPORARY');

    RETURN QUERY
    SELECT format('admins cannot end the open edits of others: %s may not end their sessions', schema_owner::regrole),
           format('Let a superuser run: GRANT pg_signal_backend TO %s;', schema_owner::regrole),
           false, false
     WHERE NOT pg_has_role(schema_owner, 'pg_signal_backend', 'USAGE');

    RETURN QUERY
    SELECT format('a transaction that the role %I leaves open can block all edits for ever', r.rolname),
           format('Run: ALTER ROLE %I SET idle_in_transaction_session_timeout = ''5min'';', r.rolname),
           false, false
      FROM pg_roles AS r
     WHERE (
               r.rolname = ANY (names)
               -- A role does not inherit the settings of those that it is a member of.
               OR r.rolcanlogin AND NOT r.rolsuper AND r.oid <> schema_owner AND EXISTS (
                   SELECT FROM pg_roles AS editor
                    WHERE editor.rolname = ANY (names[3:]) AND pg_has_role(r.oid, editor.oid, 'MEMBER')
               )
           )
       AND NOT EXISTS (
           SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting
            WHERE s.setrole IN (r.oid, 0)
              AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
              AND setting LIKE 'idle_in_transaction_session_timeout=%'
       )
     ORDER BY r.rolname;
END
$$;

CREATE FUNCTION schema_faults() RETURNS TABLE (fault text, remedy text, is_dangerous boolean, stops_servers boolean)
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    schema_owner CONSTANT oid := (
        SELECT p.proowner FROM pg_proc AS p WHERE p.oid = 'public.schema_faults()'::regprocedure
    );
BEGIN
    RETURN QUERY SELECT * FROM creation_faults(schema_owner);
    RETURN QUERY SELECT * FROM privilege_faults(schema_owner);
    RETURN QUERY
    SELECT format('the role %I may not read %s, so servers load no policy', r.rolname, string_agg(t.name, ', ')),
           format('Let the owner of the tables run: GRANT SELECT ON %s TO %I;', string_agg(t.name, ', '), r.rolname),
           false, true
      FROM pg_roles AS r,
           unnest(
               '{apps,store_links,feed_templates,releases,release_notes,rules,rule_texts,rollout_steps,policy_revision,'
               'versiongate_internal.schema_reader}'::text[]
           ) AS t(name)
     WHERE r.rolname = 'versiongate_server'
       AND to_regclass(t.name) IS NOT NULL
       AND NOT has_table_privilege(r.oid, to_regclass(t.name), 'SELECT')
     GROUP BY r.rolname;

    -- What a subscription writes fires no trigger: nothing judges, records or announces it.
    RETURN QUERY
    SELECT format(
               'the subscription %I writes the policy of this database (logical replication), so servers here may keep'
               ' an old one',
               s.subname
           ),
           'Let servers and commands use the publisher or a streaming standby of it; a copy to go on with is made by'
           ' pg_dump.',
           false, true
      FROM pg_subscription AS s
     WHERE EXISTS (
               SELECT FROM pg_subscription_rel AS r
                 JOIN pg_trigger AS t ON t.tgrelid = r.srrelid AND t.tgname = 'await_commit'
                WHERE r.srsubid = s.oid
           )
     ORDER BY s.subname;
END
$$;
COMMENT ON FUNCTION schema_faults() IS
    'What is wrong with the rights and the replication of this database, and what to do; dangerous: somebody can act as'
    ' its owner.';

DO $$
DECLARE
    found record;
BEGIN
    SELECT string_agg(f.fault, '; ') AS faults, string_agg(f.remedy, E'\n') AS remedies INTO found
      FROM schema_faults() AS f
     WHERE f.is_dangerous;
    IF found.faults IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = found.faults, HINT = found.remedies;
    END IF;
END
$$;
