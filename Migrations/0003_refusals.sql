-- What is refused in one row, and how that is said.
--
-- A bare CHECK cannot say which word of a range is wrong. So the CHECKs of the policy tables call these functions: each
-- is the one judge of its kind of value, and returns true or refuses. `place` is TABLE.COLUMN.
--
-- Those of a key, a bundle, a version and a percentage are put in the place of their calls. So they are volatile, as
-- refuse() is, and a text in them compares as its column does only where it says so. Of all of them that would cost each
-- statement more than the calls do.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- Raises an error about TABLE.COLUMN, with the constraint TABLE_COLUMN_check if no other is named. absent: what NULL
-- means there. The field of the data type, which psql shows on \errverbose alone, has JSON for programs: the row that a
-- guard refuses by the columns of its key; command, the cure on a command line, with commands in backticks and {NAME}
-- for one of words or row; and file, that in a policy file, where it is neither command nor, beside one without
-- commands, hint.
-- Its result is assigned and not PERFORMed, which would put the source of the call into the CONTEXT that psql shows.
-- Volatile, as an error is an effect: the planner evaluates calls of other functions beforehand if their arguments are
-- constant.
CREATE FUNCTION versiongate_internal.refuse(
    place text, message text, hint text, detail text DEFAULT NULL, constraint_name text DEFAULT NULL,
    row_key jsonb DEFAULT NULL, command text DEFAULT NULL, file text DEFAULT NULL, words jsonb DEFAULT NULL,
    absent text DEFAULT NULL, condition text DEFAULT 'check_violation'
) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    table_name CONSTANT text := split_part(place, '.', 1);
    column_name CONSTANT text := split_part(place, '.', 2);
    broken_constraint CONSTANT text := coalesce(constraint_name, format('%s_%s_check', table_name, column_name));
    placed_message CONSTANT text := format('%s: %s', place, message);
    unseen CONSTANT text := CASE
        WHEN hint !~ '^Remove it' THEN (regexp_match(message, '<(U[+][0-9A-F]+)>'))[1]
    END;
    cure CONSTANT text := concat_ws(
        ' ', 'Take out ' || unseen || ', which looks like a space or is invisible.', hint,
        'NULL means ' || absent || '.'
    );
    data CONSTANT jsonb := CASE
        WHEN absent IS NULL THEN
            jsonb_strip_nulls(jsonb_build_object('command', command, 'file', file, 'words', words))
            || jsonb_build_object('row', row_key)
        ELSE jsonb_build_object(
            'hint', hint, 'command', format('For %s leave the option out, or remove it with --clear.', absent),
            'file', format('For %s leave the key out.', absent)
        )
    END;
BEGIN
    -- RAISE takes no NULL for what there is not.
    IF detail IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = condition, MESSAGE = placed_message, HINT = cure, DATATYPE = data::text,
            SCHEMA = 'public', TABLE = table_name, COLUMN = column_name, CONSTRAINT = broken_constraint;
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = condition, MESSAGE = placed_message, HINT = cure, DATATYPE = data::text, DETAIL = detail,
        SCHEMA = 'public', TABLE = table_name, COLUMN = column_name, CONSTRAINT = broken_constraint;
END
$$;

CREATE FUNCTION versiongate_internal.strange_blanks() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000';

-- Characters of which nothing is seen: ignorable by default, separators, fillers.
-- As part of a bracket expression.
CREATE FUNCTION versiongate_internal.ignorable_characters() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u2800\u3164'
    '\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U0001D173-\U0001D17A\U000E0000-\U000E0FFF';

