-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- What is refused though each row is right by itself.
--
-- The guards are deferred: only at the commit is it known what several statements come to, and there the row of
-- policy_revision is held already (their names come after `b_record_edit`), so what they read cannot be made wrong by
-- another transaction. Each reads the rows as they are then, not as they were when the event arose.

SET LOCAL search_path = public, pg_temp;

-- Whether a rule, asked with a release's version and build in place of the client's, would match. A build that the
-- release does not record counts as matching.
CREATE FUNCTION rule_matches_release(
    versions version_spans, builds version_spans, target bytea, release_version bytea, release_build bytea
) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    RETURN (versions IS NULL OR versions @> release_version)
        AND (builds IS NULL OR release_build IS NULL OR builds @> release_build)
        AND (target IS NULL OR release_version < target);
END
$$;

COMMENT ON FUNCTION rule_matches_release(version_spans, version_spans, bytea, bytea, bytea) IS
    'Whether the versions, builds and target of a rule would match a client that has this release.';

CREATE FUNCTION guard_lockout() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    rule rules;
    versions version_spans;
    builds version_spans;
    target_key bytea;
    known_platforms text[];
    open_platforms text[];
    closed_platforms text[];
BEGIN
    SELECT * INTO rule FROM rules WHERE key = NEW.key;
    IF NOT FOUND OR NOT rule.enabled OR NOT rule.lockout OR rule.lockout_without_update THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF (
            OLD.enabled, OLD.lockout, OLD.lockout_without_update, OLD.bundle, OLD.platforms, OLD.versions, OLD.builds,
            OLD.target
        ) IS NOT DISTINCT FROM (
            NEW.enabled, NEW.lockout, NEW.lockout_without_update, NEW.bundle, NEW.platforms, NEW.versions, NEW.builds,
            NEW.target
        ) THEN
            RETURN NULL;
        END IF;
    END IF;

    versions := (read_version_range(rule.versions)).spans;
    builds := (read_version_range(rule.builds)).spans;
    target_key := version_key(rule.target);
    known_platforms := coalesce(
        rule.platforms,
        (
            SELECT array_agg(known.platform ORDER BY known.platform)
              FROM (
                  SELECT r.platform FROM releases AS r WHERE rule.bundle IS NULL OR r.bundle = rule.bundle
                   UNION
                  SELECT s.platform FROM store_links AS s WHERE rule.bundle IS NULL OR s.bundle = rule.bundle
              ) AS known
        ),
        '{}'
    );
    open_platforms := ARRAY(
        SELECT DISTINCT r.platform
          FROM releases AS r
         WHERE (rule.bundle IS NULL OR r.bundle = rule.bundle)
           AND r.platform = ANY (known_platforms)
           AND (r.withdrawn_at IS NULL OR r.withdrawn_at > clock_timestamp())
           AND NOT rule_matches_release(versions, builds, target_key, version_key(r.version), version_key(r.build))
    );
    closed_platforms := ARRAY(
        SELECT platform FROM unnest(known_platforms) AS platform WHERE platform <> ALL (open_platforms)
    );

    IF open_platforms = '{}' THEN
        RETURN refuse(
            'rules.lockout',
            format('%s would lock out clients and leave them no version to go to', quoted(rule.key)),
            'Add the release they are to get (staged and future ones count), before or in the same transaction; or'
            ' leave the rule disabled; or, for maintenance or the end of a platform, set lockout_without_update.',
            format(
                'Every release%s that is not withdrawn%s is matched by the rule, or there is none.',
                ' of ' || rule.bundle,
                ' on ' || array_to_string(rule.platforms, ', ')
            ),
            TG_NAME
        );
    ELSIF closed_platforms <> '{}' THEN
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s: no release to go to on %s', quoted(rule.key), array_to_string(closed_platforms, ', ')
            ),
            HINT = 'Clients there get the message without the lockout, until there is a release outside the rule.';
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION guard_lockout() IS
    'Trigger: refuses to turn on a lockout that leaves nobody a way out; warns of the platforms where there is none.';

CREATE CONSTRAINT TRIGGER rules_lockout_guard AFTER INSERT OR UPDATE ON rules
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guard_lockout();

