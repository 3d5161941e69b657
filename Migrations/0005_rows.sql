-- What is made of one row: the form in which it is stored, and what it is warned of.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- What is written is brought into the one form that is stored, before the CHECKs judge it.

CREATE FUNCTION versiongate_internal.refuse_reference(
    place text, noun text, missing text, hint text, command text
) RETURNS boolean
    LANGUAGE sql
RETURN refuse(
    place, format('there is no %s %s', noun, missing), hint, constraint_name => replace(place, '.', '_') || '_fkey',
    command => command, condition => 'foreign_key_violation'
);

-- The app with this bundle, as apps spells it; foreign_key_violation if there is none.
CREATE FUNCTION versiongate_internal.stored_bundle(written text, place text) RETURNS text
    LANGUAGE plpgsql STABLE STRICT SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    spelled CONSTANT text := (SELECT bundle FROM apps WHERE lower(bundle) = lower(written COLLATE "C"));
    refused boolean;
BEGIN
    IF spelled IS NULL THEN
        refused := refuse_reference(
            place, 'app', quoted(written),
            format('Add it first: INSERT INTO apps (bundle) VALUES (%L);', written)
                || CASE WHEN place = 'rules.bundle' THEN ' NULL means every app.' ELSE '' END,
            'Add it first: `app add BUNDLE`'
                || CASE WHEN place = 'rules.bundle' THEN '. Without --bundle a rule is for every app.' ELSE '' END
        );
    END IF;
    RETURN spelled;
END
$$;

