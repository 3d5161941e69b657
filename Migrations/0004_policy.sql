-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The tables of the policy: apps with their store links and templates of feeds, releases with their notes, and rules
-- with their texts and rollout steps.

SET LOCAL search_path = public, pg_temp;

CREATE TABLE apps (
    bundle text COLLATE "C" CONSTRAINT apps_pkey PRIMARY KEY
        CONSTRAINT apps_bundle_check CHECK (check_bundle(bundle, 'apps.bundle')),
    name text CONSTRAINT apps_name_check CHECK (check_text(name, 'apps.name', 200)),
    paused boolean NOT NULL DEFAULT false,
    note text CONSTRAINT apps_note_check CHECK (check_note(note, 'apps.note')),
    store_id bigint CONSTRAINT apps_store_id_check CHECK (check_store_id(store_id, 'apps.store_id')),
    seller text CONSTRAINT apps_seller_check CHECK (check_text(seller, 'apps.seller', 200))
);

CREATE UNIQUE INDEX apps_bundle_key ON apps (lower(bundle));

COMMENT ON TABLE apps IS
    'The apps that check in, each known by its bundle. Deleting one deletes its links, templates, releases and rules; a new'
    ' spelling of its bundle goes into them.';
COMMENT ON COLUMN apps.bundle IS
    'Bundle or package identifier, as the app spells it. ASCII case does not count when it is compared.';
COMMENT ON COLUMN apps.name IS 'What people call the app; fills {app} in texts. Null: the bundle does.';
COMMENT ON COLUMN apps.paused IS 'True: no message at all is sent to this app, not even those of rules for every app.';
COMMENT ON COLUMN apps.note IS 'For the people who edit; never sent.';
COMMENT ON COLUMN apps.store_id IS
    'Number of the app in the App Store, by which look-ups ask; no two apps have the same. Null: not known.';
COMMENT ON COLUMN apps.seller IS 'Name of the seller, as the store has it, 1 to 200 characters. Null: not known.';

CREATE TABLE store_links (
    bundle text COLLATE "C" NOT NULL
        CONSTRAINT store_links_bundle_fkey REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    platform text COLLATE "C" NOT NULL
        CONSTRAINT store_links_platform_check CHECK (check_platform(platform, 'store_links.platform')),
    link text NOT NULL CONSTRAINT store_links_link_check CHECK (check_link(link, 'store_links.link')),
    CONSTRAINT store_links_pkey PRIMARY KEY (bundle, platform) DEFERRABLE
);

-- The keys of tables below apps, releases and rules are deferrable, so that one statement can shift or swap rows. A
-- publication cannot know rows by such a key, so it knows them by all columns.
ALTER TABLE store_links REPLICA IDENTITY FULL;

COMMENT ON TABLE store_links IS
    'The address of an app in each store: what a rule with the link "store" sends to a client.';
COMMENT ON COLUMN store_links.bundle IS 'The app, stored as apps spells it.';
COMMENT ON COLUMN store_links.platform IS
    'The platform, stored in lower case; ipados, iphone os and iphoneos become ios.';
COMMENT ON COLUMN store_links.link IS
    'Address of the app in the store: https, http, itms-apps, itms-appss, macappstore, market or ms-windows-store,'
    ' ASCII, at most 2048 bytes.';

CREATE TABLE feed_templates (
    bundle text COLLATE "C" NOT NULL
        CONSTRAINT feed_templates_bundle_fkey REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL
        CONSTRAINT feed_templates_name_check CHECK (check_feed_name(name, 'feed_templates.name')),
    content_type text COLLATE "C" NOT NULL
        CONSTRAINT feed_templates_content_type_check CHECK (
            check_content_type(content_type, 'feed_templates.content_type')
        ),
    body text NOT NULL CONSTRAINT feed_templates_body_check CHECK (check_template(body, 'feed_templates.body')),
    CONSTRAINT feed_templates_pkey PRIMARY KEY (bundle, name) DEFERRABLE
);

ALTER TABLE feed_templates REPLICA IDENTITY FULL;

COMMENT ON TABLE feed_templates IS
    'Documents of an app''s own at /v1/feeds/BUNDLE/NAME, written as Mustache templates. What does not parse is found by'
    ' versiongate feed lint, and not served.';
COMMENT ON COLUMN feed_templates.bundle IS 'The app, stored as apps spells it.';
COMMENT ON COLUMN feed_templates.name IS
    'The last part of the address: a-z, 0-9, ".", "_", "-", at most 64, and no name that a format has.';
COMMENT ON COLUMN feed_templates.content_type IS
    'application/json, application/xml, application/x-plist, application/rss+xml, text/xml or text/plain: how values are'
    ' escaped, and the Content-Type of the document, which is UTF-8.';
COMMENT ON COLUMN feed_templates.body IS 'The template, at most 65536 bytes.';

