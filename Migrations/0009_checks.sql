-- What a check answers, and why: the meaning of the policy, as functions that can be asked in any query, also about
-- edits that are not committed. The engine of the server is held to them.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- Reading a range takes many times as long as asking it, so what the ranges mean is kept beside the rules. This is a
-- memory and nothing more: a rule that is not in it is read anew.
-- What the ranges of the rules mean, kept by a trigger on rules so that checks need not read them.
CREATE TABLE versiongate_internal.rule_spans (
    rule text COLLATE "C" PRIMARY KEY REFERENCES rules ON UPDATE CASCADE ON DELETE CASCADE,
    versions version_spans,
    builds version_spans,
    os version_spans
);

CREATE FUNCTION versiongate_internal.keep_rule_spans() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF TG_RELID <> 'public.rules'::regclass THEN
        RAISE insufficient_privilege USING MESSAGE = format('table %s is not the table rules', TG_RELID::regclass);
    END IF;
    INSERT INTO rule_spans (rule, versions, builds, os)
    VALUES (
        NEW.key,
        (read_version_range(NEW.versions)).spans,
        (read_version_range(NEW.builds)).spans,
        (read_version_range(NEW.os)).spans
    )
        ON CONFLICT (rule) DO UPDATE SET versions = excluded.versions, builds = excluded.builds, os = excluded.os;
    RETURN NULL;
END
$$;

CREATE TRIGGER keep_rule_spans AFTER INSERT OR UPDATE OF versions, builds, os ON rules
    FOR EACH ROW EXECUTE FUNCTION keep_rule_spans();

-- A client as the policy sees it: what it wrote, and behind it how that is read. app: the bundle as apps spells it,
-- null: no such app; app_name: what fills {app}; install: null if it cannot be used for a bucket; attributes: all other
-- members, as texts. Null: not sent, or it cannot be read.
CREATE TYPE versiongate_internal.checking_client AS (
    bundle text, app text, app_name text, paused boolean, version text, version_key bytea, build text, build_key bytea,
    os text, os_key bytea, platform text, platform_name text, region text, country text, language text, language_tag text,
    install text, manual boolean, attributes jsonb
);

-- Reads a client as a check does. invalid_parameter_value where a check would be answered with 400. jsonb keeps the
-- value of a number, not how it was written: 1e0 is 1 here, and not sent in a check. Write such a value as a string.
CREATE FUNCTION versiongate_internal.read_client(client jsonb) RETURNS checking_client
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    known CONSTANT text[] := '{bundle,version,build,platform,region,os,language,install,manual}';
    numeric_too CONSTANT text[] := '{version,build,os}';
    tags CONSTANT text[] := '{language,region,platform}';
    member record;
    written text;
    attribute_count integer;
    sent jsonb := '{}';
    me checking_client;
BEGIN
    IF jsonb_typeof(client) IS DISTINCT FROM 'object' THEN
        RAISE invalid_parameter_value USING
            MESSAGE = 'the client is not an object',
            HINT = 'Write it like the body of a check: {"bundle": "com.example.app", "version": "1.1"}';
    END IF;
    FOR member IN SELECT m.name, m.value, jsonb_typeof(m.value) AS type FROM jsonb_each(client) AS m(name, value) LOOP
        IF member.name = ANY (known)
            AND member.value <> '""'
            AND member.type NOT IN (CASE member.name WHEN 'manual' THEN 'boolean' ELSE 'string' END, 'null')
            AND NOT (member.type = 'number' AND member.name = ANY (numeric_too)) THEN
            RAISE invalid_parameter_value USING
                MESSAGE = format('the client''s member "%s" is of the type %s', member.name, member.type),
                HINT = CASE
                    WHEN member.name = ANY (numeric_too) THEN 'Write a string or a number.'
                    WHEN member.name = 'manual' THEN 'Write true or false.'
                    ELSE 'Write a string.'
                END;
        END IF;
        written := member.value #>> '{}';
        -- What is empty or too long counts as not sent, and so does a number with a sign. jsonb has already worked out
        -- exponents.
        CONTINUE WHEN member.type NOT IN ('string', 'number', 'boolean') OR written = '';
        CONTINUE WHEN member.name = ANY (numeric_too) AND member.type = 'number' AND written LIKE '-%';
        CONTINUE WHEN member.name = ANY (tags) AND octet_length(written) > 64;
        CONTINUE WHEN member.name <> ALL (known) AND (octet_length(member.name) > 128 OR octet_length(written) > 1024);
        sent := sent || jsonb_build_object(member.name, written);
    END LOOP;
    IF sent -> 'bundle' IS NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = 'the client has no bundle',
            HINT = 'Say which app it is: {"bundle": "com.example.app"}';
    ELSIF octet_length(sent ->> 'bundle') > 255 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('the client''s member "bundle" has %s bytes', octet_length(sent ->> 'bundle')),
            HINT = 'A bundle has at most 255 bytes.';
    END IF;
    attribute_count := (SELECT count(*) FROM jsonb_object_keys(sent - known));
    IF attribute_count > 64 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('the client has %s attributes', attribute_count),
            HINT = 'A check may have 64.';
    END IF;

    me := jsonb_populate_record(me, sent - ARRAY(SELECT jsonb_object_keys(sent - known)));
    SELECT a.bundle, a.name, a.paused INTO me.app, me.app_name, me.paused
      FROM apps AS a
     WHERE lower(a.bundle) = lower(me.bundle COLLATE "C");
    me.app_name := coalesce(me.app_name, me.app, me.bundle);
    me.paused := coalesce(me.paused, false);
    me.version_key := version_key(me.version);
    me.build_key := version_key(me.build);
    me.os_key := version_key(me.os);
    me.platform_name := platform_name(me.platform);
    me.country := country_of_region(me.region);
    me.language_tag := language_tag(me.language);
    IF octet_length(me.install) > 128 OR me.install = '00000000-0000-0000-0000-000000000000' THEN
        me.install := NULL;
    END IF;
    me.attributes := sent - known;
    RETURN me;