CREATE FUNCTION warn_of_endless_lockout() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (OLD.enabled, OLD.lockout, OLD.lockout_without_update, OLD.ends_at)
            IS NOT DISTINCT FROM (NEW.enabled, NEW.lockout, NEW.lockout_without_update, NEW.ends_at) THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM FROM rules
      WHERE key = NEW.key AND enabled AND lockout AND lockout_without_update AND ends_at IS NULL;
    IF FOUND THEN
        RAISE WARNING USING
            MESSAGE = format('rule %s locks out without an update, and has no end', quoted(NEW.key)),
            HINT = 'Set ends_at, so that it ends also when nobody thinks of it.';
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_endless_lockout() IS 'Trigger: warns of a lockout that needs no update and has no end.';

CREATE CONSTRAINT TRIGGER rules_lockout_without_update_warning AFTER INSERT OR UPDATE ON rules
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn_of_endless_lockout();

-- Not deferred: it judges the edit, not the outcome. Steps may be deleted before it, or planned anew after it.
CREATE FUNCTION guard_rollout() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    steps CONSTANT bigint := (SELECT count(*) FROM rollout_steps WHERE rule = OLD.key);
BEGIN
    IF steps > 0 THEN
        PERFORM refuse(
            'rules.rollout',
            format('%s follows its rollout steps', quoted(OLD.key)),
            format('Delete the steps in the same transaction: DELETE FROM rollout_steps WHERE rule = %L;', OLD.key),
            format('It has %s steps; they come before the column rollout, so the edit would have no effect.', steps),
            TG_NAME
        );
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION guard_rollout() IS 'Trigger: refuses an edit of rollout that steps would override.';

CREATE TRIGGER rules_rollout_guard BEFORE UPDATE OF rollout ON rules
    FOR EACH ROW WHEN (NEW.rollout <> OLD.rollout) EXECUTE FUNCTION guard_rollout();

CREATE FUNCTION guard_rollout_steps() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    fall record;
BEGIN
    SELECT * INTO fall
      FROM (
          SELECT s.at, s.rollout, lag(s.rollout) OVER (ORDER BY s.at) AS rollout_before
            FROM rollout_steps AS s
           WHERE s.rule = NEW.rule
      ) AS step
     WHERE step.rollout < step.rollout_before
     ORDER BY step.at
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'rollout_steps.rollout',
            format('the steps of %s fall', quoted(NEW.rule)),
            'A ramp only goes up. To take a rule back, delete its steps and set rollout.',
            format('At %s it would go from %s %% to %s %%.', fall.at, fall.rollout_before, fall.rollout),
            TG_NAME
        );
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION guard_rollout_steps() IS 'Trigger: refuses steps of which a later one is lower.';

CREATE CONSTRAINT TRIGGER rollout_steps_rollout_guard AFTER INSERT OR UPDATE ON rollout_steps
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guard_rollout_steps();

CREATE FUNCTION guard_release_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    this_release releases;
    spelled text;
BEGIN
    SELECT * INTO this_release FROM releases WHERE id = NEW.id;
    SELECT r.version INTO spelled
      FROM releases AS r
     WHERE r.bundle = this_release.bundle
       AND r.platform = this_release.platform
       AND version_key(r.version) = version_key(this_release.version)
       AND version_key(r.build) IS NOT DISTINCT FROM version_key(this_release.build)
       AND r.version <> this_release.version
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            'releases.version',
            format('%s is %s in another spelling', quoted(this_release.version), quoted(spelled)),
            'Spell a version in one way, as the store does. It may have several rows with different regions and times.',
            format(
                '%s has a release %s on %s%s already.',
                this_release.bundle, spelled, this_release.platform, ', build ' || this_release.build
            ),
            TG_NAME
        );
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION guard_release_version() IS
    'Trigger: refuses a second spelling of a version on one platform and build.';

CREATE CONSTRAINT TRIGGER releases_version_guard AFTER INSERT OR UPDATE ON releases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guard_release_version();

-- Runs for a rule and for a translation: either may be the one that was edited.
CREATE FUNCTION guard_target_placeholder() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    edited_rule CONSTANT text := to_jsonb(NEW) ->> CASE TG_TABLE_NAME WHEN 'rules' THEN 'key' ELSE 'rule' END;
    translation record;
