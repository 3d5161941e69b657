-- Releases from a pipeline: tokens that may record the releases of one app, and the one function that takes them.
--
-- Tokens are no part of the policy: no revision, file or history has them. Of a token the database keeps its SHA-256
-- alone, which only the owner reads.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE TABLE release_tokens (
    name text COLLATE "C" PRIMARY KEY CHECK (check_key(name, 'release_tokens.name')),
    hash bytea NOT NULL UNIQUE CHECK (
        octet_length(hash) = 32
        OR refuse(
            'release_tokens.hash', format('%s bytes are no SHA-256', octet_length(hash)),
            'Write sha256(''vgr_...''), with the token in its place.'
        )
    ),
    bundle text COLLATE "C" NOT NULL REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    platforms text[] COLLATE "C" CHECK (check_list(platforms, 'release_tokens.platforms')),
    made_by text NOT NULL DEFAULT session_user,
    made_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE release_tokens IS
    'The tokens with which pipelines may record releases. Deleting one ends it; deleting an app deletes its tokens.';
COMMENT ON COLUMN release_tokens.name IS 'Name of the token, which the history gives as the login of its edits. Written like a key.';
COMMENT ON COLUMN release_tokens.hash IS 'SHA-256 of the token.';
COMMENT ON COLUMN release_tokens.bundle IS 'The app, stored as apps spells it.';
COMMENT ON COLUMN release_tokens.platforms IS 'The platforms that it is for: {ios,android}. Null: all.';
COMMENT ON COLUMN release_tokens.made_by IS 'Database role that made it.';
COMMENT ON COLUMN release_tokens.made_at IS 'When it was made.';

-- No name of a login, as the history would not tell them apart.
CREATE FUNCTION versiongate_internal.normalise_token() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    refused boolean;
BEGIN
    refused := TG_OP = 'INSERT' AND to_regrole(quote_ident(NEW.name)) IS NOT NULL AND refuse(
        'release_tokens.name', quoted(NEW.name) || ' is the name of a login',
        'Choose another name, so that the history tells who it was.'
    );
    NEW.bundle := stored_bundle(NEW.bundle, 'release_tokens.bundle');
    NEW.platforms := stored_list(NEW.platforms, 'platforms');
    RETURN NEW;
END
$$;

CREATE TRIGGER release_tokens_normalise BEFORE INSERT OR UPDATE ON release_tokens
    FOR EACH ROW EXECUTE FUNCTION normalise_token();

-- The row that is a release already, and how it differs in what is given (not null): the one that differs least. A row of
-- another build, or for other regions alone, is another release. rows: how many differ as little.
CREATE FUNCTION versiongate_internal.present_release(given releases)
    RETURNS TABLE (release releases, differences jsonb, rows bigint)
    LANGUAGE sql STABLE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT r, coalesce(jsonb_agg(
               jsonb_build_object('name', d.name, 'before', d.before, 'after', d.after) ORDER BY d.place
           ) FILTER (WHERE d.name IS NOT NULL), '[]'),
           count(*) OVER (PARTITION BY count(d.name))
      FROM releases AS r
      LEFT JOIN LATERAL (
          VALUES (1, 'build', r.build, given.build, version_key(r.build) = version_key(given.build)),
                 (2, 'min_os', r.min_os, given.min_os, version_key(r.min_os) = version_key(given.min_os)),
                 (3, 'regions', array_to_string(r.regions, ', '), array_to_string(given.regions, ', '),
                  r.regions @> given.regions AND r.regions <@ given.regions),
                 (4, 'live_at', to_jsonb(r) ->> 'live_at', to_jsonb(given) ->> 'live_at', r.live_at = given.live_at),
                 (5, 'staged', r.staged::text, given.staged::text, r.staged = given.staged),
                 (6, 'note', r.note, given.note, r.note = given.note)
      ) AS d(place, name, before, after, is_like) ON d.after IS NOT NULL AND d.is_like IS NOT TRUE
     WHERE lower(r.bundle) = lower(given.bundle COLLATE "C")
       AND r.platform = platform_name(given.platform)
       AND version_key(r.version) = version_key(given.version)
       AND coalesce(version_key(r.build) = version_key(given.build), true)
       AND coalesce(r.regions && given.regions, true)
     GROUP BY r.id
     ORDER BY count(d.name), r.id
     LIMIT 1
$$;

-- A release as a token may send it: what its members are. Refuses what is none.
CREATE FUNCTION versiongate_internal.read_release(sent jsonb) RETURNS releases
    LANGUAGE plpgsql STABLE SET search_path = versiongate_internal, public, pg_temp SET DateStyle = 'ISO, YMD'
AS $$
DECLARE
    members CONSTANT json := '{
        "bundle": "string", "version": "string or number", "platform": "string", "build": "string or number",
        "min_os": "string or number", "regions": "array", "live_at": "string", "staged": "boolean", "withdrawn": "boolean",
        "note": "string", "why": "string"
    }';
    wrong record;