CREATE TABLE releases (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT releases_pkey PRIMARY KEY,
    bundle text COLLATE "C" NOT NULL
        CONSTRAINT releases_bundle_fkey REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    platform text COLLATE "C" NOT NULL
        CONSTRAINT releases_platform_check CHECK (check_platform(platform, 'releases.platform')),
    version text COLLATE "C" NOT NULL
        CONSTRAINT releases_version_check CHECK (check_version(version, 'releases.version')),
    build text COLLATE "C" CONSTRAINT releases_build_check CHECK (check_version(build, 'releases.build')),
    min_os text COLLATE "C" CONSTRAINT releases_min_os_check CHECK (check_version(min_os, 'releases.min_os')),
    regions text[] COLLATE "C" CONSTRAINT releases_regions_check CHECK (check_regions(regions, 'releases.regions')),
    live_at timestamptz CONSTRAINT releases_live_at_check CHECK (check_time(live_at, 'releases.live_at')),
    staged boolean NOT NULL DEFAULT false,
    withdrawn_at timestamptz
        CONSTRAINT releases_withdrawn_at_check CHECK (
            check_time(withdrawn_at, 'releases.withdrawn_at')
            AND (
                withdrawn_at IS NULL OR live_at IS NULL OR withdrawn_at >= live_at
                OR refuse(
                    'releases.withdrawn_at', 'withdrawn before it was live',
                    'Set withdrawn_at to live_at for a release that never got to users, or delete the row.'
                )
            )
        ),
    note text CONSTRAINT releases_note_check CHECK (check_note(note, 'releases.note'))
);

CREATE INDEX releases_version_idx ON releases (bundle, platform, version_key(version));

COMMENT ON TABLE releases IS
    'Versions that users can get. A version may have several rows, with different regions and times.';
COMMENT ON COLUMN releases.id IS 'Number of the row, given by the database.';
COMMENT ON COLUMN releases.bundle IS 'The app, stored as apps spells it.';
COMMENT ON COLUMN releases.platform IS 'The platform, stored in lower case; ipados, iphone os and iphoneos become ios.';
COMMENT ON COLUMN releases.version IS
    'The version, as it is written in the store. A second spelling of it on the same platform and build is refused.';
COMMENT ON COLUMN releases.build IS 'Build number of the version; null: not recorded.';
COMMENT ON COLUMN releases.min_os IS 'Lowest version of the operating system it can be installed on; null: any.';
COMMENT ON COLUMN releases.regions IS
    'Countries in which users can get it: upper-case ISO 3166-1 alpha-2 codes, and XK; null: all.';
COMMENT ON COLUMN releases.live_at IS
    'Since when, or from when on, users can get it; null: not yet known. Set to the time of the edit when staged is'
    ' cleared and no other time is given.';
COMMENT ON COLUMN releases.staged IS
    'True: the store gives it to some users only (Google Play), so it is offered to nobody.';
COMMENT ON COLUMN releases.withdrawn_at IS 'When it went, or goes, out of the store; null: it stays.';
COMMENT ON COLUMN releases.note IS 'For the people who edit; never sent.';

CREATE TABLE release_notes (
    release bigint NOT NULL CONSTRAINT release_notes_release_fkey REFERENCES releases ON DELETE CASCADE,
    language text COLLATE "C" NOT NULL
        CONSTRAINT release_notes_language_check CHECK (check_language(language, 'release_notes.language')),
    text text NOT NULL CONSTRAINT release_notes_text_check CHECK (check_text(text, 'release_notes.text', 4000)),
    CONSTRAINT release_notes_pkey PRIMARY KEY (release, language) DEFERRABLE,
    CONSTRAINT release_notes_language_key EXCLUDE USING btree (release WITH =, lower(language) WITH =) DEFERRABLE
);

ALTER TABLE release_notes REPLICA IDENTITY FULL;

COMMENT ON TABLE release_notes IS 'What is new in a release, for the feeds that show it.';
COMMENT ON COLUMN release_notes.release IS 'Number of the release.';
COMMENT ON COLUMN release_notes.language IS
    'BCP 47 tag: de, pt-BR, zh-Hant; und, its tag for a language that is not determined, is the text for whoever has none'
    ' of the others. Case does not count.';
COMMENT ON COLUMN release_notes.text IS 'The notes in this language, 1 to 4000 characters; nothing is filled in.';

CREATE TABLE rules (
    key text COLLATE "C" CONSTRAINT rules_pkey PRIMARY KEY
        CONSTRAINT rules_key_check CHECK (check_key(key, 'rules.key')),
    bundle text COLLATE "C" CONSTRAINT rules_bundle_fkey REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    enabled boolean NOT NULL DEFAULT false,
    position integer NOT NULL DEFAULT 0,
    versions text COLLATE "C" CONSTRAINT rules_versions_check CHECK (check_version_range(versions, 'rules.versions')),
    builds text COLLATE "C" CONSTRAINT rules_builds_check CHECK (check_version_range(builds, 'rules.builds')),
    os text COLLATE "C" CONSTRAINT rules_os_check CHECK (check_version_range(os, 'rules.os')),
    platforms text[] COLLATE "C" CONSTRAINT rules_platforms_check CHECK (check_platforms(platforms, 'rules.platforms')),
    regions text[] COLLATE "C" CONSTRAINT rules_regions_check CHECK (check_regions(regions, 'rules.regions')),
    languages text[] COLLATE "C" CONSTRAINT rules_languages_check CHECK (check_languages(languages, 'rules.languages')),
    attributes jsonb CONSTRAINT rules_attributes_check CHECK (check_attributes(attributes, 'rules.attributes')),
    target text COLLATE "C" CONSTRAINT rules_target_check CHECK (
        check_version(target, 'rules.target')
        AND (
            target IS NULL OR bundle IS NOT NULL
            OR refuse('rules.target', 'a target without an app', 'Set bundle: the target is one of its releases.')
        )
    ),
    soak interval CONSTRAINT rules_soak_check CHECK (check_duration(soak, 'rules.soak')),
    rollout numeric NOT NULL DEFAULT 100
        CONSTRAINT rules_rollout_check CHECK (check_percentage(rollout, 'rules.rollout')),
    starts_at timestamptz CONSTRAINT rules_starts_at_check CHECK (check_time(starts_at, 'rules.starts_at')),
    ends_at timestamptz CONSTRAINT rules_ends_at_check CHECK (
        check_time(ends_at, 'rules.ends_at')
        AND (
            starts_at IS NULL OR ends_at IS NULL OR ends_at > starts_at
            OR refuse('rules.ends_at', 'the end is not after the start', 'Set ends_at to a time after starts_at.')
        )
    ),
    title text NOT NULL CONSTRAINT rules_title_check CHECK (
        check_text(title, 'rules.title', 200)
        AND (
            target IS NOT NULL OR strpos(title, '{target}') = 0
            OR refuse('rules.title', '{target} in a rule without a target', 'Set target, or take {target} out.')
        )
    ),
    text text NOT NULL CONSTRAINT rules_text_check CHECK (
        check_text(text, 'rules.text', 4000)
        AND (
            target IS NOT NULL OR strpos(text, '{target}') = 0
            OR refuse('rules.text', '{target} in a rule without a target', 'Set target, or take {target} out.')
        )
    ),
    link text CONSTRAINT rules_link_check CHECK (link = 'store' OR check_link(link, 'rules.link')),
    remind interval CONSTRAINT rules_remind_check CHECK (check_duration(remind, 'rules.remind')),
    shows integer CONSTRAINT rules_shows_check CHECK (
        shows IS NULL OR shows BETWEEN 1 AND 1000
        OR refuse(
            'rules.shows', shows || ' is not from 1 to 1000',
            'Write how often the message may be shown on one installation; NULL means without limit.'
        )
    ),
    skippable boolean NOT NULL DEFAULT false,
    lockout boolean NOT NULL DEFAULT false,
    lockout_without_update boolean NOT NULL DEFAULT false,
    final boolean NOT NULL DEFAULT false,
    note text CONSTRAINT rules_note_check CHECK (check_note(note, 'rules.note'))
);