END
$$;

-- A version of a client as explanations show it, with a remark where it has no key; null if it was not sent.
CREATE FUNCTION versiongate_internal.version_shown(version text, key bytea) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN key IS NULL THEN version || ' (cannot be read as a version)' ELSE version END;

-- The system of a client as explanations show it that no system of its platform ever was; else null.
CREATE FUNCTION versiongate_internal.no_system(me checking_client) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN NOT is_system(me.platform_name, me.os_key) THEN format('%s (no version of %s)', me.os, me.platform_name)
END;

CREATE FUNCTION rollout_at(rule text, at timestamptz) RETURNS numeric
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT coalesce(
                   (
                       SELECT s.rollout
                         FROM rollout_steps AS s
                        WHERE s.rule = r.key AND s.at <= least(rollout_at.at, r.held_at)
                        ORDER BY s.at DESC
                        LIMIT 1
                   ),
                   r.rollout
               )
          FROM rules AS r
         WHERE r.key = rollout_at.rule
    );
END
$$;
COMMENT ON FUNCTION rollout_at(text, timestamptz) IS
    'The percentage of a rule in force at a time: that of its latest step that is not held, else its rollout; null if there'
    ' is no such rule.';

-- Whether a rule would match a client that has this release; a build that is not recorded counts as matching.
CREATE FUNCTION versiongate_internal.rule_matches_release(
    versions version_spans, builds version_spans, target bytea, release_version bytea, release_build bytea
) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (versions IS NULL OR versions @> release_version)
    AND (builds IS NULL OR release_build IS NULL OR builds @> release_build)
    AND (target IS NULL OR release_version < target);

-- Whether a release is above a client: by its numbers, pre-releases not counted, or by its build where the versions are
-- equal or the client's cannot be read.
-- By its numbers: an app that calls itself 1.2.0-play may be the very release 1.2.0, and updating would not help it.
CREATE FUNCTION versiongate_internal.release_is_above(
    client_version bytea, client_build bytea, release_version bytea, release_build bytea
) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN client_version IS NULL OR client_version = release_version THEN release_build > client_build
        ELSE client_version < version_family(release_version)
    END IS TRUE;
END
$$;

-- Why a client that a rule would lock out has no way out with this offer; null if it has one.
CREATE FUNCTION versiongate_internal.lockout_obstacle(
    me checking_client, versions version_spans,
    builds version_spans, target bytea, offer_version bytea, offer_build bytea
) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN offer_version IS NULL THEN 'no offer'
    WHEN NOT release_is_above(me.version_key, me.build_key, offer_version, offer_build)
        THEN 'the offer is not above the client'
    WHEN rule_matches_release(versions, builds, target, offer_version, offer_build) THEN 'the rule matches the offer'
    END;