BEGIN
    SELECT m.key AS name, jsonb_typeof(m.value) AS type, members ->> m.key AS wanted INTO wrong
      FROM jsonb_each(sent) AS m
     WHERE jsonb_typeof(m.value) <> ALL (string_to_array(coalesce(members ->> m.key, ''), ' or '))
     ORDER BY m.key
     LIMIT 1;
    IF FOUND THEN
        RAISE invalid_parameter_value USING
            MESSAGE = coalesce(
                wrong.name || ' has to be of the type ' || wrong.wanted || ', not ' || wrong.type,
                quoted(wrong.name) || ' is no member of a release'
            ),
            HINT = 'The members: ' || (
                SELECT string_agg(format('%s (%s)', m.key, m.value), ', ') FROM json_each_text(members) AS m
            ) || '.';
    ELSIF (sent ->> 'live_at' ~* '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9]{2}:?[0-9]{2})$') IS NOT false THEN
        BEGIN
            RETURN jsonb_populate_record(NULL::releases, sent);
        EXCEPTION
            WHEN datetime_field_overflow OR invalid_datetime_format THEN
                NULL;
        END;
    END IF;
    RAISE invalid_datetime_format USING
        MESSAGE = format('live_at is %s, which is no time with an offset', quoted(sent ->> 'live_at')),
        HINT = 'Write it like 2026-12-01T09:00:00Z. Without it a new release is live from now on.';
END
$$;