CREATE INDEX rules_bundle_idx ON rules (bundle);

COMMENT ON TABLE rules IS
    'Whom to send which message. All conditions must hold; null means no condition. A new rule reaches nobody until'
    ' enabled.';
COMMENT ON COLUMN rules.key IS
    'Name of the rule, for ever: the message''s id, and the salt of the rollout. a-z, 0-9, ".", "_", "-", at most 64.';
COMMENT ON COLUMN rules.bundle IS
    'The app, stored as apps spells it. Null: every app, also those that are not in apps.';
COMMENT ON COLUMN rules.enabled IS 'False: the rule reaches nobody.';
COMMENT ON COLUMN rules.position IS 'Order of the messages, lowest first; then by key.';
COMMENT ON COLUMN rules.versions IS
    'Range of app versions: <1.2, >=2.3 <2.3.5, 1.2.x || 1.4, 1.2 - 1.4, ~1.2.3, ^1.2.3, *';
COMMENT ON COLUMN rules.builds IS 'Range of build numbers, written like versions.';
COMMENT ON COLUMN rules.os IS 'Range of versions of the operating system, written like versions.';
COMMENT ON COLUMN rules.platforms IS
    'Platforms: {ios,android}. Stored in lower case; ipados, iphone os and iphoneos become ios.';
COMMENT ON COLUMN rules.regions IS 'Countries: upper-case ISO 3166-1 alpha-2 codes, and XK: {JP,US}';
COMMENT ON COLUMN rules.languages IS
    'Languages, as basic language ranges of RFC 4647: {de,zh-Hant}. zh-Hant matches zh-Hant and zh-Hant-TW.';
COMMENT ON COLUMN rules.attributes IS
    'What other members the client must have sent, each with the values accepted: {"channel": ["beta", "nightly"]}';
COMMENT ON COLUMN rules.target IS
    'The version that clients are asked to reach: the rule applies to those below it who can get it or a later one.';
COMMENT ON COLUMN rules.soak IS
    'How long a release must have been live before this rule counts on it: days, hours, minutes, seconds. A day is'
    ' 24 hours.';
COMMENT ON COLUMN rules.rollout IS
    'Percentage of the installations that the rule reaches, 0 to 100, at most two decimals. With rollout_steps it is 0:'
    ' before the first step the rule reaches nobody.';
COMMENT ON COLUMN rules.starts_at IS 'From when on it applies, inclusive.';
COMMENT ON COLUMN rules.ends_at IS 'Until when it applies, exclusive.';
COMMENT ON COLUMN rules.title IS
    'Title of the message, 1 to 200 characters. {app} and {target} are filled in. Translations are in rule_texts.';
COMMENT ON COLUMN rules.text IS
    'Text of the message, 1 to 4000 characters. {app} and {target} are filled in. Translations are in rule_texts.';
COMMENT ON COLUMN rules.link IS
    'Where the message leads: an address, or the word store for the app''s link of the client''s platform in'
    ' store_links.';
COMMENT ON COLUMN rules.remind IS
    'How long after it was shown the message may be shown again: days, hours, minutes, whole seconds. Null: it is shown at'
    ' every start. Apps count; a lockout is shown always.';
COMMENT ON COLUMN rules.shows IS
    'How often the message may be shown on one installation, 1 to 1000; null: without limit. With a target, each target'
    ' counts anew.';
COMMENT ON COLUMN rules.skippable IS
    'True: the person may choose never to see the message again; with a target, until there is another one.';
COMMENT ON COLUMN rules.lockout IS
    'True: the app must not go on. Sent as such only to clients that have a way out; others get the message alone.';
