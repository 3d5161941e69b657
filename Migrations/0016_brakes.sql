-- Less at once: ramps that are held, what a role may do that can only take messages and lockouts away, and how an admin
-- ends what keeps others from it.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE FUNCTION versiongate_internal.known_rule(key text) RETURNS rules
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    rule rules;
    refused boolean;
BEGIN
    SELECT r.* INTO rule FROM rules AS r WHERE r.key = known_rule.key;
    IF NOT FOUND THEN
        refused := refuse_reference(
            'rules.key', 'rule', quoted(known_rule.key),
            'The rules are listed by: SELECT key FROM rules;', 'The rules: `rule list`'
        );
    END IF;
    RETURN rule;
END
$$;

CREATE FUNCTION hold_rule(key text, at timestamptz DEFAULT now()) RETURNS timestamptz
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    held_at timestamptz := (known_rule(key)).held_at;
    refused boolean;
BEGIN
    IF held_at <= hold_rule.at THEN
        RETURN held_at;
    ELSIF NOT EXISTS (SELECT FROM rollout_steps AS s WHERE s.rule = hold_rule.key AND s.at > hold_rule.at) THEN
        refused := refuse(
            'rules.held_at',
            format('%s has no upcoming step to hold', quoted(hold_rule.key)),
            'To reach fewer installs, set rollout; to reach nobody, set enabled to false.',
            NULL, 'rules_held_at_guard', jsonb_build_object('key', hold_rule.key),
            command => 'To reach fewer installs: `rule rollout {key} PERCENT`; to reach nobody: `rule disable {key}`'
        );
    END IF;
    UPDATE rules AS r SET held_at = least(r.held_at, hold_rule.at) WHERE r.key = hold_rule.key
    RETURNING r.held_at INTO held_at;
    RETURN held_at;
END
$$;
COMMENT ON FUNCTION hold_rule(text, timestamptz) IS
    'Holds the rollout steps of a rule: none after this time begins. Returns since when they are held; an earlier hold stays.'
    ' resume_rule ends it.';
REVOKE ALL ON FUNCTION hold_rule(text, timestamptz) FROM PUBLIC;

CREATE FUNCTION resume_rule(key text, at timestamptz DEFAULT now()) RETURNS SETOF rollout_steps
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    held_at timestamptz := (known_rule(key)).held_at;
BEGIN
    -- What is not held is not locked either. With the lock, the hold may be another one than a moment ago.
    IF held_at IS NOT NULL THEN
        SELECT r.held_at INTO held_at FROM rules AS r WHERE r.key = resume_rule.key FOR NO KEY UPDATE;
        UPDATE rules AS r SET held_at = NULL WHERE r.key = resume_rule.key AND r.held_at IS NOT NULL;
    END IF;
    IF held_at < resume_rule.at THEN
        PERFORM FROM rollout_steps AS s WHERE s.rule = resume_rule.key AND s.at > held_at ORDER BY s.at FOR UPDATE;
        UPDATE rollout_steps AS s
           SET at = time_after(s.at, resume_rule.at - held_at)
         WHERE s.rule = resume_rule.key AND s.at > held_at;
    END IF;
    RETURN QUERY SELECT s.* FROM rollout_steps AS s WHERE s.rule = resume_rule.key AND s.at > resume_rule.at ORDER BY s.at;
END
$$;
COMMENT ON FUNCTION resume_rule(text, timestamptz) IS
    'Ends the hold of a rule: the steps that are left are moved by as long as it was held, so none is left out. Returns the'
    ' steps to come.';
REVOKE ALL ON FUNCTION resume_rule(text, timestamptz) FROM PUBLIC;

-- The role versiongate_brake.
--
-- Whatever it calls, in whatever order, no client gets a message or a lockout at any time that it would not have got
-- without the call. A message that is not sent is one less, unless it is final: then rules after it are sent in its place.

-- At the commit, as another may enable such a rule at the same time.
CREATE FUNCTION versiongate_internal.guard_brake(edits row_edit[], OUT fault refusal)
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF NOT may_only('brake') THEN
        RETURN;
    END IF;
    SELECT INTO fault
           'rules.final', quoted(rule.key) || ' is final, so what comes after it would be sent in its place',
           'Turn its lockout into a message, pause the app, or let an admin do this.',
           'After it: ' || name_list(array_agg(r.key::text ORDER BY r."position", r.key)) || '.',
           'rules_brake_guard', jsonb_build_object('key', rule.key), NULL, NULL
      FROM unnest(edits) AS edited
     CROSS JOIN LATERAL jsonb_populate_record(NULL::rules, edited.before) AS rule
      JOIN rules AS r
        ON (r."position", r.key) > (rule."position", rule.key)
       AND (r.bundle = rule.bundle OR r.bundle IS NULL OR rule.bundle IS NULL)
     WHERE edited.table_name = 'rules'
       AND (edited.after -> 'enabled', edited.after -> 'held_at')
           IS DISTINCT FROM (edited.before -> 'enabled', edited.before -> 'held_at')
       AND rule.enabled AND rule.final AND (rule.ends_at IS NULL OR rule.ends_at > now())
       AND r.enabled AND (r.ends_at IS NULL OR r.ends_at > now())
       AND (r.rollout > 0 OR EXISTS (SELECT FROM rollout_steps AS s WHERE s.rule = r.key AND s.rollout > 0))
     GROUP BY rule.key
     ORDER BY rule.key
     LIMIT 1;
END
$$;

-- Has the history name the tool brake where the login can do nothing else, and why it was used.
CREATE FUNCTION versiongate_internal.note_brake(why text) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    -- Others may edit what they like in the same transaction.
    IF may_only('brake') THEN
        PERFORM set_config('application_name', 'brake', true);
    END IF;
    IF why IS NOT NULL THEN
        PERFORM set_config('versiongate.why', why, true);
    END IF;
