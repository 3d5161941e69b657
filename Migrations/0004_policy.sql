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
    seller text CONSTRAINT apps_seller_check CHECK (check_text(seller, 'apps.seller', 200)),
    codepush_keys text[] COLLATE "C"
        CONSTRAINT apps_codepush_keys_check CHECK (check_codepush_keys(codepush_keys, 'apps.codepush_keys'))
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
COMMENT ON COLUMN apps.codepush_keys IS
    'Deployment keys that CodePush clients of the app send, of 10 to 100 characters; no two apps have the same. Its bundle'
    ' is always one. Null: no others.';

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
    'Percentage of the installations that the rule reaches, 0 to 100, at most two decimals; rollout_steps come'
    ' before it.';
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
    'The planned ramp of a rule: from each time on, that percentage holds, without anybody being awake for it.';
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

CREATE FUNCTION normalise_app() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    NEW.codepush_keys := distinct_items(NEW.codepush_keys, NEW.codepush_keys);
    RETURN NEW;
END
$$;

CREATE TRIGGER apps_normalise BEFORE INSERT OR UPDATE ON apps FOR EACH ROW EXECUTE FUNCTION normalise_app();

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

COMMENT ON FUNCTION normalise_app() IS 'Trigger: stores each deployment key of CodePush once.';
COMMENT ON FUNCTION normalise_store_link() IS
    'Trigger: stores the bundle as apps spells it, the platform in lower case.';
COMMENT ON FUNCTION normalise_feed_template() IS 'Trigger: stores the bundle as apps spells it.';
COMMENT ON FUNCTION normalise_release() IS
    'Trigger: stores the bundle as apps spells it, the platform in lower case, each region once, and when staging'
    ' ended.';
COMMENT ON FUNCTION normalise_rule() IS
    'Trigger: stores the bundle as apps spells it, the platforms in lower case, and what is in a list once; refuses a'
    ' new key and a missing rollout.';

-- What is probably not meant, and yet could be.