CREATE FUNCTION versiongate_internal.code_point(letter text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 'U+' || lpad(upper(to_hex(ascii(letter))), greatest(4, length(to_hex(ascii(letter)))), '0');

-- A text in which blanks that are not the usual one, and what cannot be seen, are named: <U+00A0>.
CREATE FUNCTION versiongate_internal.visible(value text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    shown text := value;
    found text;
BEGIN
    IF octet_length(value) > length(value) THEN
        LOOP
            found := (regexp_match(shown, '[' || strange_blanks() || ignorable_characters() || ']'))[1];
            EXIT WHEN found IS NULL;
            shown := replace(shown, found, '<' || code_point(found) || '>');
        END LOOP;
    END IF;
    RETURN shown;
END
$$;

-- A value as a message shows it: in quotation marks, at most 100 characters of it.
CREATE FUNCTION versiongate_internal.quoted(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NULL THEN 'NULL'
    WHEN length(value) > 100 THEN '"' || visible(left(value, 99)) || '…"'
    ELSE '"' || visible(value) || '"'
    END;

CREATE FUNCTION versiongate_internal.name_list(
    names text[], separator text DEFAULT ', ', most integer DEFAULT 20
) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN array_to_string(names[:most], separator) || CASE
    WHEN cardinality(names) > most THEN format('%sand %s more', replace(separator, ',', ''), cardinality(names) - most)
    ELSE ''
END;

-- A time in UTC as explanations show it, with microseconds where there are any.
CREATE FUNCTION versiongate_internal.time_text(at timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN regexp_replace(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '[.]0+$', '') || 'Z';

-- What is nothing but blanks is refused for that.
CREATE FUNCTION versiongate_internal.check_ends(value text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    blanks CONSTANT text := '[ \t\r\n' || strange_blanks() || ']+';
    bare CONSTANT text := regexp_replace(value, format('^%1$s|%1$s$', blanks), '', 'g');
BEGIN
    RETURN bare IS NULL OR bare IN (value, '') OR refuse(
        place, quoted(value) || ' begins or ends with white space', 'Write it without: ' || visible(bare)
    );
END
$$;

CREATE FUNCTION versiongate_internal.check_key(value text, place text) RETURNS boolean
    LANGUAGE sql PARALLEL SAFE
RETURN value COLLATE "C" ~ '^[a-z0-9][a-z0-9._-]{0,63}$' OR refuse(
    place, quoted(value) || ' is not a key',
    'A key is 1 to 64 of a-z, 0-9, ".", "_" and "-", and begins with a letter or digit: security-2.3'
);

CREATE FUNCTION versiongate_internal.check_bundle(value text, place text) RETURNS boolean
    LANGUAGE sql PARALLEL SAFE
RETURN value IS NULL
    OR check_ends(value, place)
    AND value COLLATE "C" ~ '^[!-~]{1,255}$' AND value !~ '://|[,;]|^[.]|[.]$|[.][.]'
    OR refuse(
        place, quoted(value) || ' is not a bundle identifier',
        CASE
            WHEN value ~ '[,;]' AND value !~ '://' THEN 'Write each app by itself: '
                || array_to_string(regexp_split_to_array(btrim(value, ',; '), '[,; ]+'), ' and ')
            WHEN value COLLATE "C" ~ '^[!-~]*[^.][!-~]*$' AND value ~ '^[.]|[.]$|[.][.]' AND value !~ '://' THEN
                'Write one dot between its parts, and none at its ends: '
                || btrim(regexp_replace(value, '[.]+', '.', 'g'), '.')
            ELSE 'Write the bundle or package identifier as the app spells it, no address: 1 to 255 characters of'
                ' ASCII, no spaces: com.example.app'
        END
    );

CREATE FUNCTION versiongate_internal.check_version(value text, place text) RETURNS boolean
    LANGUAGE sql PARALLEL SAFE
RETURN value IS NULL
    OR check_ends(value, place) AND version_key(value) IS NOT NULL
    OR refuse(
        place, quoted(value) || ' is not a version',
        coalesce(
            CASE WHEN place NOT LIKE '%build' AND value ~ '^[0-9]+(,[0-9]+)+$' THEN
                'Write it with dots: ' || replace(value, ',', '.') || '. '
            END,
            'Write ' || (regexp_match(
                value COLLATE "C", '^(?:[<>=~^# ]*|ios|android|macos|api|build) ?([0-9]+(?:[.][0-9]+)*)[+]?$', 'i'
            ))[1] || '. ',
            ''
        )
        || 'A version is numbers joined by dots, with a pre-release if need be, in 128 bytes: 1.2, 1.2.0-beta.1, 1.2b3'
    );

CREATE FUNCTION versiongate_internal.check_version_range(value text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    error record;
BEGIN
    IF value IS NULL THEN
        RETURN true;
    ELSIF octet_length(value) > 10000 THEN
        RETURN refuse(
            place, format('a range of %s bytes is too long', octet_length(value)),
            'Write at most 10000 bytes; split the rule, if need be.'
        );
    END IF;
    error := version_range_error(value);
    -- In a build, unlike in a version, such letters are no pre-release.
    RETURN error.message IS NULL
            AND (place <> 'rules.builds' OR value !~* '(^|[^0-9a-z.-])[0-9]+(k|m|e[0-9]+)($|[^0-9a-z.-])')
        OR refuse(
            place, coalesce(visible(error.message), 'a number is not written in digits only'),
            coalesce(error.hint, 'Write all of its digits: 1000'), format('The range is %s.', quoted(value)),
            absent => CASE WHEN value ~ '^[[:space:]]*$' THEN 'no condition' END
        );
END
$$;

CREATE FUNCTION versiongate_internal.check_platform(value text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN value COLLATE "C" ~ '^[A-Za-z0-9]([A-Za-z0-9 ._+/()-]{0,62}[A-Za-z0-9.+)])?$' THEN
            value IS NOT DISTINCT FROM platform_name(value) OR refuse(
                place, quoted(value) || ' is not how a platform is stored', format('Write %s.', platform_name(value))
            )
        WHEN strpos(value, ',') > 0 AND place LIKE '%.platforms' THEN refuse(
            place, quoted(value) || ' is not a platform', 'Write each platform by itself: {ios,android}',
            command => 'Write each platform by itself: --platform ios --platform android',
            file => 'Write each platform by itself: [ios, android]'
        )
        ELSE value IS NULL OR refuse(
            place, quoted(value) || ' is not a platform',
            CASE
                WHEN strpos(value, ',') > 0 THEN 'Write a row for each platform.'
                ELSE 'Write ios, android, macos or the like: 1 to 64 letters, digits, spaces, ".", "_", "+", "/", "(",'
                    ' ")" and "-" of ASCII.'
            END
        )
    END;
END
$$;

CREATE FUNCTION versiongate_internal.country_meant(region text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "usa": "US", "united states": "US", "united kingdom": "GB", "great britain": "GB", "england": "GB", "germany": "DE",
    "france": "FR", "spain": "ES", "italy": "IT", "austria": "AT", "switzerland": "CH", "netherlands": "NL",
    "poland": "PL", "sweden": "SE", "turkey": "TR", "japan": "JP", "china": "CN", "korea": "KR", "india": "IN",
    "brazil": "BR", "canada": "CA", "australia": "AU", "russia": "RU", "ukraine": "UA", "greece": "GR", "uk": "GB",
    "el": "GR"
}'::jsonb ->> lower(region COLLATE "C");

CREATE FUNCTION versiongate_internal.check_region(region text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN is_country(region) OR refuse(
        place, quoted(region) || ' is not the code of a country',
        CASE
            WHEN country_meant(region) IS NOT NULL THEN 'Write ' || country_meant(region)
            WHEN region IN ('EU', 'eu') THEN 'Write its countries one by one: the codes are of ISO 3166-1, such as DE.'
            WHEN is_country(upper(region COLLATE "C")) THEN 'Write it in upper case: ' || upper(region COLLATE "C")
            WHEN country_of_region(region) IS NOT NULL THEN 'Write the country alone: ' || country_of_region(region)
            WHEN region COLLATE "C" ~ '^[A-Za-z]{2}$' THEN
                'Write an assigned ISO 3166-1 alpha-2 code, such as JP; languages are a condition of their own.'
            ELSE 'Write the two letters of ISO 3166-1 in upper case, such as JP for Japan.'
        END
    );
END
$$;

-- Whether these are three letters in lower case, or a code of ISO 639-1, also one that is no longer in use.
CREATE FUNCTION versiongate_internal.is_language_code(code text) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN code COLLATE "C" ~ '^[a-z]{3}$' OR code COLLATE "C" = ANY (string_to_array(
    'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz '
    'ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik '
    'in io is it iu iw ja ji jv jw ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg '
    'mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro '
    'ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty '
    'ug uk ur uz ve vi vo wa wo xh yi yo za zh zu',
    ' '
    ));

CREATE FUNCTION versiongate_internal.check_language(value text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    -- What people write for the language of a country, and names of languages.
    mistakes CONSTANT jsonb := '{
        "jp": "ja", "cn": "zh", "kr": "ko", "cz": "cs", "dk": "da", "gr": "el", "ua": "uk", "us": "en", "gb": "en",
        "vn": "vi", "at": "de", "il": "he", "ir": "fa", "deutsch": "de",
        "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
        "japanese": "ja", "chinese": "zh", "korean": "ko", "russian": "ru", "dutch": "nl", "polish": "pl",
        "turkish": "tr", "arabic": "ar", "swedish": "sv"
    }';
    first CONSTANT text := lower(split_part(value, '-', 1) COLLATE "C");
BEGIN
    RETURN CASE
        WHEN value COLLATE "C" !~ '^([A-Za-z]{2,3}|[IiXx]-[A-Za-z0-9]{1,8})(-[A-Za-z0-9]{1,8})*$'
            OR octet_length(value) > 64
            OR first NOT IN ('i', 'x') AND NOT is_language_code(first)
            THEN check_ends(value, place) AND refuse(
                place, quoted(value) || ' is not a language tag',
                CASE
                    WHEN strpos(value, '_') > 0
                        THEN 'Write it with hyphens: ' || replace(split_part(value, '.', 1), '_', '-')
                    WHEN mistakes ? first THEN 'Write ' || (mistakes ->> first) || substr(value, length(first) + 1)
                    ELSE 'Write a BCP 47 tag of at most 64 bytes, which begins with a code of ISO 639: de, pt-BR,'
                        ' zh-Hant'
                END
            )
        WHEN value ~* format('^[a-z]+(-[a-z]{4})?-(uk|el|%s)$', first) AND NOT is_country(upper(right(value, 2)))
            THEN refuse(
                place, format('the country in %s does not exist', quoted(value)),
                concat(
                    'Write ', left(value, -3), CASE lower(right(value, 2)) WHEN 'uk' THEN '-GB' WHEN 'el' THEN '-GR' END
                )
            )
        WHEN lower(value) IN ('all', 'any') THEN refuse(
            place, quoted(value) || ' is not a language', NULL,
            absent => CASE WHEN place = 'rules.languages' THEN 'every language' END
        )
        WHEN first = 'und' AND place = 'rule_texts.language' THEN refuse(
            place, 'no client has the language ' || quoted(value),
            'Anyone without a translation gets the title and text of the rule itself: edit those.'
        )
        ELSE true
    END;
END
$$;

CREATE FUNCTION versiongate_internal.check_list(value text[], place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    none CONSTANT text := 'no condition';
    is_list CONSTANT boolean := CASE
        WHEN value IS NULL THEN true
        WHEN cardinality(value) = 0 THEN refuse(place, 'an empty list', NULL, absent => none)
        WHEN array_ndims(value) > 1
            THEN refuse(place, 'a list of lists', 'Write one list: {a,b}.', format('It is %s.', value), absent => none)
        WHEN array_position(value, NULL) IS NOT NULL THEN
            refuse(place, 'NULL in a list', 'Leave it out of the list.', format('It is %s.', value), absent => none)
        WHEN cardinality(value) > 500 THEN
            refuse(place, format('a list of %s is too long', cardinality(value)), 'Write at most 500.', absent => none)
        ELSE true
    END;
    item text;
BEGIN
    FOREACH item IN ARRAY coalesce(value, '{}') LOOP
        IF check_ends(item, place)
            AND (item ~ '^[ \t]*$|[\u0001-\u001F\u007F-\u009F]' OR octet_length(item) > 255) THEN
            RETURN refuse(
                place, quoted(item) || ' cannot be in the list',
                'No empty text, no control characters, at most 255 bytes.', absent => none
            );
        END IF;
    END LOOP;
    FOREACH item IN ARRAY coalesce(value, '{}') LOOP
        CASE split_part(place, '.', 2)
            WHEN 'platforms' THEN PERFORM check_platform(item, place);
            WHEN 'regions' THEN PERFORM check_region(item, place);
            WHEN 'languages' THEN
                -- The basic language range "*" matches whoever says what their language is.
                PERFORM item = '*' OR check_language(item, place);
        END CASE;
    END LOOP;
    RETURN is_list;
END
$$;

CREATE FUNCTION versiongate_internal.check_attribute_name(name text, place text, example text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    members CONSTANT text[] := '{bundle,version,build,platform,region,os,language,install,manual}';
    hidden CONSTANT text := (regexp_match(name, '[' || ignorable_characters() || ']'))[1];
    own_column CONSTANT text := CASE WHEN name IN ('bundle', 'os') THEN name ELSE name || 's' END;
BEGIN
    RETURN CASE
        WHEN name = '' THEN refuse(place, 'an attribute without a name', example, absent => 'no condition')
        WHEN octet_length(name) > 128 THEN refuse(
            place, format('the name %s is longer than 128 bytes', quoted(name)),
            'Longer names from clients are not read.'
        )
        WHEN check_ends(name, place) AND name ~ '^[ \t]*$|[\u0001-\u001F\u007F-\u009F]'
            THEN refuse(place, quoted(name) || ' cannot be the name of an attribute', 'No control characters.')
        WHEN hidden IS NOT NULL THEN refuse(
            place,
            format('the name %s has the character %s in it, which cannot be seen', quoted(name), code_point(hidden)),
            format('Remove it, at character %s.', strpos(name, hidden))
        )
        WHEN lower(name COLLATE "C") <> ALL (members) THEN true
        WHEN name <> ALL (members) THEN refuse(
            place, format('"%s" is "%s" in another spelling', name, lower(name COLLATE "C")),
            'Names of members are exact, and this one is in every client, not an attribute: use its own condition.'
        )
        WHEN name = 'install' THEN refuse(
            place, '"install" is a member of every client, not an attribute',
            'It is used for rollouts alone: see the column rollout. NULL means no condition.',
            command => 'It is used for rollouts alone: `rule rollout KEY PERCENT`',
            file => 'It is used for rollouts alone: see the key rollout.'
        )
        WHEN name = 'manual' THEN refuse(
            place, '"manual" is a member of a check, not an attribute',
            'It says that the person asked for the check, which no rule can ask for.', absent => 'no condition'
        )
        ELSE refuse(
            place, format('"%s" is a member of every client, not an attribute', name),
            format('The condition on it is the column %s. NULL means no condition.', own_column),
            command => format(
                'The condition on it is --%s.',
                CASE WHEN name IN ('platform', 'region', 'language') THEN name ELSE own_column END
            ),
            file => format('The condition on it is %s.', own_column)
        )
    END;
END
$$;

CREATE FUNCTION versiongate_internal.check_attribute_values(
    name text, accepted jsonb, place text, example text
) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    none CONSTANT text := 'no condition';
    kind CONSTANT text := CASE
        WHEN jsonb_typeof(accepted) <> 'object' THEN 'list'
        ELSE (SELECT string_agg(member, ' and ' ORDER BY member) FROM jsonb_object_keys(accepted) AS member)
    END;
    what CONSTANT text := format('what "%s" ', name) || CASE kind WHEN 'not' THEN 'must not be ' ELSE 'accepts ' END;
    listed CONSTANT jsonb := CASE kind WHEN 'list' THEN accepted ELSE accepted -> 'not' END;
    is_list CONSTANT boolean := CASE
        WHEN kind = 'range' AND jsonb_typeof(accepted -> 'range') = 'string' THEN true
        WHEN kind IS NULL OR kind NOT IN ('list', 'not') THEN refuse(
            place, what || 'is neither a list nor one of "not" with a list and "range" with a text', example,
            absent => none
        )
        WHEN jsonb_typeof(listed) <> 'array' THEN refuse(place, what || 'is not a list', example, absent => none)
        WHEN listed = '[]' THEN refuse(place, what || 'is an empty list', example, absent => none)
        ELSE true
    END;
    is_allowed boolean;
    item jsonb;
BEGIN
    IF kind = 'range' THEN
        RETURN check_version_range(accepted ->> 'range', place);
    END IF;
    FOR item IN SELECT * FROM jsonb_array_elements(listed) LOOP
        is_allowed := CASE
            WHEN jsonb_typeof(item) <> 'string' THEN refuse(
                place, what || format('has %s in it, which is not a text', quoted(item::text)),
                'Write numbers and booleans as texts, as the client does: {"level": ["1"], "trial": ["true"]}.',
                absent => none
            )
            WHEN item = '""' THEN refuse(
                place, what || 'has an empty text in it', 'An empty text from a client counts as not sent.',
                absent => none
            )
            WHEN check_ends(item #>> '{}', place) AND octet_length(item #>> '{}') > 1024 THEN refuse(
                place, what || 'has a text in it that is longer than 1024 bytes',
                'Longer values from clients are not read.'
            )
        END;
    END LOOP;
    RETURN is_list;
END
$$;

CREATE FUNCTION versiongate_internal.check_attributes(value jsonb, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    example CONSTANT text :=
        'Write lists of texts: {"channel": ["beta", "nightly"]}. Or what it must not be: {"tier": {"not": ["staff"]}}; or a'
        ' range of versions: {"stamp": {"range": ">=45 <60"}}.';
    attribute record;
    is_allowed boolean;
BEGIN
    IF value IS NULL THEN
        RETURN true;
    END IF;
    is_allowed := CASE
        WHEN jsonb_typeof(value) <> 'object'
            THEN refuse(place, quoted(value::text) || ' is not an object', example, absent => 'no condition')
        WHEN value = '{}' THEN refuse(place, 'an empty object', NULL, absent => 'no condition')
        WHEN octet_length(value::text) > 65536 THEN
            refuse(place, octet_length(value::text) || ' bytes are too many', 'Write at most 65536 bytes in all.')
        WHEN (SELECT count(*) > 64 FROM jsonb_object_keys(value)) THEN
            refuse(place, 'more than 64 attributes', 'A client sends at most 64, so nobody can have more than that.')
        WHEN (SELECT count(*) > 16 FROM jsonb_each(value) AS member(name, accepted) WHERE member.accepted -> 'not' IS NOT NULL)
            THEN refuse(
                place, 'more than 16 attributes with "not"',
                'Each costs every check, also of clients that send none of them. Write lists of what is accepted instead.'
            )
    END;
    FOR attribute IN SELECT * FROM jsonb_each(value) AS member(name, accepted) ORDER BY name COLLATE "C" LOOP
        PERFORM check_attribute_name(attribute.name, place, example),
                check_attribute_values(attribute.name, attribute.accepted, place, example);
    END LOOP;
    RETURN true;
END
$$;

CREATE FUNCTION versiongate_internal.check_percentage(value numeric, place text) RETURNS boolean
    LANGUAGE sql PARALLEL SAFE
RETURN value IS NULL OR value BETWEEN 0 AND 100 AND value = round(value, 2) OR refuse(
    place, format('%s is not a percentage', value),
    'Write a percentage from 0 to 100 with at most two decimals, such as 37.25; nothing is rounded.'
);

CREATE FUNCTION versiongate_internal.check_time(value timestamptz, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN value IS NULL OR value >= '0001-01-01 00:00:00+00' AND value < '10000-01-01 00:00:00+00' OR refuse(
        place, CASE WHEN isfinite(value) THEN 'a time outside the years 1 to 9999' ELSE 'an infinite time' END,
        CASE place
            WHEN 'rollout_steps.at' THEN 'Write the time from which the step applies.'
            WHEN 'releases.live_at' THEN 'Write from when on users can get it.'
        END,
        absent => CASE place
            WHEN 'rollout_steps.at' THEN NULL
            WHEN 'releases.live_at' THEN 'a time that is not known'
            WHEN 'releases.withdrawn_at' THEN 'no end in the store'
            ELSE 'no condition'
        END
    );
END
$$;

-- A release may be offered at once; how often a message is shown is counted in whole seconds.
CREATE FUNCTION versiongate_internal.check_duration(value interval, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN NOT isfinite(value) AND place = 'rules.soak' THEN refuse(place, 'an infinite time', NULL, absent => 'no wait')
        WHEN NOT isfinite(value) THEN refuse(
            place, 'an infinite time', 'To show the message once, set shows to 1.',
            command => 'To show the message once, give --shows 1.'
        )
        WHEN extract(year FROM value) <> 0 OR extract(month FROM value) <> 0 THEN refuse(
            place, quoted(value::text) || ' has months in it, which have no fixed length',
            'Write days, hours, minutes and seconds: 30 days'
        )
        WHEN value < '0' THEN refuse(
            place, quoted(value::text) || ' is negative',
            CASE place
                WHEN 'rules.soak' THEN 'Write how long a release must have been live: 2 days'
                ELSE 'Write how long after it was shown the message may be shown again: 1 day'
            END
        )
        WHEN value > '36500 days' THEN refuse(place, quoted(value::text) || ' is too long', 'Write at most 36500 days.')
        WHEN place = 'rules.soak' THEN true
        WHEN value = '0' THEN refuse(place, 'the time is zero', NULL, absent => 'the message at every start')
        WHEN extract(epoch FROM value) % 1 <> 0 THEN refuse(
            place, quoted(value::text) || ' has a fraction of a second in it', 'Write whole seconds; nothing is rounded.'
        )
        ELSE true
    END;
END
$$;

CREATE FUNCTION versiongate_internal.check_text(value text, place text, longest integer) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    nothing CONSTANT text := 'Write what people should read.';
    controls CONSTANT text := '\u0001-\u0009\u000B-\u001F\u007F-\u009F';
    noncharacters CONSTANT text :=
        '\uFDD0-\uFDEF\uFFFE\uFFFF\U0001FFFE\U0001FFFF\U0002FFFE\U0002FFFF\U0003FFFE\U0003FFFF\U0004FFFE\U0004FFFF'
        '\U0005FFFE\U0005FFFF\U0006FFFE\U0006FFFF\U0007FFFE\U0007FFFF\U0008FFFE\U0008FFFF\U0009FFFE\U0009FFFF'
        '\U000AFFFE\U000AFFFF\U000BFFFE\U000BFFFF\U000CFFFE\U000CFFFF\U000DFFFE\U000DFFFF\U000EFFFE\U000EFFFF'
        '\U000FFFFE\U000FFFFF\U0010FFFE\U0010FFFF';
    found text := (regexp_match(value, '[' || controls || '\u2028\u2029\u202D\u202E\uFEFF' || noncharacters || ']'))[1];
    directions text;
    is_readable CONSTANT boolean := CASE
        WHEN length(value) > longest THEN
            refuse(place, length(value) || ' characters are too many', format('Write at most %s characters.', longest))
        WHEN value ~ '^[ \t\n]*$' THEN refuse(place, 'an empty text', nothing)
        WHEN found IS NOT NULL THEN refuse(
            place, CASE
                WHEN found ~ '[\u0001-\u009F]' THEN 'the control character '
                WHEN found ~ '[\u202D\u202E]' THEN 'the direction override '
                ELSE 'the character '
            END || code_point(found),
            format('Remove it, at character %s', strpos(value, found)) || CASE
                WHEN found ~ '[\u0001-\u009F]' THEN '; a new line (U+000A) is the only one allowed.'
                WHEN found ~ '[\u202D\u202E]' THEN
                    ': it shows text in another order than it is written in. Text from right to left needs none.'
                WHEN found ~ '[\u2028\u2029]' THEN ': it ends a line where apps may not; write a new line (U+000A).'
                WHEN found ~ '\uFEFF' THEN ': it is a byte order mark, not part of a text.'
                ELSE ': it is no character of Unicode.'
            END
        )
        WHEN value !~ ('[^\u0009\u000A\u0020' || strange_blanks() || ignorable_characters() || ']')
            THEN refuse(place, 'a text with nothing visible in it', nothing)
    END;
BEGIN
    -- Pairs go from the innermost on; each line stands alone. No algorithm follows them deeper than 125.
    directions := regexp_replace(value, '[^\n\u202A-\u202C\u2066-\u2069]', '', 'g');
    FOR depth IN 1 .. 125 LOOP
        EXIT WHEN directions !~ '[^\n]';
        directions := regexp_replace(directions, '[\u202A\u202B]\u202C|[\u2066-\u2068]\u2069', '', 'g');
    END LOOP;
    found := (regexp_match(directions, '[^\n]'))[1];
    RETURN found IS NULL OR refuse(
        place, format('the direction control %s without its partner', code_point(found)),
        'Close each embedding (U+202A, U+202B) by U+202C and each isolate (U+2066 to U+2068) by U+2069 on its line,'
        ' or take them out; the marks U+200E and U+200F need no partner.'
    );
END
$$;

CREATE FUNCTION versiongate_internal.check_placeholders(
    value text, place text, target text, ends_at timestamptz
) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN target IS NULL AND strpos(value, '{target}') > 0 THEN refuse(
            place, '{target} in a rule without a target', 'Set target, or take {target} out.',
            command => 'Give --target, or take {target} out.'
        )
        WHEN ends_at IS NULL AND strpos(value, '{date}') > 0 THEN refuse(
            place, '{date} in a rule without an end', 'Set ends_at, or take {date} out.',
            command => 'Give --ends-at, or take {date} out.'
        )
        ELSE true
    END;
END
$$;

CREATE FUNCTION versiongate_internal.check_note(value text, place text, longest integer DEFAULT 10000) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    found CONSTANT text := (regexp_match(value, '[\u0001-\u0008\u000B-\u001F\u007F-\u009F]'))[1];
BEGIN
    RETURN CASE
        WHEN octet_length(value) > longest THEN
            refuse(place, octet_length(value) || ' bytes are too many', format('Write at most %s bytes.', longest))
        ELSE found IS NULL OR refuse(
            place, 'the control character ' || code_point(found),
            format(
                'Remove it, at character %s; a new line (U+000A) and a tab (U+0009) are the only ones allowed.',
                strpos(value, found)
            )
        )
    END;
END
$$;

CREATE FUNCTION versiongate_internal.check_link(value text, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    -- What no address has: readers of many systems make no address of a text with it.
    strange CONSTANT text := (regexp_match(value, '["<>\\^`{|}]|%(?![0-9A-Fa-f]{2})'))[1];
BEGIN
    RETURN CASE
        WHEN value IS NULL THEN true
        WHEN NOT check_ends(value, place) THEN false
        WHEN octet_length(value) > 2048 THEN
            refuse(place, format('a link of %s bytes is too long', octet_length(value)), 'Write at most 2048 bytes.')
        WHEN lower(value) = 'store' AND place = 'rules.link'
            THEN refuse(place, quoted(value) || ' is the word store in another spelling', 'Write store')
        WHEN value COLLATE "C" !~* '^(https?|itms-apps|itms-appss|macappstore|market|ms-windows-store):' THEN refuse(
            place, quoted(value) || ' is not a link that apps may open',
            'Write an address with one of https, http, itms-apps, itms-appss, macappstore, market, ms-windows-store'
            || CASE WHEN place = 'rules.link' THEN ', or the word store for the app''s own link' ELSE '' END
            || CASE WHEN value ~* '^[a-z0-9-]+([.][a-z0-9-]+)+(/[!-~]*)?$' THEN ': https://' || value ELSE '.' END
        )
        WHEN value COLLATE "C" !~ '^[!-~]+$' THEN refuse(
            place, quoted(value) || ' has a space or a character that is not ASCII',
            'Write such characters as %XX, a space as %20, and the name of a host in ASCII (xn--...).'
        )
        WHEN strange IS NOT NULL THEN refuse(
            place, format('%s contains %s, which no address may contain', quoted(value), strange),
            CASE
                WHEN strange IN ('{', '}')
                    THEN 'Nothing is filled in in a link: write the address exactly as it should be opened.'
                ELSE format('Write it as %%%s.', upper(to_hex(ascii(strange))))
            END
        )
        WHEN value COLLATE "C" !~* '^(https?://.|(itms-appss?|macappstore|market|ms-windows-store):.)'
            THEN refuse(place, quoted(value) || ' leads nowhere', 'Write the whole address: https://example.com/app')
        WHEN value COLLATE "C" ~* '^https?:' AND value COLLATE "C" !~*
            '^https?://([a-z0-9_-]+([.][a-z0-9_-]+)*[.]?|[[][0-9a-f:.]+])(:[0-9]{1,5})?([/?#]|$)' THEN refuse(
            place, quoted(value) || ' does not name a host',
            'Write the host after ://, without a user''s name: https://example.com/app'
        )
        ELSE true
    END;
END
$$;