END
$$;

CREATE FUNCTION brake_rule(key text, what text, why text DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    name CONSTANT text := 'rule ' || quoted(brake_rule.key);
    rule rules;
    already text;
BEGIN
    IF brake_rule.what IS NULL OR brake_rule.what <> ALL ('{hold,lockout,disable}') THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('a brake cannot %s a rule', quoted(brake_rule.what)),
            HINT = 'Write hold (its rollout goes no further), lockout (it becomes a message) or disable.';
    END IF;
    -- Not locked: a call that changes nothing must not keep others from editing.
    rule := known_rule(brake_rule.key);
    already := CASE brake_rule.what
        WHEN 'lockout' THEN CASE WHEN NOT rule.lockout THEN 'a message' END
        WHEN 'disable' THEN CASE WHEN NOT rule.enabled THEN 'disabled' END
        ELSE CASE WHEN rule.held_at <= now() THEN 'held, since ' || time_text(rule.held_at) END
    END;
    IF already IS NOT NULL THEN
        RETURN name || ' is already ' || already;
    END IF;
    PERFORM note_brake(brake_rule.why);
    IF brake_rule.what = 'lockout' THEN
        UPDATE rules AS r SET lockout = false, lockout_without_update = false WHERE r.key = rule.key;
        RETURN name || ' is a message now, and locks nobody out';
    ELSIF brake_rule.what = 'disable' THEN
        UPDATE rules AS r SET enabled = false WHERE r.key = rule.key;
        RETURN name || ' is disabled now, and reaches nobody';
    END IF;
    PERFORM hold_rule(rule.key);
    RETURN format('%s is held now, at %s %%', name, trim_scale(rollout_at(rule.key, now())));
END
$$;
COMMENT ON FUNCTION brake_rule(text, text, text) IS
    'Lessens what a rule does, and says what it did. what: hold (its rollout goes no further), lockout (it becomes a'
    ' message) or disable. why goes into the history. For members of versiongate_brake; an admin takes it back.';
REVOKE ALL ON FUNCTION brake_rule(text, text, text) FROM PUBLIC;

CREATE FUNCTION brake_app(bundle text, why text DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    app apps;
    refused boolean;
BEGIN
    SELECT a.* INTO app FROM apps AS a WHERE lower(a.bundle) = lower(brake_app.bundle COLLATE "C");
    IF NOT FOUND THEN
        refused := refuse_reference(
            'apps.bundle', 'app', quoted(brake_app.bundle),
            'The apps are listed by: SELECT bundle FROM apps;', 'The apps: `app list`'
        );
    END IF;
    IF app.paused THEN
        RETURN format('app %s is already paused', quoted(app.bundle));
    END IF;
    PERFORM note_brake(brake_app.why);
    UPDATE apps AS a SET paused = true WHERE a.bundle = app.bundle;
    RETURN format('app %s is paused now, and gets no messages', quoted(app.bundle));
END
$$;
COMMENT ON FUNCTION brake_app(text, text) IS
    'Pauses an app, and says so: no message is sent to it. why goes into the history. For members of versiongate_brake; an'
    ' admin takes it back.';
REVOKE ALL ON FUNCTION brake_app(text, text) FROM PUBLIC;

CREATE FUNCTION end_open_edits() RETURNS TABLE (process integer, login text, since timestamptz, outcome text)
    LANGUAGE sql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT s.pid, found.login, coalesce(s.xact_start, p.prepared),
           CASE
               -- To end it would show the edit before a standby has it.
               WHEN s.wait_event = 'SyncRep' THEN 'not ended; it is committed, and waits for a standby to have it'
               WHEN p.gid IS NOT NULL
                   THEN format('not ended; let %I or a superuser run: ROLLBACK PREPARED %L', found.login, p.gid)
               WHEN pg_has_role(s.usesysid, current_user, 'MEMBER')
                   THEN format('not ended; let %I or a superuser run: SELECT pg_terminate_backend(%s)', found.login, s.pid)
               WHEN NOT pg_has_role('pg_signal_backend', 'USAGE')
                   THEN format('not ended; let a superuser run: GRANT pg_signal_backend TO %I', current_user)
               WHEN pg_terminate_backend(s.pid, 5000) THEN 'ended'
               ELSE 'told to end'
           END
      FROM (
          SELECT DISTINCT l.pid, x.transactionid AS xid
            FROM pg_locks AS l
            LEFT JOIN pg_locks AS x
              ON l.pid IS NULL AND x.virtualtransaction = l.virtualtransaction AND x.locktype = 'transactionid'
           WHERE l.locktype = 'relation' AND l.mode <> 'AccessShareLock' AND l.pid IS DISTINCT FROM pg_backend_pid()
             AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
             AND l.relation::regclass IN (
                 SELECT t.name::regclass FROM policy_tables() AS t UNION ALL SELECT 'policy_revision'
             )
      ) AS held
      LEFT JOIN pg_stat_activity AS s ON s.pid = held.pid
      LEFT JOIN pg_prepared_xacts AS p ON p.transaction = held.xid
      -- A role may have been removed since it logged in.
     CROSS JOIN LATERAL (SELECT coalesce(s.usename, p.owner, s.usesysid::text)) AS found(login)
     WHERE found.login IS NOT NULL
     ORDER BY s.pid, p.gid
$$;
COMMENT ON FUNCTION end_open_edits() IS
    'Ends the sessions that have edited the policy or locked rows of it and have not committed, and those that wait for'
    ' them. Says of each who it was; the owner''s and superusers'' stay.';
REVOKE ALL ON FUNCTION end_open_edits() FROM PUBLIC;
