-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- Versions and version ranges.
--
-- A version is put in order by a key, and a range becomes a set of spans of keys, so that PostgreSQL's own range types
-- do the rest: matching is containment, "and" is intersection, "or" is union, and a range that nothing can match is
-- empty.

SET LOCAL search_path = public, pg_temp;

DO $$
BEGIN
    IF current_setting('server_version_num')::int < 150000 THEN
        RAISE EXCEPTION 'PostgreSQL % is too old', current_setting('server_version')
            USING HINT = 'versiongate needs PostgreSQL 15 or newer.';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the database is encoded in %, not in UTF8', current_setting('server_encoding')
            USING HINT = 'Create the database with ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
END
$$;

-- The key, compared byte by byte, orders versions:
--   each number            2 + how many significant digits it has (one byte), then these; zeros at the end left out
--   a release              01
--   a pre-release          00, then each identifier, then 00
--     of digits            01, how many significant digits (one byte), then these digits
--     of other characters  02, the characters, then 00
-- A number with more digits is greater, so the count comes first; every count of a number is above 01, so 1.2 <
-- 1.2.0.1.
CREATE FUNCTION version_key(version text) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    written CONSTANT text COLLATE "C" := btrim(version, E' \t');
    parts text[];
    identifiers text[];
    item text;
    key bytea := '';
BEGIN
    IF octet_length(written) > 128 THEN
        RETURN NULL;
    ELSIF written ~ '^[0-9]+(\.[0-9]+)*$' THEN
        -- Nearly every version is no more than this, and the whole pattern takes five times as long.
        parts := ARRAY[written];
    ELSE
        parts := regexp_match(
            written,
            '^[vV]?([0-9]+(?:\.[0-9]+)*)'
            '(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)| ?([A-Za-z]+)([0-9]*))?'
            '(?:\+[0-9A-Za-z.-]+| ?\([ -''*-~]*\))?$'
        );
        IF parts IS NULL THEN
            RETURN NULL;
        END IF;
    END IF;

    FOREACH item IN ARRAY string_to_array(parts[1], '.') LOOP
        item := ltrim(item, '0');
        key := key || set_byte('\x00', 0, 2 + length(item)) || item::bytea;
    END LOOP;
    key := rtrim(key, '\x02'::bytea);

    IF parts[2] IS NOT NULL THEN
        identifiers := string_to_array(parts[2], '.');
    ELSIF parts[4] <> '' THEN
        identifiers := ARRAY[parts[3], parts[4]];
    ELSIF parts[3] IS NOT NULL THEN
        identifiers := ARRAY[parts[3]];
    ELSE
        RETURN key || '\x01'::bytea;
    END IF;

    key := key || '\x00'::bytea;
    FOREACH item IN ARRAY identifiers LOOP
        IF item ~ '^[0-9]+$' THEN
            item := ltrim(item, '0');
            key := key || set_byte('\x0100', 1, length(item)) || item::bytea;
        ELSE
            key := key || '\x02'::bytea || item::bytea || '\x00'::bytea;
        END IF;
    END LOOP;
    RETURN key || '\x00'::bytea;
END
$$;

COMMENT ON FUNCTION version_key(text) IS
    'The bytes that put a version in order; null if it cannot be read as a version.';