-- The releases of the client's platform that are not withdrawn. in_region, on_os: null where a release asks for
-- something that cannot be judged of this client.
CREATE FUNCTION versiongate_internal.client_releases(me checking_client, moment timestamptz)
    RETURNS TABLE (
        id bigint, label text, version bytea, build bytea, min_os text, regions text[], live_at timestamptz, staged boolean,
        in_region boolean, on_os boolean
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    is_system CONSTANT boolean := is_system(me.platform_name, me.os_key);
    system CONSTANT bytea := CASE WHEN is_system THEN me.os_key END;
BEGIN
    RETURN QUERY
    SELECT r.id,
           r.version || coalesce(' (' || r.build || ')', ''),
           version_key(r.version),
           version_key(r.build),
           r.min_os::text, r.regions::text[], r.live_at, r.staged,
           r.regions IS NULL OR me.country = ANY (r.regions),
           r.min_os IS NULL OR system >= version_key(r.min_os)
      FROM releases AS r
     WHERE r.bundle = me.app
       AND r.platform = me.platform_name
       AND NOT is_withdrawn(r, moment);
END
$$;

-- What the client is offered for each soak: lenient where what cannot be judged does not hold against a release, strict
-- where it does.
-- Time subtracted from time is counted in days of 24 hours, whatever the session's time zone.
CREATE FUNCTION versiongate_internal.client_offers(me checking_client, moment timestamptz, soaks interval[])
    RETURNS TABLE (
        soak_time interval, lenient_label text, lenient_version bytea, strict_label text, strict_version bytea,
        strict_build bytea
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH store AS MATERIALIZED (
        SELECT s.*, row_number() OVER (ORDER BY s.version DESC, s.build DESC NULLS LAST, s.id) AS place
          FROM client_releases(me, moment) AS s
         WHERE NOT s.staged AND s.live_at <= moment
    )
    SELECT soak.time, lenient.label, lenient.version, strict.label, strict.version, strict.build
      FROM unnest(soaks) AS soak(time)
     CROSS JOIN LATERAL (
         SELECT min(s.place) FILTER (WHERE s.in_region IS NOT FALSE AND s.on_os IS NOT FALSE) AS lenient,
                min(s.place) FILTER (WHERE s.in_region AND s.on_os) AS strict
           FROM store AS s
          WHERE moment - s.live_at >= soak.time
     ) AS best
      LEFT JOIN store AS lenient ON lenient.place = best.lenient
      LEFT JOIN store AS strict ON strict.place = best.strict;
END
$$;

-- Whether a condition on an attribute is met by what the client sent for it; null: nothing.
CREATE FUNCTION versiongate_internal.accepts(accepted jsonb, sent text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN accepted -> 'range' IS NOT NULL THEN version_matches(sent, accepted ->> 'range')
    ELSE coalesce(listed_texts(accepted) ? sent, false) = (jsonb_typeof(accepted) = 'array')
END IS TRUE;

-- A condition on an attribute in words, without its name.
CREATE FUNCTION versiongate_internal.accepted_words(accepted jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(
    accepted ->> 'range',
    CASE jsonb_typeof(accepted) WHEN 'object' THEN 'not ' ELSE '' END
        || array_to_string(ARRAY(SELECT jsonb_array_elements_text(listed_texts(accepted))), ', ')
);

-- A rule beside a client: what it is offered, the first attribute that it lacks, whether it is behind the rollout, and the
-- first condition that fails. Who asked for the check is sent what is behind the rollout.
CREATE TYPE versiongate_internal.judged_check AS (
    rule rules, version_spans version_spans, build_spans version_spans,
    target_key bytea, soak_time interval, rollout_now numeric, bucket integer, lenient_label text, strict_label text,
    strict_version bytea, strict_build bytea, missing_attribute text, missing_accepted jsonb, below_target boolean,
    behind_rollout boolean, failed text
);

CREATE FUNCTION versiongate_internal.judge_conditions(me checking_client, moment timestamptz) RETURNS SETOF judged_check
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT j.rule, (j.rule).*, j.versions AS version_spans, j.builds AS build_spans, j.os AS os_spans,
               j.target AS target_key, coalesce((j.rule).soak, '0') AS soak_time,
               rollout_at((j.rule).key, moment) AS rollout_now,
               rollout_bucket((j.rule).key, me.install) AS bucket
          FROM read_rules(
                   ARRAY(SELECT r FROM rules AS r WHERE r.bundle = me.app OR r.bundle IS NULL)
               ) AS j
    )
    SELECT a.rule, a.version_spans, a.build_spans, a.target_key, a.soak_time, a.rollout_now, a.bucket,
           o.lenient_label, o.strict_label, o.strict_version, o.strict_build, missing.name, missing.accepted,
           (me.version_key < a.target_key) IS TRUE,
           behind.rollout,
           CASE
               WHEN a.platforms IS NOT NULL AND (me.platform_name = ANY (a.platforms)) IS NOT TRUE THEN 'platforms'
               WHEN a.versions IS NOT NULL AND (a.version_spans @> me.version_key) IS NOT TRUE THEN 'versions'
               WHEN a.builds IS NOT NULL AND (a.build_spans @> me.build_key) IS NOT TRUE THEN 'builds'
               WHEN a.os IS NOT NULL AND (a.os_spans @> me.os_key) IS NOT TRUE THEN 'os'
               WHEN a.regions IS NOT NULL AND (me.country = ANY (a.regions)) IS NOT TRUE THEN 'regions'
               WHEN a.languages IS NOT NULL
                   AND language_matches(me.language_tag, a.languages) IS NOT TRUE
                   THEN 'languages'
               WHEN missing.name IS NOT NULL THEN 'attributes'
               WHEN a.target IS NOT NULL
                   AND (me.version_key < a.target_key AND a.target_key <= o.lenient_version) IS NOT TRUE
                   THEN 'target'
               WHEN moment < a.starts_at THEN 'starts_at'
               WHEN moment >= a.ends_at THEN 'ends_at'
               WHEN behind.rollout AND me.manual IS NOT TRUE THEN 'rollout'
               WHEN NOT a.enabled THEN 'enabled'
               WHEN me.paused THEN 'paused'
           END
      FROM asked AS a
     CROSS JOIN LATERAL (
         SELECT a.rollout_now < 100 AND (a.bucket < a.rollout_now * 100) IS NOT TRUE
     ) AS behind(rollout)
      LEFT JOIN client_offers(
               me, moment, ARRAY(SELECT DISTINCT a.soak_time FROM asked AS a WHERE a.target IS NOT NULL OR a.lockout)
           ) AS o ON o.soak_time = a.soak_time
      LEFT JOIN LATERAL (
          SELECT attribute.name, attribute.accepted
            FROM jsonb_each(a.attributes) AS attribute(name, accepted)
           WHERE NOT accepts(attribute.accepted, me.attributes ->> attribute.name)
           ORDER BY attribute.name COLLATE "C"
           LIMIT 1
      ) AS missing ON true;
END
$$;

-- What the condition that fails asks, and what the client has.
CREATE FUNCTION versiongate_internal.failed_condition(judged judged_check, me checking_client, moment timestamptz)
    RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    rule CONSTANT rules := judged.rule;
    version CONSTANT text := version_shown(me.version, me.version_key);
    attribute CONSTANT text := me.attributes ->> judged.missing_attribute;
BEGIN
    RETURN CASE coalesce(judged.failed, 'rollout')
        WHEN 'platforms' THEN ARRAY[array_to_string(rule.platforms, ', '), me.platform]
        WHEN 'versions' THEN ARRAY[rule.versions, version]
        WHEN 'builds' THEN ARRAY[rule.builds, version_shown(me.build, me.build_key)]
        WHEN 'os' THEN ARRAY[rule.os, coalesce(no_system(me), version_shown(me.os, me.os_key))]
        WHEN 'regions' THEN ARRAY[array_to_string(rule.regions, ', '), me.region]
        WHEN 'languages' THEN ARRAY[array_to_string(rule.languages, ', '), me.language]
        WHEN 'attributes' THEN ARRAY[
            accepted_words(judged.missing_accepted),
            CASE
                WHEN judged.missing_accepted -> 'range' IS NULL THEN attribute
                ELSE version_shown(attribute, version_key(attribute))
            END
        ]
        WHEN 'target' THEN CASE
            WHEN judged.below_target THEN ARRAY['>=' || rule.target, judged.lenient_label]
            ELSE ARRAY['<' || rule.target, version]
        END
        WHEN 'starts_at' THEN ARRAY['from ' || time_text(rule.starts_at), time_text(moment)]
        WHEN 'ends_at' THEN ARRAY['until ' || time_text(rule.ends_at), time_text(moment)]
        WHEN 'rollout' THEN ARRAY['bucket < ' || (judged.rollout_now * 100)::integer, judged.bucket::text]
        WHEN 'enabled' THEN ARRAY['true', 'false']
        WHEN 'paused' THEN ARRAY['false', 'true']
    END;
END
$$;

CREATE FUNCTION versiongate_internal.awaited_release(
    judged judged_check, me checking_client, moment timestamptz
) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF judged.failed <> 'target' OR NOT judged.below_target THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT s.label || ': ' || CASE
                   WHEN s.staged THEN 'staged'
                   WHEN s.live_at IS NULL THEN 'no live date'
                   WHEN s.live_at > moment THEN 'live from ' || time_text(s.live_at)
                   WHEN s.in_region IS FALSE THEN 'region ' || array_to_string(s.regions, ', ')
                   WHEN s.on_os IS FALSE THEN 'os ' || s.min_os
                   ELSE 'soaks until ' || time_text(time_after(s.live_at, judged.soak_time))
               END
          FROM client_releases(me, moment) AS s
         WHERE s.version >= judged.target_key
         ORDER BY s.version, s.build NULLS FIRST, s.id
         LIMIT 1
    );
END
$$;

-- A row for each rule of the client's app and for every app, in the order of the messages. The columns are those of
-- explain_check, and `lockout`: whether the message is sent as a lockout.
CREATE FUNCTION versiongate_internal.judge_rules(me checking_client, moment timestamptz)
    RETURNS TABLE (
        "position" integer, key text, outcome text, condition text, expected text, actual text, bucket integer,
        rollout numeric, release text, lockout boolean
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF NOT isfinite(moment) THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('a check cannot come at the time "%s"', moment),
            HINT = 'Name a time: now(), ''2026-03-01T12:00:00Z''.';
    END IF;
    RETURN QUERY
    WITH judged AS MATERIALIZED (
        SELECT j::judged_check AS item, (j.rule).*, j.version_spans, j.build_spans, j.target_key,
               j.rollout_now, j.bucket, j.lenient_label, j.strict_label, j.strict_version, j.strict_build,
               j.missing_attribute, j.behind_rollout, j.failed
          FROM judge_conditions(me, moment) AS j
    ),
    -- The first rule in order that ends the list, if its message is sent.
    last_sent AS MATERIALIZED (
        SELECT j."position", j.key
          FROM judged AS j
         WHERE j.failed IS NULL AND j.final AND NOT j.behind_rollout
         ORDER BY j."position", j.key
         LIMIT 1
    )
    SELECT j."position",
           j.key::text,
           CASE
               WHEN j.failed IS NOT NULL THEN 'no match'
               WHEN last_sent.key IS NOT NULL THEN 'after a final rule'
               WHEN dead_end.reason IS NOT NULL OR j.lockout AND j.behind_rollout THEN 'sent without lockout'
               ELSE 'sent'
           END,
           CASE
               WHEN j.failed = 'attributes' THEN 'attributes.' || j.missing_attribute
               WHEN j.failed IS NOT NULL THEN j.failed
               WHEN last_sent.key IS NOT NULL THEN 'final'
               WHEN j.behind_rollout THEN 'rollout'
               WHEN dead_end.reason IS NOT NULL THEN 'lockout'
           END,
           CASE
               WHEN j.failed IS NOT NULL THEN unmet.words[1]
               WHEN last_sent.key IS NULL THEN coalesce(unmet.words[1], CASE WHEN dead_end.reason IS NOT NULL THEN 'a way out' END)
           END,
           CASE
               WHEN j.failed IS NOT NULL THEN unmet.words[2]
               WHEN last_sent.key IS NULL AND j.behind_rollout THEN unmet.words[2]
               ELSE coalesce(last_sent.key, dead_end.reason)
           END,
           j.bucket,
           trim_scale(j.rollout_now),
           CASE
               WHEN j.failed IS NOT NULL THEN awaited_release(j.item, me, moment)
               WHEN last_sent.key IS NOT NULL THEN NULL
               WHEN j.lockout AND NOT j.lockout_without_update AND NOT j.behind_rollout THEN j.strict_label
               WHEN j.target IS NOT NULL THEN j.lenient_label
           END,
           j.lockout AND j.failed IS NULL AND last_sent.key IS NULL AND NOT j.behind_rollout AND dead_end.reason IS NULL
      FROM judged AS j
      LEFT JOIN LATERAL failed_condition(j.item, me, moment) AS unmet(words)
        ON j.failed IS NOT NULL OR j.behind_rollout
      LEFT JOIN last_sent ON (j."position", j.key) > (last_sent."position", last_sent.key)
      -- Why a lockout finds no way out for this client.
      LEFT JOIN LATERAL (
          SELECT lockout_obstacle(
                     me, j.version_spans, j.build_spans, j.target_key, j.strict_version, j.strict_build
                 ) || coalesce(
                     ', os ' || (
                         SELECT no_system(me)
                           FROM client_releases(me, moment) AS s
                          WHERE s.min_os IS NOT NULL
                          LIMIT 1
                     ),
                     ''
                 ) AS reason
           WHERE j.failed IS NULL AND j.lockout AND NOT j.lockout_without_update AND NOT j.behind_rollout
      ) AS dead_end ON true
     ORDER BY j."position", j.key;
END
$$;

CREATE FUNCTION explain_check(client jsonb, at timestamptz DEFAULT now())
    RETURNS TABLE (
        "position" integer, key text, outcome text, condition text, expected text, actual text, bucket integer,
        rollout numeric, release text
    )
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT j."position", j.key, j.outcome, j.condition, j.expected, j.actual, j.bucket, j.rollout, j.release
      FROM judge_rules(read_client(client), coalesce(at, now())) AS j
     ORDER BY j."position", j.key COLLATE "C"
$$;
COMMENT ON FUNCTION explain_check(jsonb, timestamptz) IS
    'What a check would come to, rule by rule, in order. outcome: sent, sent without lockout, no match, after a final'
    ' rule; condition, expected, actual: the first condition that fails, what it asks and what the client has; bucket,'
    ' rollout: where the installation stands and the percentage in force; release: the one offered, or awaited. Write'
    ' versions as strings: jsonb does not keep how a number was written (1e0).';

CREATE FUNCTION versiongate_internal.fill_placeholders(
    template text, app text, target text, ends_at timestamptz
) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
BEGIN
    -- What is filled in is not looked at again. A date has no braces, and texts have no control characters, so two stand in.
    template := replace(replace(template, '{app}', U&'\0001'), '{target}', U&'\0002');
    template := replace(template, '{date}', coalesce(to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '{date}'));
    RETURN replace(replace(template, U&'\0002', coalesce(target, '{target}')), U&'\0001', app);
END
$$;

CREATE FUNCTION messages_for(client jsonb, at timestamptz DEFAULT now())
    RETURNS TABLE (
        id text, title text, text text, link text, lockout boolean, until bigint, remind bigint, shows integer,
        skip boolean, target text
    )
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    me CONSTANT checking_client := read_client(client);
    tags CONSTANT text[] := coalesce(language_fallbacks(me.language_tag), '{}');
BEGIN
    RETURN QUERY
    SELECT r.key::text,
           fill_placeholders(coalesce(translation.title, r.title), me.app_name, r.target, r.ends_at),
           fill_placeholders(coalesce(translation.text, r.text), me.app_name, r.target, r.ends_at),
           CASE
               WHEN r.link = 'store' THEN (
                   SELECT s.link FROM store_links AS s WHERE s.bundle = me.app AND s.platform = me.platform_name
               )
               ELSE r.link
           END,
           j.lockout,
           CASE WHEN j.lockout THEN ceil(extract(epoch FROM r.ends_at))::bigint END,
           hints.remind, hints.shows,
           coalesce(hints.skippable, false),
           hints.target
      FROM judge_rules(me, coalesce(at, now())) AS j
      JOIN rules AS r ON r.key = j.key
      -- A message that is sent as a lockout has no hints.
      LEFT JOIN LATERAL (
          SELECT extract(epoch FROM r.remind)::bigint AS remind, r.shows, r.skippable, r.target::text AS target
           WHERE NOT j.lockout AND (r.remind IS NOT NULL OR r.shows IS NOT NULL OR r.skippable)
      ) AS hints ON true
      LEFT JOIN LATERAL (
          SELECT t.title, t.text
            FROM rule_texts AS t
           WHERE t.rule = r.key AND lower(t.language) = ANY (tags)
           ORDER BY array_position(tags, lower(t.language)::text)
           LIMIT 1
      ) AS translation ON true
     WHERE j.outcome IN ('sent', 'sent without lockout')
     ORDER BY r."position", r.key;
END
$$;
COMMENT ON FUNCTION messages_for(jsonb, timestamptz) IS
    'The messages that a check would be answered with, in order:'
    ' messages_for(''{"bundle": "com.example.app", "version": "1.1", "platform": "ios"}''). until is when a'
    ' lockout ends, in seconds since 1970. remind (seconds), shows, skip and target say how often it is to be shown. Write versions as strings: jsonb does not keep how a number was written'
    ' (1e0).';