BEGIN
    SELECT t.language, strpos(t.title, '{target}') > 0 AS in_title INTO translation
      FROM rule_texts AS t
      JOIN rules AS r ON r.key = t.rule
     WHERE t.rule = edited_rule
       AND r.target IS NULL
       AND (strpos(t.title, '{target}') > 0 OR strpos(t.text, '{target}') > 0)
     ORDER BY t.language
     LIMIT 1;
    IF FOUND THEN
        PERFORM refuse(
            CASE WHEN translation.in_title THEN 'rule_texts.title' ELSE 'rule_texts.text' END,
            '{target} in a rule without a target',
            'Set the target of the rule, or take {target} out of the translation.',
            format('It is the translation of %s into %s.', quoted(edited_rule), translation.language),
            TG_NAME
        );
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION guard_target_placeholder() IS
    'Trigger: refuses {target} in the translation of a rule without a target.';

CREATE CONSTRAINT TRIGGER rule_texts_target_guard AFTER INSERT OR UPDATE ON rule_texts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guard_target_placeholder();
CREATE CONSTRAINT TRIGGER rules_target_guard AFTER UPDATE ON rules
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.target IS NOT NULL AND NEW.target IS NULL) EXECUTE FUNCTION guard_target_placeholder();

-- A message that leads to the store needs a store link where it is shown, and a lockout needs a link at all: without
-- one its screen has no button. For every app, and for a rule without platforms, the releases tell the platforms.
CREATE FUNCTION warn_of_missing_link() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = public, pg_temp
AS $$
DECLARE
    rule rules;
    missing record;
BEGIN
    SELECT * INTO rule FROM rules WHERE key = NEW.key;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF (OLD.enabled, OLD.lockout, OLD.lockout_without_update, OLD.bundle, OLD.platforms, OLD.link)
            IS NOT DISTINCT FROM
            (NEW.enabled, NEW.lockout, NEW.lockout_without_update, NEW.bundle, NEW.platforms, NEW.link) THEN
            RETURN NULL;
        END IF;
    END IF;
    IF rule.link IS NULL AND rule.lockout AND NOT rule.lockout_without_update THEN
        RAISE WARNING USING
            MESSAGE = format('rule %s locks out and has no link, so users see no button', quoted(rule.key)),
            DETAIL = format('Rule %s has no link.', rule.key),
            HINT = 'Set link to ''store'', or to an address.',
            SCHEMA = 'public', TABLE = 'rules', COLUMN = 'link', CONSTRAINT = 'rules_link_missing';
    END IF;
    IF rule.link IS DISTINCT FROM 'store' THEN
        RETURN NULL;
    END IF;
    FOR missing IN
        SELECT shown.bundle, shown.platform
          FROM (
              SELECT r.bundle, r.platform
                FROM releases AS r
               WHERE (rule.bundle IS NULL OR r.bundle = rule.bundle)
                 AND (rule.platforms IS NULL OR r.platform = ANY (rule.platforms))
                 AND (r.withdrawn_at IS NULL OR r.withdrawn_at > clock_timestamp())
               UNION
              SELECT rule.bundle, platform FROM unnest(rule.platforms) AS platform WHERE rule.bundle IS NOT NULL
          ) AS shown
         WHERE NOT EXISTS (
                   SELECT FROM store_links AS s WHERE s.bundle = shown.bundle AND s.platform = shown.platform
               )
         ORDER BY shown.bundle, shown.platform
         LIMIT 5
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'rule %s leads to the store, but %s has no store link for %s: users there see no button',
                quoted(rule.key), missing.bundle, missing.platform
            ),
            DETAIL = format('%s has no store link for %s.', missing.bundle, missing.platform),
            HINT = format(
                'INSERT INTO store_links (bundle, platform, link) VALUES (%L, %L, ''https://...'');',
                missing.bundle, missing.platform
            ),
            SCHEMA = 'public', TABLE = 'store_links', COLUMN = 'link', CONSTRAINT = 'store_links_missing';
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION warn_of_missing_link() IS
    'Trigger: warns of a lockout without a link, and of platforms where the app has no store link to lead to.';

CREATE CONSTRAINT TRIGGER rules_link_warning AFTER INSERT OR UPDATE ON rules
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn_of_missing_link();