COMMENT ON COLUMN rules.lockout_without_update IS
    'True: lock out also clients that have no way out (maintenance, the end of a platform). Give such a rule an'
    ' ends_at.';
COMMENT ON COLUMN rules.final IS 'True: when this message is sent, none after it is.';
COMMENT ON COLUMN rules.note IS 'For the people who edit; never sent.';

CREATE TABLE rule_texts (
    rule text COLLATE "C" NOT NULL
        CONSTRAINT rule_texts_rule_fkey REFERENCES rules ON UPDATE CASCADE ON DELETE CASCADE,
    language text COLLATE "C" NOT NULL
        CONSTRAINT rule_texts_language_check CHECK (check_language(language, 'rule_texts.language')),
    title text NOT NULL CONSTRAINT rule_texts_title_check CHECK (check_text(title, 'rule_texts.title', 200)),
    text text NOT NULL CONSTRAINT rule_texts_text_check CHECK (check_text(text, 'rule_texts.text', 4000)),
    CONSTRAINT rule_texts_pkey PRIMARY KEY (rule, language) DEFERRABLE,
    CONSTRAINT rule_texts_language_key EXCLUDE USING btree (rule WITH =, lower(language) WITH =) DEFERRABLE
);

ALTER TABLE rule_texts REPLICA IDENTITY FULL;

COMMENT ON TABLE rule_texts IS 'Translations of the rules'' messages.';
COMMENT ON COLUMN rule_texts.rule IS 'Key of the rule.';
COMMENT ON COLUMN rule_texts.language IS
    'BCP 47 tag: de, pt-BR, zh-Hant. The best one for the client is found by RFC 4647 lookup; case does not count.';
COMMENT ON COLUMN rule_texts.title IS 'Title of the message in this language, 1 to 200 characters.';
COMMENT ON COLUMN rule_texts.text IS 'Text of the message in this language, 1 to 4000 characters.';

CREATE TABLE rollout_steps (
    rule text COLLATE "C" NOT NULL
        CONSTRAINT rollout_steps_rule_fkey REFERENCES rules ON UPDATE CASCADE ON DELETE CASCADE,
    at timestamptz NOT NULL CONSTRAINT rollout_steps_at_check CHECK (check_time(at, 'rollout_steps.at')),
    rollout numeric NOT NULL
        CONSTRAINT rollout_steps_rollout_check CHECK (check_percentage(rollout, 'rollout_steps.rollout')),
    CONSTRAINT rollout_steps_pkey PRIMARY KEY (rule, at) DEFERRABLE
);

ALTER TABLE rollout_steps REPLICA IDENTITY FULL;

COMMENT ON TABLE rollout_steps IS
    'The planned ramp of a rule: from each time on, that percentage holds, without anybody being awake for it. The first'
    ' step sets rules.rollout to 0; where no step is in force, the rule reaches nobody.';
COMMENT ON COLUMN rollout_steps.rule IS 'Key of the rule.';
COMMENT ON COLUMN rollout_steps.at IS 'From when on this percentage holds, inclusive.';
COMMENT ON COLUMN rollout_steps.rollout IS
    'Percentage of the installations, 0 to 100, at most two decimals; not below that of the step before.';

-- What is written is brought into the one form that is stored, before the CHECKs judge it.

CREATE FUNCTION stored_bundle(written text, place text) RETURNS text
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = public, pg_temp
AS $$
DECLARE
    spelled CONSTANT text := (SELECT bundle FROM apps WHERE lower(bundle) = lower(written COLLATE "C"));
BEGIN
    IF spelled IS NULL THEN
        RAISE foreign_key_violation USING
            MESSAGE = format('%s: there is no app %s', place, quoted(written)),
            HINT = format('Add it first: INSERT INTO apps (bundle) VALUES (%L);', written)
                || CASE WHEN place = 'rules.bundle' THEN ' NULL means every app.' ELSE '' END,
            SCHEMA = 'public',
            TABLE = split_part(place, '.', 1),
            COLUMN = 'bundle',
            CONSTRAINT = replace(place, '.', '_') || '_fkey';
    END IF;
    RETURN spelled;
END
$$;

COMMENT ON FUNCTION stored_bundle(text, text) IS
    'The app with this bundle, as apps spells it; foreign_key_violation if there is none.';