CREATE FUNCTION record_release(hash bytea, release jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
    SET TimeZone = 'UTC' SET IntervalStyle = 'postgres'
AS $$
DECLARE
    sent CONSTANT jsonb := jsonb_strip_nulls(release);
    token release_tokens;
    given releases;
    present record;
    recorded releases;
    name text;
    conflicts text;
    withdraws boolean := coalesce(sent -> 'withdrawn' = 'true', false);
    outcome text := 'unchanged';
BEGIN
    SELECT t.* INTO token
      FROM release_tokens AS t
     WHERE t.hash = record_release.hash
       AND lower(t.bundle) = lower((sent ->> 'bundle') COLLATE "C")
       AND (t.platforms IS NULL OR platform_name(sent ->> 'platform') = ANY (t.platforms));
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF open_revision() IS NOT NULL OR (open_edit()).xid IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'a release cannot be recorded in a transaction that has already edited',
            DETAIL = 'The history says of the edit which token made it, so it is all that its transaction does.',
            HINT = 'COMMIT, then record the release.';
    END IF;
    given := read_release(sent);
    given.bundle := token.bundle;
    given.platform := platform_name(given.platform);
    name := format('%s of %s on %s', value_text(given.version), token.bundle, given.platform);
    -- So that the same release, sent twice at once, is added once.
    PERFORM FROM apps AS a WHERE a.bundle = token.bundle FOR NO KEY UPDATE;
    SELECT p.* INTO present FROM present_release(given) AS p;
    IF FOUND THEN
        recorded := present.release;
        -- What is not recorded is filled in. No regions are all, and not unknown.
        SELECT string_agg(
                   format('%s %s instead of %s', d.name, value_text(coalesce(d.before, 'everywhere')), value_text(d.after)), ', '
               ) INTO conflicts
          FROM (
              SELECT d.* FROM jsonb_to_recordset(present.differences) AS d(name text, before text, after text)
               UNION ALL
              SELECT 'withdrawn', 'true', 'false' WHERE sent -> 'withdrawn' = 'false' AND is_withdrawn(recorded, now())
          ) AS d
         WHERE (d.before IS NOT NULL OR d.name = 'regions') AND (d.name, d.after) <> ('staged', 'false');
        withdraws := withdraws AND NOT is_withdrawn(recorded, now());
        IF conflicts IS NOT NULL THEN
            RAISE unique_violation USING
                MESSAGE = format('%s is already recorded, with %s', name, conflicts),
                HINT = 'Leave out what differs, or let somebody change what is recorded.', CONSTRAINT = 'release_conflict';
        ELSIF present.differences <> '[]' OR withdraws THEN
            IF present.rows > 1 THEN
                RAISE invalid_parameter_value USING
                    MESSAGE = format('%s is recorded %s times, so it is not certain which is meant', name, present.rows),
                    HINT = 'Send the build or the regions of the one that is meant.';
            END IF;
            UPDATE releases AS r
               SET build = coalesce(r.build, given.build), min_os = coalesce(r.min_os, given.min_os),
                   live_at = coalesce(r.live_at, given.live_at), note = coalesce(r.note, given.note),
                   staged = r.staged AND coalesce(given.staged, true),
                   withdrawn_at = CASE WHEN withdraws THEN greatest(now(), r.live_at, given.live_at) ELSE r.withdrawn_at END
             WHERE r.id = recorded.id
            RETURNING r.* INTO recorded;
            outcome := 'changed';
        END IF;
    ELSIF withdraws THEN
        RAISE invalid_parameter_value USING
            MESSAGE = name || ' is not recorded, so it cannot be withdrawn',
            HINT = 'Send the version, the build and the regions as they were recorded.';
    ELSE
        INSERT INTO releases AS r (bundle, platform, version, build, min_os, regions, live_at, staged, note)
        VALUES (
            given.bundle, given.platform, given.version, given.build, given.min_os, given.regions,
            CASE WHEN given.staged THEN given.live_at ELSE coalesce(given.live_at, now()) END,
            coalesce(given.staged, false), given.note
        )
        RETURNING r.* INTO recorded;
        outcome := 'added';
    END IF;
    PERFORM set_config('application_name', 'token', true), set_config('versiongate.os_user', '', true),
            set_config('versiongate.why', coalesce(sent ->> 'why', ''), true);
    RETURN jsonb_build_object(
        'token', token.name, 'outcome', outcome,
        'revision', coalesce(record_noted_edits(token.name), (SELECT p.revision FROM policy_revision AS p)),
        'release', to_jsonb(recorded)
    );
END
$$;
COMMENT ON FUNCTION record_release(bytea, jsonb) IS
    'The same, for a token of which only the SHA-256 is known: so no log of the database has it.';
REVOKE ALL ON FUNCTION record_release(bytea, jsonb) FROM PUBLIC;

CREATE FUNCTION record_release(token text, release jsonb) RETURNS jsonb
    LANGUAGE sql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
RETURN record_release(sha256(convert_to(token, 'UTF8')), release);
COMMENT ON FUNCTION record_release(text, jsonb) IS
    'Records a release for a token: adds it, fills in what is not recorded of it, ends its staging or withdraws it, and says'
    ' what it is now. Null: the token is none, or not for this app and platform. Refused where something else is recorded.'
    ' An edit of the tool token with the name of the token as its login.';
REVOKE ALL ON FUNCTION record_release(text, jsonb) FROM PUBLIC;