-- A list in the form that is stored, without what it has twice, in its order; what was written if that is no plain list.
CREATE FUNCTION versiongate_internal.stored_list(written text[], column_name text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF array_ndims(written) IS DISTINCT FROM 1 OR array_position(written, NULL) IS NOT NULL THEN
        RETURN written;
    END IF;
    RETURN (
        SELECT array_agg(first.item ORDER BY first.place)
          FROM (
              SELECT CASE column_name
                         WHEN 'platforms' THEN platform_name(i.item)
                         WHEN 'languages' THEN current_language(i.item)
                         ELSE i.item
                     END AS item, min(i.place) AS place
                FROM unnest(written) WITH ORDINALITY AS i(item, place)
               GROUP BY 1
          ) AS first
    );
END
$$;

CREATE FUNCTION versiongate_internal.normalise_row() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    IF TG_TABLE_NAME IN ('rule_texts', 'release_notes') THEN
        NEW.language := current_language(NEW.language);
    ELSE
        NEW.bundle := stored_bundle(NEW.bundle, TG_TABLE_NAME || '.bundle');
    END IF;
    IF TG_TABLE_NAME = 'store_links' THEN
        NEW.platform := platform_name(NEW.platform);
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER store_links_normalise BEFORE INSERT OR UPDATE ON store_links
    FOR EACH ROW EXECUTE FUNCTION normalise_row();
CREATE TRIGGER feed_templates_normalise BEFORE INSERT OR UPDATE ON feed_templates
    FOR EACH ROW EXECUTE FUNCTION normalise_row();
CREATE TRIGGER rule_texts_normalise BEFORE INSERT OR UPDATE OF language ON rule_texts
    FOR EACH ROW EXECUTE FUNCTION normalise_row();
CREATE TRIGGER release_notes_normalise BEFORE INSERT OR UPDATE OF language ON release_notes
    FOR EACH ROW EXECUTE FUNCTION normalise_row();

-- The arguments: the column, what it is, and what to do instead.
CREATE FUNCTION versiongate_internal.keep_key() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    refused boolean;
BEGIN
    refused := refuse(
        TG_TABLE_NAME || '.' || TG_ARGV[0], format('the %s never changes', TG_ARGV[1]), TG_ARGV[2],
        format('It is %s.', to_jsonb(OLD) ->> TG_ARGV[0])
    );
END
$$;

CREATE TRIGGER keep_key AFTER UPDATE ON apps
    FOR EACH ROW WHEN (lower(NEW.bundle) <> lower(OLD.bundle)) EXECUTE FUNCTION keep_key(
        'bundle', 'bundle of an app',
        'Its clients ask by it. Add the other app, and copy the rules to it. Upper and lower case may change.'
    );
CREATE TRIGGER keep_key BEFORE UPDATE ON releases FOR EACH ROW WHEN (NEW.id <> OLD.id)
    EXECUTE FUNCTION keep_key('id', 'number of a release', 'The history knows the release by it. Leave it as it is.');
CREATE TRIGGER keep_key BEFORE UPDATE ON rules
    FOR EACH ROW WHEN (NEW.key <> OLD.key) EXECUTE FUNCTION keep_key(
        'key', 'key of a rule',
        'Clients know the message by it, and it decides whom a rollout reaches. Add a new rule instead.'
    );

-- With the rights of the owner, as only he can see whether an undo is running.
CREATE FUNCTION versiongate_internal.normalise_release() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    refused boolean;
BEGIN
    IF TG_OP = 'INSERT' AND EXISTS (
        SELECT FROM releases_id_seq AS given WHERE NEW.id > given.last_value OR NOT given.is_called
    ) THEN
        refused := refuse(
            'releases.id', format('%s is a number that the database has not given yet', NEW.id),
            'Leave it out: the database gives the numbers.',
            'A later release would get the same number.'
        );
    END IF;
    NEW.bundle := stored_bundle(NEW.bundle, 'releases.bundle');
    NEW.platform := platform_name(NEW.platform);
    NEW.regions := stored_list(NEW.regions, 'regions');
    -- Users can get a release from when its staging ends, and soak counts from there.
    IF TG_OP = 'UPDATE' AND OLD.staged AND NOT NEW.staged AND NEW.live_at IS NOT DISTINCT FROM OLD.live_at
        AND NOT undo_is_running() THEN
        NEW.live_at := now();
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER releases_normalise BEFORE INSERT OR UPDATE ON releases FOR EACH ROW EXECUTE FUNCTION normalise_release();

CREATE FUNCTION versiongate_internal.normalise_rule() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    refused boolean;
BEGIN
    IF NEW.rollout IS NULL THEN
        refused := refuse(
            'rules.rollout', 'NULL is not a percentage',
            'NULL means no condition in other columns; here write 100 for everybody, or leave the column out.',
            command => 'Write a value.', file => 'Write a value.', condition => 'not_null_violation'
        );
    END IF;
    NEW.bundle := stored_bundle(NEW.bundle, 'rules.bundle');
    NEW.rollout := trim_scale(NEW.rollout);
    NEW.fuse := trim_scale(NEW.fuse);
    NEW.soak := justify_hours(NEW.soak);
    NEW.remind := justify_hours(NEW.remind);
    NEW.platforms := stored_list(NEW.platforms, 'platforms');
    NEW.regions := stored_list(NEW.regions, 'regions');
    NEW.languages := stored_list(NEW.languages, 'languages');
    RETURN NEW;
END
$$;

CREATE TRIGGER rules_normalise BEFORE INSERT OR UPDATE ON rules FOR EACH ROW EXECUTE FUNCTION normalise_rule();

CREATE FUNCTION versiongate_internal.require_parent() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    refused boolean;
BEGIN
    IF TG_TABLE_NAME = 'release_notes' THEN
        IF NOT EXISTS (SELECT FROM releases AS r WHERE r.id = NEW.release) THEN
            refused := refuse_reference(
                'release_notes.release', 'release', NEW.release::text,
                'Add the release first. Their numbers are listed by: SELECT id, bundle, platform, version FROM releases;',
                'The releases: `release list`'
            );
        END IF;
    ELSIF NOT EXISTS (SELECT FROM rules AS r WHERE r.key = NEW.rule) THEN
        refused := refuse_reference(
            TG_TABLE_NAME || '.rule', 'rule', quoted(NEW.rule),
            'Add the rule first. The rules are listed by: SELECT key FROM rules;', 'The rules: `rule list`'
        );
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_parent BEFORE INSERT OR UPDATE OF rule ON rule_texts
    FOR EACH ROW WHEN (NEW.rule IS NOT NULL) EXECUTE FUNCTION require_parent();
CREATE TRIGGER require_parent BEFORE INSERT OR UPDATE OF rule ON rollout_steps
    FOR EACH ROW WHEN (NEW.rule IS NOT NULL) EXECUTE FUNCTION require_parent();
CREATE TRIGGER require_parent BEFORE INSERT OR UPDATE OF release ON release_notes
    FOR EACH ROW WHEN (NEW.release IS NOT NULL) EXECUTE FUNCTION require_parent();

-- Trigger: the first step of a rule sets its percentage to 0, so no edit of steps brings that back.
CREATE FUNCTION versiongate_internal.normalise_rollout_step() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    NEW.rollout := trim_scale(NEW.rollout);
    IF TG_OP = 'INSERT' OR NEW.rule <> OLD.rule THEN
        UPDATE rules AS r SET rollout = 0 WHERE r.key = NEW.rule AND r.rollout <> 0;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER rollout_steps_normalise BEFORE INSERT OR UPDATE ON rollout_steps
    FOR EACH ROW EXECUTE FUNCTION normalise_rollout_step();

-- PostgreSQL's own message for NULL shows the whole row, and has no hint.
CREATE FUNCTION versiongate_internal.refuse_null() RETURNS trigger
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    missing record;
    refused boolean;
BEGIN
    SELECT a.attname AS name, a.atthasdef AS has_default, col_description(TG_RELID, a.attnum) AS description
      INTO missing
      FROM pg_attribute AS a
     WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND a.attnotnull AND to_jsonb(NEW) -> a.attname = 'null'
     ORDER BY a.attnum
     LIMIT 1;
    refused := refuse(
        TG_TABLE_NAME || '.' || missing.name, 'NULL, where a value is needed',
        CASE WHEN missing.has_default THEN 'Leave the column out, or write a value. ' ELSE 'Write a value. ' END
            || missing.description,
        command => 'Write a value.', file => 'Write a value.', condition => 'not_null_violation'
    );
END
$$;

DO $$
DECLARE
    policy_table record;
BEGIN
    FOR policy_table IN
        SELECT a.attrelid::regclass AS name, string_agg(format('NEW.%I IS NULL', a.attname), ' OR ') AS is_incomplete
          FROM pg_attribute AS a
          JOIN policy_tables() AS t ON t.name::regclass = a.attrelid
         WHERE a.attnum > 0 AND a.attnotnull AND a.attidentity = ''
           -- normalise_rule says what NULL is of a rollout.
           AND (t.name, a.attname) <> ('rules', 'rollout')
         GROUP BY a.attrelid
    LOOP
        EXECUTE format(
            'CREATE TRIGGER refuse_null BEFORE INSERT OR UPDATE ON %s FOR EACH ROW WHEN (%s)'
            ' EXECUTE FUNCTION refuse_null()',
            policy_table.name, policy_table.is_incomplete
        );
    END LOOP;
END
$$;

-- What is probably not meant, and yet could be. Each function says what holds of rows as they stand: an edit raises what
-- it brought about, policy_warnings lists all.

-- A warning about TABLE.COLUMN. kind names what is warned of; command and words are those of refuse().
CREATE TYPE versiongate_internal.warning AS (place text, kind text, warning text, hint text, command text, words jsonb);

CREATE FUNCTION versiongate_internal.warn(found warning) RETURNS void
    LANGUAGE plpgsql SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RAISE WARNING USING
        MESSAGE = found.warning, HINT = found.hint, CONSTRAINT = found.kind,
        DATATYPE = jsonb_build_object('command', found.command, 'words', found.words)::text,
        SCHEMA = 'public', TABLE = split_part(found.place, '.', 1), COLUMN = split_part(found.place, '.', 2);
END
$$;

CREATE FUNCTION versiongate_internal.placeholder_warnings(owner text, table_name text, policy_row jsonb)
    RETURNS SETOF warning
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
BEGIN
    RETURN QUERY
    SELECT place, table_name || '_placeholder', format('%s: %s is not filled in', place, braces.name),
           format('Only {app}, {target} and {date} are; %s sends anything else as it is written.', owner), NULL, NULL::jsonb
      FROM unnest('{title,text}'::text[]) AS field
     CROSS JOIN concat(table_name, '.', field) AS place
     CROSS JOIN LATERAL (
         SELECT m.texts[1]
           FROM regexp_matches(
                    policy_row ->> field,
                    '\{[A-Za-z_][A-Za-z0-9_.-]{0,30}\}|[$]?\{+ ?(?:app|target|date) ?\}+|[$](?:app|target|date)\M|(?<![0-9])%(?:[0-9][$])?(?:@|[sd]\M)',
                    'g'
                ) AS m(texts)
          WHERE m.texts[1] NOT IN ('{app}', '{target}', '{date}')
          LIMIT 1
     ) AS braces(name);
END
$$;

-- The usual name of a platform that people also write in another way; null for any other.
CREATE FUNCTION versiongate_internal.platform_meant(platform text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    names CONSTANT jsonb := '{
        "iphone": "ios", "ipad": "ios", "ipod": "ios", "apple": "ios", "iso": "ios",
        "andriod": "android", "adroid": "android", "androd": "android", "google": "android",
        "mac": "macos", "osx": "macos", "os x": "macos", "mac os": "macos", "mac os x": "macos", "macosx": "macos",
        "win": "windows", "win32": "windows", "win64": "windows",
        "appletv": "tvos", "apple tv": "tvos", "applewatch": "watchos", "apple watch": "watchos", "browser": "web"
    }';
BEGIN
    RETURN names ->> platform;
END
$$;

CREATE FUNCTION versiongate_internal.platform_warnings(subject text, place text, platform text) RETURNS SETOF warning
    LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
    SELECT place, 'platform_unusual', subject || ' is on ' || platform,
           format('Is %s meant? It is for clients that say just that; if none does, it reaches nobody there.', meant),
           NULL, NULL::jsonb
      FROM platform_meant(platform) AS meant
     WHERE meant IS NOT NULL
$$;

-- Which system is meant by a number that no system of the platform ever had, for a hint; null where one has it.
-- The table of systems is is_system(), which checks ask too. Windows tells 10.0.N of itself, also from 11 on.
CREATE FUNCTION versiongate_internal.system_meant(platform text, bound text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    number CONSTANT numeric := (regexp_match(bound COLLATE "C", '^[ \t\r\n]*[vV]?([0-9]+)'))[1];
    android CONSTANT text[] := '{4.4,5,5.1,6,7,7.1,8,8.1,9,10,11,12,12}';
BEGIN
    IF platform = 'windows' THEN
        RETURN CASE WHEN number BETWEEN 11 AND 99 THEN 'Windows 11 is 10.0.22000' END;
    ELSIF is_system(platform, version_key(number::text)) IS NOT FALSE THEN
        RETURN NULL;
    END IF;
    RETURN CASE platform
        WHEN 'android' THEN
            CASE
                WHEN number > 40 THEN 'API level 36 is Android 16'
                ELSE format('API level %s is Android %s', number, coalesce(android[number - 19], (number - 20)::text))
            END
        WHEN 'ios' THEN
            format('Darwin %s is iOS %s, and 26 comes after iOS 18', number, CASE number WHEN 25 THEN 26 ELSE number - 6 END)
        WHEN 'macos' THEN
            format(
                'Darwin %s is macOS %s, and 26 comes after macOS 15%s', number,
                CASE
                    WHEN number < 20 THEN '10.' || number - 4
                    WHEN number = 25 THEN '26'
                    ELSE (number - 9)::text
                END,
                CASE number WHEN 16 THEN ': programs of an old SDK are told that it is 16' ELSE '' END
            )
    END;
END
$$;

-- The first number in a min_os, or in a range of os, that no system of a platform ever had.
CREATE FUNCTION versiongate_internal.system_warnings(name text, place text, platforms text[], written text)
    RETURNS SETOF warning
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (p.platform)
           place, 'system_number',
           format(
               '%s: %s asks for %s %s, and no system has that number',
               name, split_part(place, '.', 2), p.platform, bound.number[1]
           ),
           system_meant(p.platform, bound.number[1]) || '. Write the number that clients send as os.',
           NULL, NULL::jsonb
      FROM unnest(platforms) AS p(platform)
     CROSS JOIN regexp_matches(
                    written COLLATE "C", '(?:^|[ \t<>=~^|])[vV]?([0-9]+(?:\.[0-9]+)*)', 'g'
                ) WITH ORDINALITY AS bound(number, ordinal)
     WHERE system_meant(p.platform, bound.number[1]) IS NOT NULL
     ORDER BY p.platform, bound.ordinal;
END
$$;

-- As in SemVer, what is not all digits compares as text.
CREATE FUNCTION versiongate_internal.text_order_warnings(table_name text, fields text[], policy_row jsonb)
    RETURNS SETOF warning
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT table_name || '.' || f.field, 'text_order',
           format(
               '%s.%s: in "%s" a number stands right behind letters, where it compares as text: beta10 is before beta9',
               table_name, f.field, policy_row ->> f.field
           ),
           'With a dot between them, or without the hyphen, it compares as a number: 2.0-beta.10, 2.0beta10.',
           NULL, NULL::jsonb
      FROM unnest(fields) AS f(field)
     WHERE policy_row ->> f.field COLLATE "C" ~ '[0-9]-[0-9A-Za-z.-]*[A-Za-z][0-9]';
END
$$;

-- What stands behind a version and does not count.
CREATE FUNCTION versiongate_internal.version_suffix(version text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (regexp_match(version COLLATE "C", '([+][0-9A-Za-z.-]+| ?[(][ -''*-~]*[)])[[:space:]]*$'))[1];

-- The texts that a condition on an attribute names, whether it accepts them or not; null where it is a range.
CREATE FUNCTION versiongate_internal.listed_texts(accepted jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof(accepted) WHEN 'array' THEN accepted ELSE accepted -> 'not' END;

CREATE FUNCTION versiongate_internal.attribute_warnings(rule rules) RETURNS SETOF warning
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT 'rules.attributes', 'rules_attribute_list', format('rule %s: %s "%s" is one value', quoted(rule.key), a.key, item),
           'It is compared as a whole. If each is meant, write it by itself: {"channel": ["beta", "nightly"]}', NULL,
           NULL::jsonb
      FROM jsonb_each(rule.attributes) AS a, jsonb_array_elements_text(listed_texts(a.value)) AS item
     WHERE item ~ '[,;|]' AND item !~ '^[A-Za-z]+[0-9]+,[0-9]+$';
END
$$;

CREATE FUNCTION versiongate_internal.rule_warnings(rule rules) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    short CONSTANT text := 'A number without a unit is read as seconds. If days are meant, write the unit: ''2 days''.';
    name CONSTANT text := 'rule ' || quoted(rule.key);
    hundredfold CONSTANT text := trim_scale(rule.rollout * 100);
    suffix CONSTANT text := version_suffix(rule.target);
BEGIN
    RETURN QUERY
    SELECT 'rules.' || w.column_name, w.kind, name || w.fault, w.hint, w.command,
           jsonb_build_object('rule', rule.key, 'percent', hundredfold)
      FROM (
          VALUES (
              rule.soak > '0' AND rule.target IS NULL AND NOT rule.lockout,
              'soak', 'rules_soak_without_effect', ': soak has no effect without a target or a lockout',
              'Set target or lockout: no other rule asks how long a release has been live. Or set soak to NULL.',
              'Give --target or --lockout as well: no other rule asks how long a release has been live.'
          ), (
              rule.lockout_without_update AND NOT rule.lockout,
              'lockout_without_update', 'rules_lockout_without_effect',
              ': lockout_without_update has no effect without lockout',
              'Set lockout as well, or set lockout_without_update to false.', 'Give --lockout as well.'
          ), (
              rule.fuse IS NOT NULL AND NOT rule.lockout,
              'fuse', 'rules_fuse_without_effect', ': fuse has no effect without lockout',
              'Set lockout as well: there is nothing else that it could take away. Or set fuse to NULL.',
              'Give --lockout as well: there is nothing else that it could take away.'
          ), (
              -- A lockout that needs a way out is sent without it to clients that have none, and then with hints.
              rule.lockout AND rule.lockout_without_update
                  AND (rule.remind IS NOT NULL OR rule.shows IS NOT NULL OR rule.skippable),
              'lockout_without_update', 'rules_hints_without_effect',
              ': remind, shows and skippable have no effect with lockout_without_update',
              'A lockout is shown at every start. Set remind and shows to NULL, and skippable to false.',
              'A lockout is shown at every start. To take them away:'
              ' `rule edit {rule} --clear remind --clear shows --no-skippable`'
          ), (
              rule.rollout > 0 AND rule.rollout < 1, 'rollout', 'rules_rollout_small',
              format(
                  ': rollout is in percent, so %s is one install in %s', rule.rollout,
                  round(100 / nullif(rule.rollout, 0))
              ),
              format('If %s %% is meant, set rollout to %1$s.', hundredfold),
              'If {percent} % is meant: `rule rollout {rule} {percent}%`'
          ), (
              -- Of rules that are off, those that were written just now are meant.
              rule.ends_at <= clock_timestamp() AND (rule.enabled OR rule.ends_at > now() - interval '2 days'),
              'ends_at', 'rules_ended',
              format(
                  '%s ended at %s, so it reaches nobody', CASE WHEN rule.enabled THEN ' is enabled, but' ELSE '' END,
                  time_text(date_trunc('second', rule.ends_at))
              ),
              'Set ends_at to a time to come, or to NULL for no end.',
              'For another end: `rule edit {rule} --ends-at +2h`; for none: --clear ends-at'
          ), (
              suffix IS NOT NULL, 'target', 'version_suffix',
              format(': target %s has a suffix, which does not count', rule.target),
              format(
                  'It asks clients below %s. To tell builds of one version apart, set versions to %1$s and builds to a range.',
                  btrim(left(rule.target, strpos(rule.target, suffix) - 1))
              ),
              NULL
          ), (
              isempty(
                  (read_version_range(rule.versions)).spans
                  * version_spans(version_span(NULL, version_key(rule.target)))
              ),
              'target', 'rules_target_below_versions',
              format(': no version of %s is below its target %s, so it reaches nobody', rule.versions, rule.target),
              'A target asks those below it: leave versions out, or set them to versions below it.', NULL
          ), (
              rule.soak > '0' AND (rule.soak < '1 minute' OR extract(second FROM rule.soak) <> 0), 'soak', 'rules_time_short',
              format(': soak is %s seconds', trim_scale(extract(epoch FROM rule.soak))), short, NULL
          ), (
              rule.remind < '1 minute', 'remind', 'rules_time_short',
              format(': remind is %s seconds', trim_scale(extract(epoch FROM rule.remind))), short, NULL
          ), (
              rule.enabled AND rule.lockout AND rule.lockout_without_update AND rule.ends_at IS NULL,
              'ends_at', 'rules_lockout_endless', ' locks out without an update, and has no end',
              'Set ends_at, so that it ends by itself.', 'For an end: `rule edit {rule} --ends-at +2h`'
          ), (
              rule.link IS NULL AND rule.lockout AND NOT rule.lockout_without_update,
              'link', 'rules_link_missing', ' locks out and has no link, so users see no button',
              'Set link to ''store'', or to an address.', '`rule edit {rule} --link store`'
          )
      ) AS w(holds, column_name, kind, fault, hint, command)
     WHERE w.holds;
END
$$;

-- Whether nobody gets a release any more, or ever will: it was withdrawn before it was live.
CREATE FUNCTION versiongate_internal.is_withdrawn(release releases, moment timestamptz) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (release.withdrawn_at > greatest(moment, release.live_at)) IS FALSE;

CREATE FUNCTION versiongate_internal.release_warnings(release releases) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    name CONSTANT text := format('release %s of %s on %s', release.version, release.bundle, release.platform);
    of_release CONSTANT jsonb := row_columns(to_jsonb(release), '{bundle,version,platform}');
    suffix CONSTANT text := version_suffix(release.version);
BEGIN
    RETURN QUERY
    SELECT * FROM platform_warnings(
        format('release %s of %s', release.version, release.bundle), 'releases.platform', release.platform
    );
    -- All releases are asked this, and nearly none has any.
    IF system_meant(release.platform, release.min_os) IS NOT NULL THEN
        RETURN QUERY SELECT * FROM system_warnings(name, 'releases.min_os', ARRAY[release.platform], release.min_os);
    END IF;
    IF release.build IS NULL AND suffix IS NOT NULL THEN
        RETURN QUERY
        SELECT 'releases.version', 'version_suffix',
               name || ' has a suffix in its version, which does not count, and no build',
               format(
                   'Record version %s%s.', btrim(left(release.version, strpos(release.version, suffix) - 1)),
                   ' and build ' || (regexp_match(suffix COLLATE "C", '^ ?[+(]([0-9]+(?:[.][0-9]+)*)[)]?$'))[1]
               ),
               NULL, NULL::jsonb;
    END IF;
    IF release.staged AND release.live_at IS NOT NULL THEN
        RETURN QUERY
        SELECT 'releases.live_at', 'releases_staged_live_at', name || ' is staged, so live_at has no effect',
               'Leave live_at out: it becomes the time at which staged is set to false.',
               'Leave --live-at out; when users can get it: `release edit {bundle} {version} --platform {platform} --no-staged`',
               of_release;
    ELSIF release.live_at IS NULL AND NOT release.staged AND release.withdrawn_at IS NULL THEN
        RETURN QUERY
        SELECT 'releases.live_at', 'releases_no_live_at', name || ' has no live_at, so nobody is offered it',
               format('Once users can get it: UPDATE releases SET live_at = now() WHERE id = %s;', release.id),
               'Once users can get it: `release edit {bundle} {version} --platform {platform} --live-at now`', of_release;
    END IF;
END
$$;

-- What one row is warned of, whatever the others are.
CREATE FUNCTION versiongate_internal.row_warnings(table_name text, policy_row jsonb) RETURNS SETOF warning
    LANGUAGE plpgsql STABLE STRICT ROWS 1 SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    CASE table_name
        WHEN 'rules' THEN
            RETURN QUERY SELECT * FROM placeholder_warnings('rule ' || (policy_row ->> 'key'), table_name, policy_row);
            RETURN QUERY SELECT * FROM text_order_warnings(table_name, '{versions,builds,os,target}', policy_row);
            RETURN QUERY SELECT w.* FROM jsonb_populate_record(NULL::rules, policy_row) AS r, attribute_warnings(r) AS w;
            RETURN QUERY SELECT * FROM rule_warnings(jsonb_populate_record(NULL::rules, policy_row));
        WHEN 'rule_texts' THEN
            RETURN QUERY SELECT * FROM placeholder_warnings(
                format('rule %s, %s,', policy_row ->> 'rule', policy_row ->> 'language'), table_name, policy_row
            );
        WHEN 'releases' THEN
            RETURN QUERY SELECT * FROM text_order_warnings(table_name, '{version,min_os}', policy_row);
            RETURN QUERY SELECT * FROM release_warnings(jsonb_populate_record(NULL::releases, policy_row));
        WHEN 'store_links' THEN
            RETURN QUERY SELECT * FROM platform_warnings(
                'store link of ' || (policy_row ->> 'bundle'), 'store_links.platform', policy_row ->> 'platform'
            );
        ELSE
    END CASE;
END
$$;