CREATE FUNCTION warn_of_placeholder(value text, place text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    placeholder CONSTANT text := (
        SELECT braces.name[1]
          FROM regexp_matches(value, '\{[A-Za-z_][A-Za-z0-9_.-]{0,30}\}', 'g') AS braces(name)
         WHERE braces.name[1] NOT IN ('{app}', '{target}')
         LIMIT 1
    );
BEGIN
    IF placeholder IS NOT NULL THEN
        RAISE WARNING USING
            MESSAGE = format('%s: %s is not filled in', place, placeholder),
            HINT = 'Only {app} and {target} are; anything else is sent as it is written.';
    END IF;
END
$$;

COMMENT ON FUNCTION warn_of_placeholder(text, text) IS
    'Warns of braces in a text that look like a placeholder and are none.';

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

CREATE FUNCTION warn_of_platforms(table_name text, subject text, platforms text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    meant CONSTANT text := (
        SELECT string_agg(DISTINCT platform_meant(name), ', ') FROM unnest(platforms) AS name
    );
BEGIN
    RAISE WARNING USING
        MESSAGE = subject || ' is on ' || array_to_string(platforms, ', '),
        HINT = CASE WHEN meant IS NULL THEN '' ELSE format('Is %s meant? ', meant) END
            || 'It is for clients that say just that; if none does, it reaches nobody there.',
        SCHEMA = 'public', TABLE = table_name, CONSTRAINT = 'platform_unusual';
END
$$;

COMMENT ON FUNCTION warn_of_platforms(text, text, text[]) IS 'Warns of platforms that are probably not meant.';

CREATE FUNCTION warn_of_rule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    usual CONSTANT text[] := '{ios,android,macos,windows,linux,tvos,watchos,visionos,web}';
    strange text[];
BEGIN
    IF TG_OP = 'INSERT' OR NEW.title <> OLD.title THEN
        PERFORM warn_of_placeholder(NEW.title, 'rules.title');
    END IF;
    IF TG_OP = 'INSERT' OR NEW.text <> OLD.text THEN
        PERFORM warn_of_placeholder(NEW.text, 'rules.text');
    END IF;
    IF NEW.soak > '0' AND NEW.target IS NULL AND NOT NEW.lockout AND (
        TG_OP = 'INSERT' OR (NEW.soak, NEW.target, NEW.lockout) IS DISTINCT FROM (OLD.soak, OLD.target, OLD.lockout)
    ) THEN
        RAISE WARNING USING
            MESSAGE = format('rule %s: soak has no effect without a target or a lockout', quoted(NEW.key)),
            HINT = 'Set target or lockout: no other rule asks how long a release has been live. Or set soak to NULL.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'soak', CONSTRAINT = 'rules_soak_without_effect';
    END IF;
    IF NEW.lockout_without_update AND NOT NEW.lockout AND (
        TG_OP = 'INSERT' OR (NEW.lockout_without_update, NEW.lockout) <> (OLD.lockout_without_update, OLD.lockout)
    ) THEN
        RAISE WARNING USING
            MESSAGE = format('rule %s: lockout_without_update has no effect without lockout', quoted(NEW.key)),
            HINT = 'Set lockout as well, or set lockout_without_update to false.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'lockout_without_update',
            CONSTRAINT = 'rules_lockout_without_effect';
    END IF;
    -- A lockout that needs a way out is sent without it to clients that have none, and then with hints.
    IF NEW.lockout AND NEW.lockout_without_update
        AND (NEW.remind IS NOT NULL OR NEW.shows IS NOT NULL OR NEW.skippable)
        AND (
            TG_OP = 'INSERT'
            OR (NEW.lockout, NEW.lockout_without_update, NEW.remind, NEW.shows, NEW.skippable)
                IS DISTINCT FROM (OLD.lockout, OLD.lockout_without_update, OLD.remind, OLD.shows, OLD.skippable)
        )
    THEN
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s: remind, shows and skippable have no effect with lockout_without_update', quoted(NEW.key)
            ),
            DETAIL = format('Rule %s has hints.', NEW.key),
            HINT = 'A lockout is shown at every start. Set remind and shows to NULL, and skippable to false.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'lockout_without_update',
            CONSTRAINT = 'rules_hints_without_effect';
    END IF;
    IF NEW.rollout > 0 AND NEW.rollout < 1 AND (TG_OP = 'INSERT' OR NEW.rollout <> OLD.rollout) THEN
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s: rollout is in percent, so %s is one install in %s',
                quoted(NEW.key), NEW.rollout, round(100 / NEW.rollout)
            ),
            DETAIL = format('Rule %s has rollout %s.', NEW.key, NEW.rollout),
            HINT = format('If %s %% is meant, set rollout to %1$s.', trim_scale(NEW.rollout * 100)),
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'rollout', CONSTRAINT = 'rules_rollout_small';
    END IF;
    IF NEW.enabled AND NEW.ends_at <= clock_timestamp() AND (
        TG_OP = 'INSERT' OR (NEW.enabled, NEW.ends_at) IS DISTINCT FROM (OLD.enabled, OLD.ends_at)
    ) THEN
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s is enabled, but ended at %s, so it reaches nobody', quoted(NEW.key),
                to_char(NEW.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            ),
            DETAIL = format('Rule %s has ended.', NEW.key),
            HINT = 'Set ends_at to a time to come, or to NULL for no end.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'ends_at', CONSTRAINT = 'rules_ended';
    END IF;
    IF NEW.enabled AND NEW.lockout AND NEW.bundle IS NULL AND (
        TG_OP = 'INSERT' OR (NEW.enabled, NEW.lockout, NEW.bundle) IS DISTINCT FROM (OLD.enabled, OLD.lockout, OLD.bundle)
    ) THEN
        -- Maintenance may well be of everything; versions are of one app.
        IF NEW.lockout_without_update THEN
            RAISE NOTICE USING
                MESSAGE = format('rule %s locks out in every app', quoted(NEW.key)),
                HINT = 'If one app is meant, set bundle.';
        ELSE
            RAISE WARNING USING
                MESSAGE = format('rule %s locks out in every app', quoted(NEW.key)),
                DETAIL = format('Rule %s has no bundle.', NEW.key),
                HINT = 'If one app is meant, set bundle.',
                SCHEMA = 'public', TABLE = 'rules', COLUMN = 'bundle', CONSTRAINT = 'rules_every_app';
        END IF;
    END IF;
    IF NEW.platforms IS NULL OR TG_OP = 'UPDATE' AND NEW.platforms IS NOT DISTINCT FROM OLD.platforms THEN
        RETURN NULL;
    END IF;
    -- Of an app that has neither releases nor links nothing is known, so only unusual names stand out.
    WITH known AS MATERIALIZED (
        SELECT r.platform FROM releases AS r WHERE NEW.bundle IS NULL OR r.bundle = NEW.bundle
         UNION
        SELECT s.platform FROM store_links AS s WHERE NEW.bundle IS NULL OR s.bundle = NEW.bundle
    )
    SELECT array_agg(p.platform ORDER BY p.place) INTO strange
      FROM unnest(NEW.platforms) WITH ORDINALITY AS p(platform, place)
     WHERE NOT EXISTS (SELECT FROM known WHERE known.platform = p.platform)
       AND (EXISTS (SELECT FROM known) OR p.platform <> ALL (usual));
    IF strange IS NOT NULL THEN
        PERFORM warn_of_platforms(
            'rules', format('rule %s: no release and no store link', quoted(NEW.key)), strange
        );
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_rule() IS
    'Trigger: warns of what has no effect in a rule (braces that are not filled in, soak, lockout_without_update, hints of'
    ' a lockout, an end in the past), of a rollout below 1 %, of a lockout in every app, and of platforms that nothing else names.';

