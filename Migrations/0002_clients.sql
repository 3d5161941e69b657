-- How the members of a client are read. Text compares as bytes; that case does not count means ASCII letters alone,
-- which is what lower() does under COLLATE "C".

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- A platform as it is stored and compared: in lower case, with the other names of iOS read as ios.
CREATE FUNCTION versiongate_internal.platform_name(platform text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN lower(platform COLLATE "C") IN ('ipados', 'iphone os', 'iphoneos') THEN 'ios'
    ELSE lower(platform COLLATE "C")
END;

-- Whether a system of this platform, as platform_name() has it, may have the version of this key: false for a number
-- that none ever had, which cannot be judged.
-- Darwin's numbers, what programs of old SDKs are told, and Android's API levels. A key of a version begins with its
-- first number, so these bounds are 16, 19, 20 and 26 with everything that begins with them.
CREATE FUNCTION versiongate_internal.is_system(platform text, os_key bytea) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
BEGIN
    RETURN CASE platform
        WHEN 'ios' THEN os_key < '\x043139' OR os_key >= '\x043236'
        WHEN 'macos' THEN os_key < '\x043136' OR os_key >= '\x043236'
        WHEN 'android' THEN os_key < '\x043230'
        ELSE true
    END;
END
$$;

-- Whether this is an assigned ISO 3166-1 alpha-2 code in upper case, or XK (Kosovo, in use though not assigned).
CREATE FUNCTION versiongate_internal.is_country(code text) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN code COLLATE "C" = ANY (string_to_array(
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV '
    'BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES '
    'ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE '
    'IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY '
    'MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU '
    'NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM '
    'SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE '
    'VG VI VN VU WF WS XK YE YT ZA ZM ZW',
    ' '
    ));

-- The country that a client's region names, be it a country or a locale; null if it names none.
CREATE FUNCTION versiongate_internal.country_of_region(region text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    -- A locale may name its encoding after a dot and its options after an at sign.
    locale CONSTANT text COLLATE "C" := replace((regexp_match(region, '^[^@.]*'))[1], '_', '-');
    subtags CONSTANT text[] := string_to_array(locale, '-');
    country text;
BEGIN
    IF locale ~ '^[A-Z]{2}$' THEN
        country := locale;
    ELSE
        FOR place IN 1 .. cardinality(subtags) LOOP
            -- What follows a single letter is an extension or private, no country.
            EXIT WHEN subtags[place] COLLATE "C" ~ '^[A-Za-z]$';
            IF place > 1 AND subtags[place] COLLATE "C" ~ '^[A-Za-z]{2}$' THEN
                country := upper(subtags[place] COLLATE "C");
                EXIT;
            END IF;
        END LOOP;
    END IF;
    RETURN CASE WHEN is_country(country) THEN country END;
END
$$;

-- A language tag in today's form: he for iw, zh-Hant-TW for zh-TW, and the same for the others of their kind.
CREATE FUNCTION versiongate_internal.current_language(tag text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    -- Codes that others replaced, which systems send nevertheless.
    codes CONSTANT jsonb := '{"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "no": "nb", "tl": "fil"}';
    subtags CONSTANT text[] := string_to_array(lower(tag COLLATE "C"), '-');
BEGIN
    RETURN coalesce(
        CASE
            WHEN subtags[1] <> 'zh' THEN codes ->> subtags[1]
            WHEN subtags[2] IN ('tw', 'hk', 'mo') THEN 'zh-Hant'
            WHEN subtags[2] IN ('cn', 'sg') THEN 'zh-Hans'
        END || substr(tag, 3),
        tag
    );
END
$$;

-- A client's language, a BCP 47 tag or a locale, as the tag that is compared: in today's form, in lower case, with
-- hyphens.
CREATE FUNCTION versiongate_internal.language_tag(language text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    tag CONSTANT text := replace((regexp_match(language, '^[^@.]*'))[1], '_', '-');
BEGIN
    RETURN lower(current_language(tag) COLLATE "C");
END
$$;

-- Whether a language range matches a tag: RFC 4647, section 3.3.1, basic filtering.
CREATE FUNCTION versiongate_internal.language_matches(tag text, ranges text[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    range text COLLATE "C";
BEGIN
    FOREACH range IN ARRAY ranges LOOP
        range := lower(range);
        IF range = '*' OR tag = range OR starts_with(tag, range || '-') THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- The tags under which a text is looked for, best first: RFC 4647, section 3.4, lookup.
CREATE FUNCTION versiongate_internal.language_fallbacks(tag text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    subtags text[] := string_to_array(tag, '-');
    fallbacks text[] := '{}';
BEGIN
    WHILE cardinality(subtags) > 0 LOOP
        fallbacks := fallbacks || array_to_string(subtags, '-');
        subtags := trim_array(subtags, 1);
        -- A single character only introduces what was just cut off.
        IF cardinality(subtags) > 1 AND length(subtags[cardinality(subtags)]) = 1 THEN
            subtags := trim_array(subtags, 1);
        END IF;
    END LOOP;
    RETURN fallbacks;
END
$$;

CREATE FUNCTION rollout_bucket(key text, install text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    digest CONSTANT bytea := sha256(convert_to(key || ':' || install, 'UTF8'));
BEGIN
    RETURN ('x' || encode(substr(digest, 1, 4), 'hex'))::bit(32)::bigint % 10000;
END
$$;
COMMENT ON FUNCTION rollout_bucket(text, text) IS
    'The bucket, 0 to 9999, of an installation under a rule: the first 4 bytes of SHA-256(key:install), modulo 10000.';
