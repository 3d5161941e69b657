-- The tables of the policy: apps with their store links and templates of feeds, releases with their notes, and rules
-- with their texts and rollout steps.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- A CHECK of one column has the name TABLE_COLUMN_check; of several it must be given.

CREATE TABLE apps (
    bundle text COLLATE "C" PRIMARY KEY CHECK (check_bundle(bundle, 'apps.bundle')),
    name text CONSTRAINT apps_name_check CHECK (check_text(name, 'apps.name', 200) AND check_ends(name, 'apps.name')),
    paused boolean NOT NULL DEFAULT false,
    note text CHECK (check_note(note, 'apps.note')),
    -- Clients read it out of JSON, where greater numbers are not exact.
    store_id bigint CHECK (
        store_id IS NULL OR store_id BETWEEN 1 AND 9007199254740991
        OR refuse(
            'apps.store_id', format('%s is not the number of an app in a store', store_id),
            'Write the digits behind "id" in the address of the app in the App Store: 1234567890'
        )
    ),
    seller text CHECK (check_text(seller, 'apps.seller', 200))
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
    bundle text COLLATE "C" NOT NULL REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    platform text COLLATE "C" NOT NULL CHECK (check_platform(platform, 'store_links.platform')),
    link text NOT NULL CHECK (check_link(link, 'store_links.link')),
    PRIMARY KEY (bundle, platform) DEFERRABLE
);

-- The keys of tables below apps, releases and rules are deferrable, so that one statement can shift or swap rows. A
-- publication cannot know rows by such a key, so it knows them by all columns.
ALTER TABLE store_links REPLICA IDENTITY FULL;

COMMENT ON TABLE store_links IS 'The address of an app in each store: what a rule with the link "store" sends to a client.';
COMMENT ON COLUMN store_links.bundle IS 'The app, stored as apps spells it.';
COMMENT ON COLUMN store_links.platform IS 'The platform, stored in lower case; ipados, iphone os and iphoneos become ios.';
COMMENT ON COLUMN store_links.link IS
    'Address of the app in the store: https, http, itms-apps, itms-appss, macappstore, market or ms-windows-store,'
    ' ASCII, at most 2048 bytes.';