CREATE FUNCTION version_compare(a text, b text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
DECLARE
    key_a CONSTANT bytea := version_key(a);
    key_b CONSTANT bytea := version_key(b);
BEGIN
    RETURN CASE WHEN key_a < key_b THEN -1 WHEN key_a > key_b THEN 1 WHEN key_a = key_b THEN 0 END;
END
$$;

COMMENT ON FUNCTION version_compare(text, text) IS
    '-1, 0 or 1 as version a is below, equal to or above version b; null if one of them cannot be read.';

CREATE TYPE version_span AS RANGE (SUBTYPE = bytea, MULTIRANGE_TYPE_NAME = version_spans);

COMMENT ON TYPE version_span IS 'From one version to another, by their keys.';
COMMENT ON TYPE version_spans IS 'What a version range means: the spans of versions that it matches, by their keys.';

-- The first of all versions that begin with these numbers: 1.3 gives the key of 1.3-0. Null if they are too long to
-- read.
CREATE FUNCTION version_family_start(numbers text[]) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    release CONSTANT bytea := version_key(array_to_string(coalesce(nullif(numbers, '{}'), '{0}'), '.'));
BEGIN
    RETURN substr(release, 1, octet_length(release) - 1) || '\x00010000'::bytea;
END
$$;

COMMENT ON FUNCTION version_family_start(text[]) IS
    'The key of the first version that begins with these numbers: their pre-release 0.';

-- The end, exclusive, of the versions that share the first `count` numbers; null (no end) where count is 0.
CREATE FUNCTION version_family_end(numbers text[], count integer) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
BEGIN
    IF count = 0 THEN
        RETURN NULL;
    END IF;
    RETURN version_family_start(numbers[1:count - 1] || (numbers[count]::numeric + 1)::text);
END
$$;

COMMENT ON FUNCTION version_family_end(text[], integer) IS
    'The key of the first version after all that share the first so many numbers; null for none of them.';

-- What is wrong with the version of a comparator, which `key` is the key of: refused is also some of what can be read.
CREATE FUNCTION version_operand_fault(operator text, operand text, key bytea, OUT fault text, OUT hint text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    written CONSTANT text COLLATE "C" := operand;
BEGIN
    IF key IS NOT NULL AND written ~ '^[0-9.]*$' THEN
        RETURN;
    ELSIF written = '' THEN
        fault := format('"%s" is followed by no version', operator);
        hint := format('Write the version after it: %s1.2', operator);
    ELSIF written ~ '[+(]' THEN
        fault := format('"%s" has a suffix, which is ignored in versions and has no place in a range', operand);
        hint := 'Leave the suffix out; a condition on build numbers goes into builds.';
    ELSIF written ~ '^[vV]?[0-9]+(\.[0-9]+)*[xX*]$' THEN
        fault := format('"%s" is not a version', operand);
        hint := format('Put a dot before the wildcard: %s.x', regexp_replace(written, '[xX*]$', ''));
    ELSIF written ~ '^[vV]?([0-9]+\.)*[xX*]\.' THEN
        fault := format('"%s" has a number after a wildcard', operand);
        hint := 'A wildcard stands at the end: 1.x';
    ELSIF operator = '' AND written ~ '^[vV]?[0-9]+(\.[0-9]+)*-([0-9]+|[xX])(\.([0-9]+|[xX]))+$'
        OR key IS NULL AND written ~ '^-|-$|[0-9xX*]-[0-9]' THEN
        fault := format('"%s" is not one version', operand);
        hint := 'If it is meant to be from one version to another, put spaces round the hyphen: 1.2 - 1.4';
    ELSIF key IS NULL THEN
        fault := format('"%s" is not a version', operand);
        hint := 'A version is numbers joined by dots, with a pre-release if need be: 1.2, 1.2.0-beta.1, 1.2b3';
    END IF;
END
$$;

COMMENT ON FUNCTION version_operand_fault(text, text, bytea) IS
    'What is wrong with the version of a comparator in a range, and what to write instead; nulls if nothing is.';

-- One comparator, such as >=1.2 or ~1.2.x: `span`, or `fault` and `hint`.
CREATE FUNCTION read_version_comparator(
    operator text, operand text, OUT span version_span, OUT fault text, OUT hint text
)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    -- Nothing is below 0-0.
    least_key CONSTANT bytea := '\x00010000';
    written CONSTANT text COLLATE "C" := operand;
    family text;
    numbers text[];
    -- How many of the numbers every version between the bounds of ~ and ^ shares, the last of them not yet raised.
    shared integer;
    -- The operand stands for what is from `first_key` to `next_key`. A release has no successor, so there `next_key` is
    -- its own key and belongs to it. Null: the operand stands for everything, and nothing is next.
    first_key bytea;
    next_key bytea;
    next_belongs boolean := false;
    upper_key bytea;
BEGIN
    IF written ~ '[0-9]$' THEN
        first_key := version_key(written);
    END IF;
    IF first_key IS NULL THEN
        family := (regexp_match(written, '^[vV]?((?:[0-9]+\.)*)[xX*](?:\.[xX*])*$'))[1];
    END IF;

    IF family IS NOT NULL THEN
        numbers := string_to_array(rtrim(family, '.'), '.');
        first_key := version_family_start(numbers);
        next_key := version_family_end(numbers, cardinality(numbers));
        IF octet_length(written) > 128 OR first_key IS NULL OR next_key IS NULL AND family <> '' THEN
            fault := format('"%s" is too long', operand);
            hint := 'A version has at most 128 bytes.';
            RETURN;
        END IF;
    ELSE
        IF first_key IS NULL THEN
            first_key := version_key(written);
        END IF;
        SELECT found.fault, found.hint INTO fault, hint
          FROM version_operand_fault(operator, operand, first_key) AS found;
        IF fault IS NOT NULL THEN
            RETURN;
        END IF;
        IF get_byte(first_key, octet_length(first_key) - 1) = 0 THEN
            -- The pre-release p is followed by p.0 at once.
            next_key := substr(first_key, 1, octet_length(first_key) - 1) || '\x010000'::bytea;
        ELSE
            next_key := first_key;
            next_belongs := true;
        END IF;
    END IF;

    CASE operator
        WHEN '<' THEN
            span := version_span(least_key, first_key);
        WHEN '>=' THEN
            span := version_span(first_key, NULL);
        WHEN '<=' THEN
            span := version_span(least_key, next_key, CASE WHEN next_belongs THEN '[]' ELSE '[)' END);
        WHEN '>' THEN
            IF next_key IS NULL THEN
                span := 'empty';
            ELSE
                span := version_span(next_key, NULL, CASE WHEN next_belongs THEN '()' ELSE '[)' END);
            END IF;
        WHEN '', '=' THEN
            span := version_span(first_key, next_key, CASE WHEN next_belongs THEN '[]' ELSE '[)' END);
        WHEN '~', '^' THEN
            numbers := coalesce(numbers, string_to_array((regexp_match(written, '^[vV]?([0-9.]+)'))[1], '.'));
            shared := cardinality(numbers);
            IF operator = '~' THEN
                shared := least(shared, 2);
            ELSE
                FOR place IN 1 .. shared LOOP
                    IF ltrim(numbers[place], '0') <> '' THEN
                        shared := place;
                    END IF;
                    EXIT WHEN shared = place;
                END LOOP;
            END IF;
            upper_key := version_family_end(numbers, shared);
            -- A missing end means no end: it must not come from a number that grew too long to read.
            IF upper_key IS NULL AND shared > 0 THEN
                fault := format('"%s" is too long', operand);
                hint := 'A version has at most 128 bytes.';
                RETURN;
            END IF;
            span := version_span(first_key, upper_key);
    END CASE;
END
$$;

COMMENT ON FUNCTION read_version_comparator(text, text) IS
    'Reads one comparator of a version range: the span of versions it stands for, or what is wrong with it.';

-- npm's grammar, with one difference: a version is exact, padded with zeros, because the versions of apps have no fixed
-- number of parts.
CREATE FUNCTION read_version_range(range text, OUT spans version_spans, OUT fault text, OUT hint text)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    side text COLLATE "C";
    words text[] COLLATE "C";
    place integer;
    parts text[];
    side_span version_span;
    union_spans version_spans := version_spans();
    reading record;
BEGIN
    IF btrim(range, E' \t') = '' THEN
        fault := 'an empty range';
        hint := 'NULL means no condition; * means any version that can be read.';
        RETURN;
    END IF;

    FOREACH side IN ARRAY string_to_array(range, '||') LOOP
        side := btrim(side, E' \t');
        IF side = '' THEN
            fault := 'one side of "||" is empty';
            hint := 'Write a range on both sides of "||", or leave it out.';
            RETURN;
        END IF;

        words := regexp_split_to_array(side, '[ \t]+');
        side_span := NULL;
        IF cardinality(words) = 3 AND words[2] = '-' THEN
            -- Read as bare versions first: an operator has no place here.
            SELECT coalesce(first.fault, last.fault) AS fault,
                   CASE WHEN first.fault IS NULL THEN last.hint ELSE first.hint END AS hint,
                   from_first.span * to_last.span AS span
              INTO reading
              FROM read_version_comparator('', words[1]) AS first,
                   read_version_comparator('', words[3]) AS last,
                   read_version_comparator('>=', words[1]) AS from_first,
                   read_version_comparator('<=', words[3]) AS to_last;
            IF reading.fault IS NOT NULL THEN
                fault := reading.fault;
                hint := reading.hint;
                RETURN;
            END IF;
            side_span := reading.span;
            words := '{}';
        END IF;

        place := 1;
        WHILE place <= cardinality(words) LOOP
            parts := regexp_match(words[place], '^(<=|>=|<|>|=|~|\^|)(.*)$');
            -- An operator may stand apart from its version.
            IF parts[2] = '' AND place < cardinality(words) THEN
                place := place + 1;
                parts[2] := words[place];
            END IF;
            reading := read_version_comparator(parts[1], parts[2]);
            IF reading.fault IS NOT NULL THEN
                fault := reading.fault;
                hint := reading.hint;
                IF words[place] ~ ',' THEN
                    fault := format('"%s" has a comma', words[place]);
                    hint := format('Put a space for "and": %s', rtrim(replace(words[place], ',', ' ')));
                ELSIF words[place] ~ '^!' THEN
                    fault := format('"%s": there is no operator "!"', words[place]);
                    hint := format(
                        'Leave one version out with "||": <%1$s || >%1$s',
                        coalesce(nullif(ltrim(words[place], '!='), ''), '1.2')
                    );
                ELSIF words[place] ~ '[|&]' THEN
                    fault := format('"%s" is not a version', words[place]);
                    hint := 'Write "||" for "or", and a space for "and".';
                ELSIF parts[1] = '~' AND parts[2] ~ '^>' THEN
                    fault := format('"%s": there is no operator "~>"', words[place]);
                    hint := 'Write ~ alone.';
                END IF;
                RETURN;
            END IF;
            side_span := coalesce(side_span * reading.span, reading.span);
            place := place + 1;
        END LOOP;
        union_spans := union_spans + version_spans(side_span);
    END LOOP;

    IF isempty(union_spans) THEN
        fault := format('"%s" matches nothing', range);
        hint := 'No version can be on all sides at once: look at the bounds, and write "||" where "or" is meant.';
        RETURN;
    END IF;
    spans := union_spans;
END
$$;

COMMENT ON FUNCTION read_version_range(text) IS
    'Reads a version range: the spans of versions that it matches, or what is wrong with it and what to write instead.';

CREATE FUNCTION version_range_error(range text, OUT message text, OUT hint text)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
DECLARE
    reading CONSTANT record := read_version_range(range);
BEGIN
    message := reading.fault;
    hint := reading.hint;
END
$$;

COMMENT ON FUNCTION version_range_error(text) IS
    'What is wrong with a version range, and what to write instead; nulls if it can be read.';

CREATE FUNCTION version_matches(version text, range text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = public, pg_temp
AS $$
DECLARE
    reading CONSTANT record := read_version_range(range);
BEGIN
    IF reading.fault IS NOT NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('not a version range: %s', reading.fault),
            DETAIL = format('The range is "%s".', range),
            HINT = reading.hint;
    END IF;
    RETURN coalesce(reading.spans @> version_key(version), false);
END
$$;

COMMENT ON FUNCTION version_matches(text, text) IS
    'Whether a range matches a version; a version that cannot be read matches no range. A wrong range is an error.';
