-- How many checks there were, by hour and by what the clients said, how often each rule was sent, whom lockouts lock out
-- now, and by which servers.
--
-- What clients say is not verified. No installation, no address and no attribute is kept.
--
-- A row of an hour becomes part of its day's row, the one of the day's first hour, once the day is a week ago; later
-- the days are deleted. So sums over whole days (UTC) are right whether their hours are rolled up or not.
--
-- Counts are bounded, so that sums over all rows stay far below what bigint holds. Pages have room for new versions of
-- their rows, as servers add to those of the present hour again and again.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

CREATE TABLE check_counts (
    hour timestamptz NOT NULL CHECK (isfinite(hour)),
    bundle text COLLATE "C",
    platform text COLLATE "C",
    version text COLLATE "C",
    build text COLLATE "C",
    region text COLLATE "C",
    os text COLLATE "C",
    checks bigint NOT NULL CHECK (checks BETWEEN 0 AND 1000000000000),
    messages bigint NOT NULL CONSTRAINT check_counts_messages_check CHECK (messages BETWEEN 0 AND checks),
    lockouts bigint NOT NULL CONSTRAINT check_counts_lockouts_check CHECK (lockouts BETWEEN 0 AND messages),
    CONSTRAINT check_counts_key UNIQUE NULLS NOT DISTINCT (hour, bundle, platform, version, build, region, os)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- Finds the checks of an app in some days; bundles are compared so that case does not count.
CREATE INDEX check_counts_bundle_idx ON check_counts (lower(bundle COLLATE "C"), hour);

-- There is no primary key to tell rows apart by, as most of its columns may be null: publications get whole rows.
ALTER TABLE check_counts REPLICA IDENTITY FULL;

COMMENT ON TABLE check_counts IS
    'Checks per hour and kind of client, added up by the servers; per day for days that are a week ago. Claims of the'
    ' clients, which nobody verified.';
COMMENT ON COLUMN check_counts.hour IS 'Start of the hour; of the day, in UTC, once hours are rolled up to days.';
COMMENT ON COLUMN check_counts.bundle IS
    'The app as apps spells it; null, with all other members, for apps that are not in apps and for kinds of clients'
    ' beyond what is kept apart (merged_counts).';
COMMENT ON COLUMN check_counts.platform IS
    'The platform as rules name it; null: not sent, or something else than 1 to 32 ASCII letters, digits, "_" and "-".';
COMMENT ON COLUMN check_counts.version IS
    'The version as the client wrote it, blanks at its ends cut; null: not sent. One that cannot be read is kept as well,'
    ' with other characters than printable ASCII named by their code points, cut where that is longer than 64 bytes.';
COMMENT ON COLUMN check_counts.build IS
    'The build as the client wrote it, blanks at its ends cut; null: not sent, unreadable, or more than 32 bytes.';
COMMENT ON COLUMN check_counts.region IS 'The country in the client''s region; null: none.';
COMMENT ON COLUMN check_counts.os IS 'The version of the operating system, as the build.';
COMMENT ON COLUMN check_counts.checks IS 'How many checks were answered.';
COMMENT ON COLUMN check_counts.messages IS 'Those that were answered with a message, or with several.';
COMMENT ON COLUMN check_counts.lockouts IS 'Those that were answered with a lockout.';

CREATE TABLE rule_counts (
    hour timestamptz NOT NULL CHECK (isfinite(hour)),
    rule text COLLATE "C" NOT NULL,
    sent bigint NOT NULL CHECK (sent BETWEEN 0 AND 1000000000000),
    lockouts bigint NOT NULL CONSTRAINT rule_counts_lockouts_check CHECK (lockouts BETWEEN 0 AND sent),
    PRIMARY KEY (hour, rule)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

COMMENT ON TABLE rule_counts IS 'How often each rule''s message was sent, per hour. Rules that were removed stay.';
COMMENT ON COLUMN rule_counts.hour IS 'As in check_counts.';
COMMENT ON COLUMN rule_counts.rule IS 'Key of the rule.';
COMMENT ON COLUMN rule_counts.sent IS 'How often its message was sent.';
COMMENT ON COLUMN rule_counts.lockouts IS 'How often with the lockout.';

CREATE TABLE merged_counts (
    hour timestamptz NOT NULL CHECK (isfinite(hour)),
    bundle text COLLATE "C" NOT NULL,
    checks bigint NOT NULL CHECK (checks BETWEEN 0 AND 1000000000000),
    PRIMARY KEY (hour, bundle)
);

COMMENT ON TABLE merged_counts IS
    'How many checks of an app were of more kinds of clients than are kept apart. They are in check_counts: with their'
    ' version alone where it is that of a release, else in the row whose members are all null.';
COMMENT ON COLUMN merged_counts.hour IS 'As in check_counts.';
COMMENT ON COLUMN merged_counts.bundle IS 'The app as apps spells it.';
COMMENT ON COLUMN merged_counts.checks IS 'How many checks were answered.';

-- Who is locked out now. Servers count the checks of an app that a lockout may lock out while it does: it is enabled, has
-- begun, has not ended and reaches more than nobody. So no checks from before it began make its share smaller than it is,
-- and with the revision that answered, none from before an edit does.

CREATE TABLE lockout_counts (
    rule text COLLATE "C" NOT NULL,
    bundle text COLLATE "C",
    minute timestamptz NOT NULL CHECK (isfinite(minute)),
    checks bigint NOT NULL CHECK (checks BETWEEN 0 AND 1000000000000),
    lockouts bigint NOT NULL CONSTRAINT lockout_counts_lockouts_check CHECK (lockouts BETWEEN 0 AND checks),
    revision bigint NOT NULL,
    CONSTRAINT lockout_counts_key UNIQUE NULLS NOT DISTINCT (rule, minute, bundle, revision)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX lockout_counts_minute_idx ON lockout_counts (minute);

ALTER TABLE lockout_counts REPLICA IDENTITY FULL;

COMMENT ON TABLE lockout_counts IS
    'Checks per minute of the apps that an enabled lockout may lock out, added up by the servers and kept for a day. Claims'
    ' of the clients, which nobody verified.';
COMMENT ON COLUMN lockout_counts.rule IS 'Key of the rule.';
COMMENT ON COLUMN lockout_counts.bundle IS 'The app as apps spells it; null, for a rule for every app: all that are not in apps.';
COMMENT ON COLUMN lockout_counts.minute IS 'Start of the minute.';
COMMENT ON COLUMN lockout_counts.checks IS 'How many checks of the app were answered while the rule locked out.';
COMMENT ON COLUMN lockout_counts.lockouts IS 'Those that the rule locked out.';
COMMENT ON COLUMN lockout_counts.revision IS 'The revision that answered.';

-- Who asked of late: a server that is gone is in no list of sessions any more.

-- The servers that were heard of in the last day, at most 1000, as note_server was told.
-- name: the machine of the server, as it calls itself, with the port of its public listener.
-- address: where its connection came from; null: this machine, by a socket.
CREATE TABLE versiongate_internal.server_sightings (
    name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[!-~]{1,128}$'),
    address inet,
    revision bigint NOT NULL,
    seen_at timestamptz NOT NULL
);

-- Notes that a server is there, and forgets those of more than a day ago and the oldest beyond 1000.
CREATE FUNCTION versiongate_internal.note_server(server_name text, server_revision bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    INSERT INTO server_sightings (name, address, revision, seen_at)
    VALUES (server_name, inet_client_addr(), server_revision, now())
    ON CONFLICT (name) DO UPDATE
       SET address = excluded.address, revision = excluded.revision, seen_at = excluded.seen_at;
    DELETE FROM server_sightings AS s
     WHERE s.seen_at < now() - interval '1 day'
        OR s.name IN (
            SELECT other.name FROM server_sightings AS other
             ORDER BY other.seen_at DESC, other.name OFFSET 1000
        );
END
$$;