CREATE FUNCTION versiongate_internal.check_content_type(value text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    known CONSTANT text[] :=
        '{application/json,application/xml,application/x-plist,application/rss+xml,text/xml,text/plain}';
    bare CONSTANT text := btrim(lower(split_part(value, ';', 1) COLLATE "C"));
BEGIN
    RETURN value = ANY (known) OR refuse(
        place, quoted(value) || ' is not a content type of feeds',
        CASE
            WHEN bare = ANY (known) THEN format('Write %s, without parameters: documents are UTF-8.', bare)
            ELSE 'Write one of ' || array_to_string(known, ', ') || '.'
        END
    );
END
$$;

CREATE TABLE feed_templates (
    bundle text COLLATE "C" NOT NULL REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL CONSTRAINT feed_templates_name_check CHECK (
        (
            name <> ALL ('{iversion.plist,updates.json,prince-of-versions.json,appcast.xml}')
            OR refuse(
                'feed_templates.name', quoted(name) || ' is the name of a built-in format',
                'Choose another name: that format already uses this address.'
            )
        ) AND (
            name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'
            OR refuse(
                'feed_templates.name', quoted(name) || ' is not the name of a feed',
                'A name is 1 to 64 of a-z, 0-9, ".", "_" and "-", and begins with a letter or digit: versions.json'
            )
        )
    ),
    content_type text COLLATE "C" NOT NULL CHECK (check_content_type(content_type, 'feed_templates.content_type')),
    body text NOT NULL CONSTRAINT feed_templates_body_check CHECK (
        check_note(body, 'feed_templates.body', 65536)
        AND (
            body ~ '[^ \t\n]'
            OR refuse(
                'feed_templates.body', 'an empty template',
                'Write the document, with {{names}} where the values should go.'
            )
        )
    ),
    PRIMARY KEY (bundle, name) DEFERRABLE
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
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bundle text COLLATE "C" NOT NULL REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    platform text COLLATE "C" NOT NULL CHECK (check_platform(platform, 'releases.platform')),
    version text COLLATE "C" NOT NULL CHECK (check_version(version, 'releases.version')),
    build text COLLATE "C" CHECK (check_version(build, 'releases.build')),
    min_os text COLLATE "C" CHECK (check_version(min_os, 'releases.min_os')),
    regions text[] COLLATE "C" CHECK (check_list(regions, 'releases.regions')),
    live_at timestamptz CHECK (check_time(live_at, 'releases.live_at')),
    staged boolean NOT NULL DEFAULT false,
    withdrawn_at timestamptz CONSTRAINT releases_withdrawn_at_check CHECK (
        check_time(withdrawn_at, 'releases.withdrawn_at')
        AND (
            withdrawn_at IS NULL OR live_at IS NULL OR withdrawn_at >= live_at
            OR refuse(
                'releases.withdrawn_at', 'withdrawn before it was live',
                'Set withdrawn_at to live_at for a release that never got to users, or delete the row.',
                command => 'Give both the same time for a release that never got to users, or remove it.',
                file => 'Set withdrawn_at to live_at for a release that never got to users, or take it out of the file.'
            )
        )
    ),
    note text CHECK (check_note(note, 'releases.note'))
);

CREATE INDEX releases_version_idx ON releases (bundle, platform, version_key(version));

COMMENT ON TABLE releases IS 'Versions that users can get. A version may have several rows, with different regions and times.';
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
COMMENT ON COLUMN releases.staged IS 'True: the store gives it to some users only (Google Play), so it is offered to nobody.';
COMMENT ON COLUMN releases.withdrawn_at IS 'When it went, or goes, out of the store; null: it stays.';
COMMENT ON COLUMN releases.note IS 'For the people who edit; never sent.';

CREATE TABLE release_notes (
    release bigint NOT NULL REFERENCES releases ON DELETE CASCADE,
    language text COLLATE "C" NOT NULL CHECK (check_language(language, 'release_notes.language')),
    text text NOT NULL CHECK (check_text(text, 'release_notes.text', 4000)),
    PRIMARY KEY (release, language) DEFERRABLE,
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
    key text COLLATE "C" PRIMARY KEY CHECK (check_key(key, 'rules.key')),
    bundle text COLLATE "C" REFERENCES apps ON UPDATE CASCADE ON DELETE CASCADE,
    enabled boolean NOT NULL DEFAULT false,
    position integer NOT NULL DEFAULT 0,
    versions text COLLATE "C" CHECK (check_version_range(versions, 'rules.versions')),
    builds text COLLATE "C" CHECK (check_version_range(builds, 'rules.builds')),
    os text COLLATE "C" CHECK (check_version_range(os, 'rules.os')),
    platforms text[] COLLATE "C" CHECK (check_list(platforms, 'rules.platforms')),
    regions text[] COLLATE "C" CHECK (check_list(regions, 'rules.regions')),
    languages text[] COLLATE "C" CHECK (check_list(languages, 'rules.languages')),
    attributes jsonb CHECK (check_attributes(attributes, 'rules.attributes')),
    target text COLLATE "C" CONSTRAINT rules_target_check CHECK (
        check_version(target, 'rules.target')
        AND (
            target IS NULL OR bundle IS NOT NULL
            OR refuse(
                'rules.target', 'a target without an app', 'Set bundle: the target is one of its releases.',
                command => 'Give --bundle: the target is one of its releases.'
            )
        )
    ),
    soak interval CHECK (check_duration(soak, 'rules.soak')),
    rollout numeric NOT NULL DEFAULT 100 CHECK (check_percentage(rollout, 'rules.rollout')),
    held_at timestamptz CHECK (check_time(held_at, 'rules.held_at')),
    starts_at timestamptz CHECK (check_time(starts_at, 'rules.starts_at')),
    ends_at timestamptz CONSTRAINT rules_ends_at_check CHECK (
        check_time(ends_at, 'rules.ends_at')
        AND (
            starts_at IS NULL OR ends_at IS NULL OR ends_at > starts_at
            OR refuse(
                'rules.ends_at', 'the end is not after the start', 'Set ends_at to a time after starts_at.',
                command => 'Give --ends-at a time after --starts-at.'
            )
        )
    ),
    title text NOT NULL CONSTRAINT rules_title_check CHECK (
        check_text(title, 'rules.title', 200) AND check_placeholders(title, 'rules.title', target, ends_at)
    ),
    text text NOT NULL CONSTRAINT rules_text_check CHECK (
        check_text(text, 'rules.text', 4000) AND check_placeholders(text, 'rules.text', target, ends_at)
    ),
    link text CHECK (link = 'store' OR check_link(link, 'rules.link')),
    remind interval CHECK (check_duration(remind, 'rules.remind')),
    shows integer CHECK (
        shows IS NULL OR shows BETWEEN 1 AND 1000
        OR refuse(
            'rules.shows', shows || ' is not from 1 to 1000',
            'Write how often the message may be shown on one installation.', absent => 'no limit'
        )
    ),
    skippable boolean NOT NULL DEFAULT false,
    lockout boolean NOT NULL DEFAULT false,
    lockout_without_update boolean NOT NULL DEFAULT false,
    fuse numeric CHECK (
        fuse IS NULL OR fuse BETWEEN 0.01 AND 100 AND fuse = round(fuse, 2)
        OR refuse(
            'rules.fuse', format('%s is not a percentage from 0.01 to 100', fuse),
            'Write the percentage of an app''s checks beyond which the lockout is removed, with at most two decimals, such'
            ' as 12.5; nothing is rounded.', absent => 'no fuse'
        )
    ),
    final boolean NOT NULL DEFAULT false,
    note text CHECK (check_note(note, 'rules.note'))
);

CREATE INDEX rules_bundle_idx ON rules (bundle);
CREATE INDEX rules_fuse_idx ON rules (key) WHERE fuse IS NOT NULL;

COMMENT ON TABLE rules IS
    'Whom to send which message. All conditions must hold; null means no condition. A new rule reaches nobody until'
    ' enabled.';
COMMENT ON COLUMN rules.key IS
    'Name of the rule, for ever: the message''s id, and the salt of the rollout. a-z, 0-9, ".", "_", "-", at most 64.';
COMMENT ON COLUMN rules.bundle IS 'The app, stored as apps spells it. Null: every app, also those that are not in apps.';
COMMENT ON COLUMN rules.enabled IS 'False: the rule reaches nobody.';
COMMENT ON COLUMN rules.position IS 'Order of the messages, lowest first; then by key.';
COMMENT ON COLUMN rules.versions IS 'Range of app versions: <1.2, >=2.3 <2.3.5, 1.2.x || 1.4, 1.2 - 1.4, ~1.2.3, ^1.2.3, *';
COMMENT ON COLUMN rules.builds IS 'Range of build numbers, written like versions.';
COMMENT ON COLUMN rules.os IS 'Range of versions of the operating system, written like versions.';
COMMENT ON COLUMN rules.platforms IS 'Platforms: {ios,android}. Stored in lower case; ipados, iphone os and iphoneos become ios.';
COMMENT ON COLUMN rules.regions IS 'Countries: upper-case ISO 3166-1 alpha-2 codes, and XK: {JP,US}';
COMMENT ON COLUMN rules.languages IS
    'Languages, as basic language ranges of RFC 4647: {de,zh-Hant}. zh-Hant matches zh-Hant and zh-Hant-TW. Stored in'
    ' today''s form: iw becomes he, zh-TW zh-Hant-TW.';
COMMENT ON COLUMN rules.attributes IS
    'What other members of the client must be: one of some values, {"channel": ["beta", "nightly"]}, none of some,'
    ' {"tier": {"not": ["staff"]}}, which also holds where it was not sent, or, read as a version, in a range,'
    ' {"stamp": {"range": ">=45 <60"}}.';
COMMENT ON COLUMN rules.target IS
    'The version that clients are asked to reach: the rule applies to those below it who can get it or a later one.';
COMMENT ON COLUMN rules.soak IS
    'How long a release must have been live before this rule counts on it: days, hours, minutes, seconds. A day is'
    ' 24 hours.';
COMMENT ON COLUMN rules.rollout IS
    'Percentage of the installations that the rule reaches, 0 to 100, at most two decimals. With rollout_steps it is 0:'
    ' before the first step the rule reaches nobody.';
COMMENT ON COLUMN rules.held_at IS
    'From when on its rollout steps are held: none after it begins, so the percentage stays. Null: not held. To go on, call'
    ' resume_rule.';
COMMENT ON COLUMN rules.starts_at IS 'From when on it applies, inclusive.';
COMMENT ON COLUMN rules.ends_at IS 'Until when it applies, exclusive.';
COMMENT ON COLUMN rules.title IS
    'Title of the message, 1 to 200 characters. {app}, {target} and {date} are filled in. Translations are in rule_texts.';
COMMENT ON COLUMN rules.text IS
    'Text of the message, 1 to 4000 characters. {app}, {target} and {date} are filled in. Translations are in rule_texts.';
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
COMMENT ON COLUMN rules.fuse IS
    'Percentage of an app''s checks, 0.01 to 100, at most two decimals: where the rule locks out more of them, its lockout is'
    ' removed, or its ramp held. Null: it may lock out any share.';
COMMENT ON COLUMN rules.final IS 'True: when this message is sent, none after it is.';
COMMENT ON COLUMN rules.note IS 'For the people who edit; never sent.';

CREATE TABLE rule_texts (
    rule text COLLATE "C" NOT NULL REFERENCES rules ON UPDATE CASCADE ON DELETE CASCADE,
    language text COLLATE "C" NOT NULL CHECK (check_language(language, 'rule_texts.language')),
    title text NOT NULL CHECK (check_text(title, 'rule_texts.title', 200)),
    text text NOT NULL CHECK (check_text(text, 'rule_texts.text', 4000)),
    PRIMARY KEY (rule, language) DEFERRABLE,
    CONSTRAINT rule_texts_language_key EXCLUDE USING btree (rule WITH =, lower(language) WITH =) DEFERRABLE
);

ALTER TABLE rule_texts REPLICA IDENTITY FULL;

COMMENT ON TABLE rule_texts IS 'Translations of the rules'' messages.';
COMMENT ON COLUMN rule_texts.rule IS 'Key of the rule.';
COMMENT ON COLUMN rule_texts.language IS
    'BCP 47 tag: de, pt-BR, zh-Hant. The best one for the client is found by RFC 4647 lookup; case does not count. Stored'
    ' in today''s form: iw becomes he.';
COMMENT ON COLUMN rule_texts.title IS 'Title of the message in this language, 1 to 200 characters.';
COMMENT ON COLUMN rule_texts.text IS 'Text of the message in this language, 1 to 4000 characters.';

CREATE TABLE rollout_steps (
    rule text COLLATE "C" NOT NULL REFERENCES rules ON UPDATE CASCADE ON DELETE CASCADE,
    at timestamptz NOT NULL CHECK (check_time(at, 'rollout_steps.at')),
    rollout numeric NOT NULL CHECK (check_percentage(rollout, 'rollout_steps.rollout')),
    PRIMARY KEY (rule, at) DEFERRABLE
);

ALTER TABLE rollout_steps REPLICA IDENTITY FULL;

COMMENT ON TABLE rollout_steps IS
    'The planned ramp of a rule: from each time on, that percentage holds, without anybody being awake for it. The first'
    ' step sets rules.rollout to 0; where no step is in force, the rule reaches nobody.';
COMMENT ON COLUMN rollout_steps.rule IS 'Key of the rule.';
COMMENT ON COLUMN rollout_steps.at IS 'From when on this percentage holds, inclusive.';
COMMENT ON COLUMN rollout_steps.rollout IS
    'Percentage of the installations, 0 to 100, at most two decimals; not below that of the step before.';

-- The policy tables, parents before children: the columns of the primary key, the table that a row belongs to and the
-- column that names it there.
CREATE FUNCTION versiongate_internal.policy_tables()
    RETURNS TABLE (place integer, name text, key text[], parent text, parent_column text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
    VALUES
        (1, 'apps', '{bundle}'::text[], NULL, NULL),
        (2, 'store_links', '{bundle,platform}', 'apps', 'bundle'),
        (3, 'feed_templates', '{bundle,name}', 'apps', 'bundle'),
        (4, 'releases', '{id}', 'apps', 'bundle'),
        (5, 'release_notes', '{release,language}', 'releases', 'release'),
        (6, 'rules', '{key}', 'apps', 'bundle'),
        (7, 'rule_texts', '{rule,language}', 'rules', 'rule'),
        (8, 'rollout_steps', '{rule,at}', 'rules', 'rule')
$$;

-- The columns of a policy table's primary key; null: it is no policy table.
CREATE FUNCTION versiongate_internal.key_columns(table_name text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT t.key FROM policy_tables() AS t WHERE t.name = key_columns.table_name);