CREATE TRIGGER rules_warning
    AFTER INSERT OR UPDATE OF
        title, text, bundle, platforms, target, soak, rollout, enabled, ends_at, remind, shows, skippable, lockout,
        lockout_without_update
    ON rules
    FOR EACH ROW EXECUTE FUNCTION warn_of_rule();

CREATE FUNCTION warn_of_store_link() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF platform_meant(NEW.platform) IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.platform <> OLD.platform) THEN
        PERFORM warn_of_platforms('store_links', format('store link of %s', NEW.bundle), ARRAY[NEW.platform]);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_store_link() IS 'Trigger: warns of a platform that is probably not meant.';

CREATE TRIGGER store_links_warning AFTER INSERT OR UPDATE OF platform ON store_links
    FOR EACH ROW EXECUTE FUNCTION warn_of_store_link();

CREATE FUNCTION warn_of_release() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    other releases;
BEGIN
    IF platform_meant(NEW.platform) IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.platform <> OLD.platform) THEN
        PERFORM warn_of_platforms(
            'releases', format('release %s of %s', NEW.version, NEW.bundle), ARRAY[NEW.platform]
        );
    END IF;
    IF NEW.staged AND NEW.live_at IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.live_at IS DISTINCT FROM OLD.live_at) THEN
        RAISE WARNING USING
            MESSAGE = format(
                'release %s of %s on %s is staged, so live_at has no effect', NEW.version, NEW.bundle, NEW.platform
            ),
            DETAIL = format('Release %s of %s on %s.', NEW.version, NEW.bundle, NEW.platform),
            HINT = 'Leave live_at out: it becomes the time at which staged is set to false.',
            SCHEMA = 'public', TABLE = 'releases', COLUMN = 'live_at', CONSTRAINT = 'releases_staged_live_at';
    END IF;
    IF TG_OP = 'INSERT' THEN
        SELECT r.* INTO other
          FROM releases AS r
         WHERE r.bundle = NEW.bundle
           AND r.platform = NEW.platform
           AND version_key(r.version) = version_key(NEW.version)
           AND version_key(r.build) IS NOT DISTINCT FROM version_key(NEW.build)
           AND version_key(r.min_os) IS NOT DISTINCT FROM version_key(NEW.min_os)
           AND (r.regions IS NULL OR NEW.regions IS NULL OR r.regions && NEW.regions)
           AND (r.withdrawn_at IS NULL OR r.withdrawn_at > coalesce(NEW.live_at, clock_timestamp()))
           AND r.id <> NEW.id
         ORDER BY r.id
         LIMIT 1;
        IF FOUND THEN
            RAISE WARNING USING
                MESSAGE = format(
                    'release %s of %s on %s was there already, for the same countries', NEW.version, NEW.bundle,
                    NEW.platform
                ),
                DETAIL = format('Release %s of %s on %s.', NEW.version, NEW.bundle, NEW.platform),
                HINT = format('To change that one instead: UPDATE releases SET ... WHERE id = %s;', other.id),
                SCHEMA = 'public', TABLE = 'releases', COLUMN = 'version', CONSTRAINT = 'releases_again';
        END IF;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_release() IS
    'Trigger: warns of a platform that is probably not meant, of a time that staging overrides, and of a release that was'
    ' there already.';

CREATE TRIGGER releases_warning AFTER INSERT OR UPDATE OF platform, staged, live_at ON releases
    FOR EACH ROW EXECUTE FUNCTION warn_of_release();

CREATE FUNCTION warn_of_rule_text() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' OR (NEW.title, NEW.text) <> (OLD.title, OLD.text) THEN
        PERFORM warn_of_placeholder(NEW.title, 'rule_texts.title');
        PERFORM warn_of_placeholder(NEW.text, 'rule_texts.text');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_rule_text() IS 'Trigger: warns of braces in a translation that are not filled in.';

CREATE TRIGGER rule_texts_warning AFTER INSERT OR UPDATE OF title, text ON rule_texts
    FOR EACH ROW EXECUTE FUNCTION warn_of_rule_text();