-- A list that is none, or has a NULL in it, is left as it was written for the CHECK to refuse.
CREATE FUNCTION distinct_items(list text[], written text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF array_ndims(written) IS DISTINCT FROM 1 OR array_position(written, NULL) IS NOT NULL THEN
        RETURN written;
    END IF;
    RETURN (
        SELECT array_agg(first.item ORDER BY first.place)
          FROM (
              SELECT i.item, min(i.place) AS place FROM unnest(list) WITH ORDINALITY AS i(item, place) GROUP BY i.item
          ) AS first
    );
END
$$;

COMMENT ON FUNCTION distinct_items(text[], text[]) IS
    'A list without what it has twice, in its order; what was written if that is no plain list.';

CREATE FUNCTION normalise_store_link() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    NEW.bundle := stored_bundle(NEW.bundle, 'store_links.bundle');
    NEW.platform := platform_name(NEW.platform);
    RETURN NEW;
END
$$;

CREATE TRIGGER store_links_normalise BEFORE INSERT OR UPDATE ON store_links
    FOR EACH ROW EXECUTE FUNCTION normalise_store_link();

CREATE FUNCTION normalise_feed_template() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    NEW.bundle := stored_bundle(NEW.bundle, 'feed_templates.bundle');
    RETURN NEW;
END
$$;

CREATE TRIGGER feed_templates_normalise BEFORE INSERT OR UPDATE ON feed_templates
    FOR EACH ROW EXECUTE FUNCTION normalise_feed_template();

-- With the rights of the owner, as only he can see whether an undo is running.
CREATE FUNCTION normalise_release() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.id <> OLD.id THEN
        PERFORM public.refuse(
            'releases.id', 'the number of a release never changes',
            'The history knows the release by it. Leave it as it is.',
            format('It is %s.', OLD.id)
        );
    END IF;
    IF TG_OP = 'INSERT' AND EXISTS (
        SELECT FROM releases_id_seq AS given WHERE NEW.id > given.last_value OR NOT given.is_called
    ) THEN
        PERFORM public.refuse(
            'releases.id', format('%s is a number that the database has not given yet', NEW.id),
            'Leave the column out, and OVERRIDING SYSTEM VALUE with it: the database gives the numbers.',
            'A later release would get the same number.'
        );
    END IF;
    NEW.bundle := public.stored_bundle(NEW.bundle, 'releases.bundle'::text);
    NEW.platform := public.platform_name(NEW.platform);
    NEW.regions := public.distinct_items(NEW.regions, NEW.regions);
    -- Users can get a release from when its staging ends, and soak counts from there.
    IF TG_OP = 'UPDATE' AND OLD.staged AND NOT NEW.staged AND NEW.live_at IS NOT DISTINCT FROM OLD.live_at
        AND NOT public.undo_is_running() THEN
        NEW.live_at := now();
    END IF;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION normalise_release() FROM PUBLIC;

CREATE TRIGGER releases_normalise BEFORE INSERT OR UPDATE ON releases
    FOR EACH ROW EXECUTE FUNCTION normalise_release();

CREATE FUNCTION normalise_rule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.key <> OLD.key THEN
        PERFORM refuse(
            'rules.key', 'the key of a rule never changes',
            'Clients know the message by it, and it decides whom a rollout reaches. Add a new rule instead.',
            format('The key is %s.', quoted(OLD.key))
        );
    END IF;
    IF NEW.rollout IS NULL THEN
        RAISE not_null_violation USING
            MESSAGE = 'rules.rollout: NULL is not a percentage',
            HINT = 'NULL means no condition in other columns; here write 100 for everybody, or leave the column out.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'rollout';
    END IF;
    NEW.bundle := stored_bundle(NEW.bundle, 'rules.bundle');
    NEW.rollout := trim_scale(NEW.rollout);
    NEW.soak := justify_hours(NEW.soak);
    NEW.remind := justify_hours(NEW.remind);
    NEW.platforms := distinct_items(
        ARRAY(
            SELECT platform_name(p.name) FROM unnest(NEW.platforms) WITH ORDINALITY AS p(name, place) ORDER BY p.place
        ),
        NEW.platforms
    );
    NEW.regions := distinct_items(NEW.regions, NEW.regions);
    NEW.languages := distinct_items(NEW.languages, NEW.languages);
    RETURN NEW;
END
$$;

CREATE TRIGGER rules_normalise BEFORE INSERT OR UPDATE ON rules
    FOR EACH ROW EXECUTE FUNCTION normalise_rule();

CREATE FUNCTION require_rule(key text, place text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF key IS NOT NULL AND NOT EXISTS (SELECT FROM rules AS r WHERE r.key = require_rule.key) THEN
        RAISE foreign_key_violation USING
            MESSAGE = format('%s: there is no rule %s', place, quoted(key)),
            HINT = 'Add the rule first. The rules are listed by: SELECT key FROM rules;',
            SCHEMA = 'public', TABLE = split_part(place, '.', 1), COLUMN = 'rule',
            CONSTRAINT = replace(place, '.', '_') || '_fkey';
    END IF;
END
$$;

COMMENT ON FUNCTION require_rule(text, text) IS 'Refuses what names a rule that there is not.';

CREATE FUNCTION normalise_rule_text() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM require_rule(NEW.rule, 'rule_texts.rule');
    RETURN NEW;
END
$$;

CREATE TRIGGER rule_texts_normalise BEFORE INSERT OR UPDATE OF rule ON rule_texts
    FOR EACH ROW EXECUTE FUNCTION normalise_rule_text();

-- So no edit of steps can bring back a percentage that stood before them.
CREATE FUNCTION normalise_rollout_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    NEW.rollout := trim_scale(NEW.rollout);
    IF TG_OP = 'INSERT' OR NEW.rule <> OLD.rule THEN
        PERFORM require_rule(NEW.rule, 'rollout_steps.rule');
        UPDATE rules AS r SET rollout = 0 WHERE r.key = NEW.rule AND r.rollout <> 0;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER rollout_steps_normalise BEFORE INSERT OR UPDATE ON rollout_steps
    FOR EACH ROW EXECUTE FUNCTION normalise_rollout_step();

CREATE FUNCTION normalise_release_note() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF NEW.release IS NOT NULL AND NOT EXISTS (SELECT FROM releases AS r WHERE r.id = NEW.release) THEN
        RAISE foreign_key_violation USING
            MESSAGE = format('release_notes.release: there is no release %s', NEW.release),
            HINT = 'Add the release first. Their numbers are listed by: SELECT id, bundle, platform, version FROM releases;',
            SCHEMA = 'public', TABLE = 'release_notes', COLUMN = 'release', CONSTRAINT = 'release_notes_release_fkey';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER release_notes_normalise BEFORE INSERT OR UPDATE OF release ON release_notes
    FOR EACH ROW EXECUTE FUNCTION normalise_release_note();

-- PostgreSQL's own message for NULL shows the whole row, and has no hint.
CREATE FUNCTION refuse_null() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    missing record;
BEGIN
    SELECT a.attname AS name, a.atthasdef AS has_default, col_description(TG_RELID, a.attnum) AS description INTO missing
      FROM pg_attribute AS a
     WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND a.attnotnull AND to_jsonb(NEW) -> a.attname = 'null'
     ORDER BY a.attnum
     LIMIT 1;
    RAISE not_null_violation USING
        MESSAGE = format('%s.%s: NULL, where a value is needed', TG_TABLE_NAME, missing.name),
        HINT = CASE WHEN missing.has_default THEN 'Leave the column out, or write a value. ' ELSE 'Write a value. ' END
            || missing.description,
        SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = missing.name;
END
$$;

DO $$
DECLARE
    policy_table record;
BEGIN
    FOR policy_table IN
        SELECT a.attrelid::regclass AS name, string_agg(format('NEW.%I IS NULL', a.attname), ' OR ') AS is_incomplete
          FROM pg_attribute AS a
         WHERE a.attrelid IN (
                   'apps'::regclass, 'store_links'::regclass, 'feed_templates'::regclass, 'releases'::regclass,
                   'release_notes'::regclass, 'rules'::regclass, 'rule_texts'::regclass, 'rollout_steps'::regclass
               )
           AND a.attnum > 0 AND a.attnotnull AND a.attidentity = ''
           -- normalise_rule says what NULL is of a rollout.
           AND (a.attrelid, a.attname) <> ('rules'::regclass, 'rollout')
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

COMMENT ON FUNCTION normalise_store_link() IS
    'Trigger: stores the bundle as apps spells it, the platform in lower case.';
COMMENT ON FUNCTION normalise_feed_template() IS 'Trigger: stores the bundle as apps spells it.';
COMMENT ON FUNCTION normalise_release() IS
    'Trigger: stores the bundle as apps spells it, the platform in lower case, each region once, and when staging'
    ' ended.';
COMMENT ON FUNCTION normalise_rule() IS
    'Trigger: stores the bundle as apps spells it, the platforms in lower case, what is in a list once, a percentage'
    ' without zeros at its end and 36 hours as a day and 12 hours; refuses a new key and a missing rollout.';
COMMENT ON FUNCTION normalise_rule_text() IS 'Trigger: refuses the text of a rule that there is not.';
COMMENT ON FUNCTION normalise_rollout_step() IS
    'Trigger: the first step of a rule sets its own percentage to 0. Refuses the step of a rule that there is not.';
COMMENT ON FUNCTION normalise_release_note() IS 'Trigger: refuses the notes of a release that there is not.';
COMMENT ON FUNCTION refuse_null() IS 'Trigger: refuses NULL where a value is needed, and says what the column is.';

-- What is probably not meant, and yet could be. Each function says what holds of rows as they stand: an edit raises what it
-- brought about, policy_warnings (0009) lists all.

CREATE FUNCTION placeholder_warnings(value text, place text) RETURNS TABLE (warning text, hint text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
BEGIN
    RETURN QUERY
    SELECT format('%s: %s is not filled in', place, braces.name[1]),
           'Only {app} and {target} are; anything else is sent as it is written.'
      FROM regexp_matches(value, '\{[A-Za-z_][A-Za-z0-9_.-]{0,30}\}', 'g') AS braces(name)
     WHERE braces.name[1] NOT IN ('{app}', '{target}')
     LIMIT 1;
END
$$;

COMMENT ON FUNCTION placeholder_warnings(text, text) IS 'Braces in a text that look like a placeholder and are none.';

CREATE FUNCTION platform_meant(platform text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
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

COMMENT ON FUNCTION platform_meant(text) IS
    'The usual name of a platform that people also write in another way; null for any other.';

CREATE FUNCTION platform_warnings(subject text, platform text) RETURNS TABLE (warning text, hint text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT subject || ' is on ' || platform,
           format(
               'Is %s meant? It is for clients that say just that; if none does, it reaches nobody there.',
               platform_meant(platform)
           )
     WHERE platform_meant(platform) IS NOT NULL;
END
$$;

COMMENT ON FUNCTION platform_warnings(text, text) IS 'A platform that is probably not meant.';

CREATE FUNCTION rule_warnings(rule rules)
    RETURNS TABLE (warning text, detail text, hint text, column_name text, constraint_name text)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path = public, pg_temp
AS $$
#variable_conflict error
DECLARE
    usual CONSTANT text[] := '{ios,android,macos,windows,linux,tvos,watchos,visionos,web}';
    short CONSTANT text := 'A number alone is read as seconds. If days are meant, write the unit: ''2 days''.';
    name CONSTANT text := quoted(rule.key);
    strange text[];
    meant text;
BEGIN
    IF rule.platforms IS NOT NULL THEN
        -- Of an app that has neither releases nor links nothing is known, so only unusual names stand out.
        WITH known AS MATERIALIZED (
            SELECT r.platform FROM releases AS r WHERE rule.bundle IS NULL OR r.bundle = rule.bundle
             UNION
            SELECT s.platform FROM store_links AS s WHERE rule.bundle IS NULL OR s.bundle = rule.bundle
        )
        SELECT array_agg(p.platform ORDER BY p.place), string_agg(DISTINCT platform_meant(p.platform), ', ')
          INTO strange, meant
          FROM unnest(rule.platforms) WITH ORDINALITY AS p(platform, place)
         WHERE NOT EXISTS (SELECT FROM known WHERE known.platform = p.platform)
           AND (EXISTS (SELECT FROM known) OR p.platform <> ALL (usual));
    END IF;
    RETURN QUERY
    SELECT p.warning, format('It is in rule %s.', rule.key), p.hint, field.name, 'rules_placeholder'
      FROM (VALUES ('title', rule.title), ('text', rule.text)) AS field(name, value)
     CROSS JOIN LATERAL placeholder_warnings(field.value, 'rules.' || field.name) AS p;
    RETURN QUERY
    SELECT w.warning, w.detail, w.hint, w.column_name, w.constraint_name
      FROM (
          VALUES (
              rule.soak > '0' AND rule.target IS NULL AND NOT rule.lockout,
              format('rule %s: soak has no effect without a target or a lockout', name),
              format('Rule %s has a soak.', rule.key),
              'Set target or lockout: no other rule asks how long a release has been live. Or set soak to NULL.',
              'soak', 'rules_soak_without_effect'
          ), (
              rule.lockout_without_update AND NOT rule.lockout,
              format('rule %s: lockout_without_update has no effect without lockout', name),
              format('Rule %s is no lockout.', rule.key),
              'Set lockout as well, or set lockout_without_update to false.',
              'lockout_without_update', 'rules_lockout_without_effect'
          ), (
              -- A lockout that needs a way out is sent without it to clients that have none, and then with hints.
              rule.lockout AND rule.lockout_without_update
                  AND (rule.remind IS NOT NULL OR rule.shows IS NOT NULL OR rule.skippable),
              format('rule %s: remind, shows and skippable have no effect with lockout_without_update', name),
              format('Rule %s has hints.', rule.key),
              'A lockout is shown at every start. Set remind and shows to NULL, and skippable to false.',
              'lockout_without_update', 'rules_hints_without_effect'
          ), (
              rule.rollout > 0 AND rule.rollout < 1,
              format(
                  'rule %s: rollout is in percent, so %s is one install in %s', name, rule.rollout,
                  round(100 / nullif(rule.rollout, 0))
              ),
              format('Rule %s has rollout %s.', rule.key, rule.rollout),
              format('If %s %% is meant, set rollout to %1$s.', trim_scale(rule.rollout * 100)),
              'rollout', 'rules_rollout_small'
          ), (
              rule.enabled AND rule.ends_at <= clock_timestamp(),
              format(
                  'rule %s is enabled, but ended at %s, so it reaches nobody', name,
                  to_char(rule.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
              ),
              format('Rule %s has ended.', rule.key),
              'Set ends_at to a time to come, or to NULL for no end.',
              'ends_at', 'rules_ended'
          ), (
              rule.soak > '0' AND rule.soak < '1 minute',
              format('rule %s: soak is %s seconds', name, trim_scale(extract(epoch FROM rule.soak))),
              format('Rule %s has a soak below a minute.', rule.key), short, 'soak', 'rules_time_short'
          ), (
              rule.remind < '1 minute',
              format('rule %s: remind is %s seconds', name, trim_scale(extract(epoch FROM rule.remind))),
              format('Rule %s has a remind below a minute.', rule.key), short, 'remind', 'rules_time_short'
          ), (
              strange IS NOT NULL,
              format('rule %s: no release and no store link is on %s', name, array_to_string(strange, ', ')),
              format('Rule %s names %s.', rule.key, array_to_string(strange, ', ')),
              coalesce('Is ' || meant || ' meant? ', '')
                  || 'It is for clients that say just that; if none does, it reaches nobody there.',
              'platforms', 'platform_unusual'
          )
      ) AS w(holds, warning, detail, hint, column_name, constraint_name)
     WHERE w.holds;
END
$$;

COMMENT ON FUNCTION rule_warnings(rules) IS
    'What is probably not meant in a rule: braces that are not filled in, what has no effect (soak, lockout_without_update, hints of a lockout, an end in'
    ' the past), a rollout below 1 %, a time below a minute, and platforms that nothing else names.';

CREATE FUNCTION warn_of_rule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT w.* FROM rule_warnings(NEW) AS w
         WHERE TG_OP = 'INSERT' OR w.warning NOT IN (SELECT o.warning FROM rule_warnings(OLD) AS o)
    LOOP
        RAISE WARNING USING
            MESSAGE = found.warning, DETAIL = found.detail, HINT = found.hint,
            SCHEMA = 'public', TABLE = 'rules', COLUMN = found.column_name, CONSTRAINT = found.constraint_name;
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_rule() IS
    'Trigger: warns of what this edit brought about of rule_warnings.';

CREATE TRIGGER rules_warning
    AFTER INSERT OR UPDATE OF
        title, text, bundle, platforms, target, soak, rollout, enabled, ends_at, remind, shows, skippable, lockout,
        lockout_without_update
    ON rules
    FOR EACH ROW EXECUTE FUNCTION warn_of_rule();

CREATE FUNCTION store_link_warnings(link store_links) RETURNS TABLE (warning text, hint text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT p.* FROM platform_warnings(format('store link of %s', link.bundle), link.platform) AS p;
END
$$;

COMMENT ON FUNCTION store_link_warnings(store_links) IS 'What is probably not meant in a store link: its platform.';

CREATE FUNCTION warn_of_store_link() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT w.* FROM store_link_warnings(NEW) AS w WHERE TG_OP = 'INSERT' OR NEW.platform <> OLD.platform
    LOOP
        RAISE WARNING USING
            MESSAGE = found.warning, HINT = found.hint,
            SCHEMA = 'public', TABLE = 'store_links', CONSTRAINT = 'platform_unusual';
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_store_link() IS 'Trigger: warns of a platform that is probably not meant.';

CREATE TRIGGER store_links_warning AFTER INSERT OR UPDATE OF platform ON store_links
    FOR EACH ROW EXECUTE FUNCTION warn_of_store_link();

CREATE FUNCTION release_words(release releases) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN CASE
            WHEN release.staged THEN 'staged'
            WHEN release.live_at IS NULL THEN 'without a date'
            ELSE CASE WHEN release.live_at <= now() THEN 'live since ' ELSE 'live from ' END || time_text(release.live_at)
        END
        || coalesce(', build ' || release.build, '')
        || coalesce(', min_os ' || release.min_os, '')
        || coalesce(', in ' || array_to_string(release.regions, ', '), '')
        || coalesce(', until ' || time_text(release.withdrawn_at), '');
END
$$;

COMMENT ON FUNCTION release_words(releases) IS 'What is recorded of a release, in a few words: live since ..., min_os 16.';

CREATE FUNCTION release_warnings(release releases)
    RETURNS TABLE (warning text, detail text, hint text, column_name text, constraint_name text)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path = public, pg_temp
AS $$
#variable_conflict error
DECLARE
    name CONSTANT text := format('release %s of %s on %s', release.version, release.bundle, release.platform);
    about CONSTANT text := 'R' || substr(name, 2) || '.';
BEGIN
    RETURN QUERY
    SELECT p.warning, about, p.hint, 'platform', 'platform_unusual'
      FROM platform_warnings(format('release %s of %s', release.version, release.bundle), release.platform) AS p
     UNION ALL
    SELECT name || ' is staged, so live_at has no effect',
           about,
           'Leave live_at out: it becomes the time at which staged is set to false.',
           'live_at', 'releases_staged_live_at'
     WHERE release.staged AND release.live_at IS NOT NULL
     UNION ALL
    SELECT name || ' has no live_at, so nobody is offered it',
           about,
           format('Once users can get it: UPDATE releases SET live_at = now() WHERE id = %s;', release.id),
           'live_at', 'releases_no_live_at'
     WHERE release.live_at IS NULL AND NOT release.staged AND release.withdrawn_at IS NULL;
    RETURN QUERY
    SELECT format('%s was there already: %s', name, release_words(r)),
           about,
           format('To change that one instead: UPDATE releases SET ... WHERE id = %s;', r.id),
           'version', 'releases_again'
      FROM releases AS r
     WHERE r.bundle = release.bundle
       AND r.platform = release.platform
       AND version_key(r.version) = version_key(release.version)
       AND r.id < release.id
       AND (version_key(r.build) = version_key(release.build)) IS NOT FALSE
       AND (r.regions && release.regions) IS NOT FALSE
       AND (r.withdrawn_at > greatest(clock_timestamp(), release.live_at)) IS NOT FALSE
       AND (release.withdrawn_at > greatest(clock_timestamp(), r.live_at)) IS NOT FALSE
     ORDER BY r.id
     LIMIT 1;
END
$$;

COMMENT ON FUNCTION release_warnings(releases) IS
    'What is probably not meant in a release: its platform, a time that staging overrides or that is missing, and that it'
    ' was there already, for some of the same regions at the same time.';

CREATE FUNCTION warn_of_release() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT w.* FROM release_warnings(NEW) AS w
         WHERE TG_OP = 'INSERT'
            OR w.warning NOT IN (SELECT o.warning FROM release_warnings(OLD) AS o)
               -- Whoever takes a release back into stages keeps its time.
               AND (w.constraint_name <> 'releases_staged_live_at' OR NEW.live_at IS DISTINCT FROM OLD.live_at)
    LOOP
        RAISE WARNING USING
            MESSAGE = found.warning, DETAIL = found.detail, HINT = found.hint,
            SCHEMA = 'public', TABLE = 'releases', COLUMN = found.column_name, CONSTRAINT = found.constraint_name;
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_release() IS 'Trigger: warns of what this edit brought about of release_warnings.';

CREATE TRIGGER releases_warning AFTER INSERT OR UPDATE OF platform, staged, live_at ON releases
    FOR EACH ROW EXECUTE FUNCTION warn_of_release();

CREATE FUNCTION rule_text_warnings(translation rule_texts) RETURNS TABLE (warning text, detail text, hint text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 1
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT p.warning, format('It is in rule %s, %s.', translation.rule, translation.language), p.hint
      FROM (VALUES ('title', translation.title), ('text', translation.text)) AS field(name, value)
     CROSS JOIN LATERAL placeholder_warnings(field.value, 'rule_texts.' || field.name) AS p;
END
$$;

COMMENT ON FUNCTION rule_text_warnings(rule_texts) IS
    'What is probably not meant in a translation: braces that are not filled in.';

CREATE FUNCTION warn_of_rule_text() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT w.* FROM rule_text_warnings(NEW) AS w
         WHERE TG_OP = 'INSERT' OR w.warning NOT IN (SELECT o.warning FROM rule_text_warnings(OLD) AS o)
    LOOP
        RAISE WARNING USING
            MESSAGE = found.warning, DETAIL = found.detail, HINT = found.hint,
            SCHEMA = 'public', TABLE = 'rule_texts', CONSTRAINT = 'rule_texts_placeholder';
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_rule_text() IS 'Trigger: warns of braces in a translation that are not filled in.';

CREATE TRIGGER rule_texts_warning AFTER INSERT OR UPDATE OF title, text ON rule_texts
    FOR EACH ROW EXECUTE FUNCTION warn_of_rule_text();
