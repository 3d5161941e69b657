-- Versions and version ranges.
--
-- A version is put in order by a key, and a range becomes a set of spans of keys, so that PostgreSQL's own range types
-- do the rest: matching is containment, "and" is intersection, "or" is union, and a range that nothing can match is
-- empty.

SET LOCAL search_path = public, versiongate_internal, pg_temp;

-- The bytes that put a version in order; null if it cannot be read as a version.
-- The key, compared byte by byte, orders versions:
--   each number            2 + how many significant digits it has (one byte), then these; zeros at the end left out
--   a release              01
--   a pre-release          00, then each identifier, then 00
--     of digits            01, how many significant digits (one byte), then these digits
--     of other characters  02, the characters, then 00
-- A number with more digits is greater, so the count comes first; every count of a number is above 01, so 1.2 <
-- 1.2.0.1.
CREATE FUNCTION versiongate_internal.version_key(version text) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    written CONSTANT text COLLATE "C" := btrim(version, E' \t\r\n');
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

-- That of 0-0.
CREATE FUNCTION versiongate_internal.least_key() RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode('00010000', 'hex');

CREATE FUNCTION version_compare(a text, b text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
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

-- From one version to another, by their keys.
-- What a version range means: the spans of versions that it matches, by their keys.
CREATE TYPE versiongate_internal.version_span AS RANGE (
    SUBTYPE = bytea, MULTIRANGE_TYPE_NAME = versiongate_internal.version_spans
);

-- The key of the first version with the same numbers as the version of this key: their pre-release 0.
-- What follows the numbers is below 02, and each number tells how many digits it has.
CREATE FUNCTION versiongate_internal.version_family(key bytea) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    count integer := 0;
BEGIN
    WHILE get_byte(key, count) >= 2 LOOP
        count := count + get_byte(key, count) - 1;
    END LOOP;
    RETURN substr(key, 1, count) || '\x00010000'::bytea;
END
$$;

-- The key of the first version that begins with these numbers: their pre-release 0.
CREATE FUNCTION versiongate_internal.version_family_start(numbers text[]) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN version_family(
    version_key(array_to_string(coalesce(nullif(numbers, '{}'), '{0}'), '.'))
    );

-- The end, exclusive, of the versions that share the first count numbers; null (no end) where count is 0.
CREATE FUNCTION versiongate_internal.version_family_end(numbers text[], count integer) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN count > 0 THEN version_family_start(numbers[1:count - 1] || (numbers[count]::numeric + 1)::text)
END;

-- The faults of a range. Beside what is wrong and a hint, each tells what seems to be meant: what to write in place of
-- the faulty part, or null where that cannot be known. What is meant may be wrong as well.

CREATE FUNCTION versiongate_internal.version_operand_fault(
    operator text, operand text, key bytea, OUT fault text, OUT hint text, OUT meant text
)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    -- A version of numbers and wildcards.
    bound CONSTANT text := '[vV]?(?:[0-9]+|[xX*])(?:\.(?:[0-9]+|[xX*]))*';
    written CONSTANT text COLLATE "C" := operand;
BEGIN
    IF key IS NOT NULL AND written ~ '^[0-9.]*$' THEN
        RETURN;
    ELSIF octet_length(written) > 128 THEN
        fault := format('"%s..." has %s bytes', left(operand, 24), octet_length(operand));
        hint := 'A version has at most 128';
    ELSIF written ~ '[\r\n]' THEN
        fault := format('"%s" has the end of a line inside', operand);
        hint := 'Write the range in one line';
        meant := operator || regexp_replace(written, '[\r\n]+', ' ', 'g');
    ELSIF written ~ '[<>=~^!]' THEN
        fault := format('"%s" has an operator inside', operand);
        hint := 'Put a space before the operator';
        meant := operator || regexp_replace(written, '([<>=~^!]+)', ' \1', 'g');
    ELSIF operator = '' AND written ~ '^[vV]?[0-9]+(\.[0-9]+)*\+$' THEN
        fault := format('"%s": a bound is written as an operator', operand);
        hint := 'Write ">=" for "or later"';
        meant := '>=' || rtrim(written, '+');
    ELSIF written ~ '[+(]' THEN
        fault := format('"%s" has a suffix, which is ignored in versions and has no place in a range', operand);
        hint := 'Leave the suffix out; a condition on build numbers goes into builds';
    ELSIF written ~ '^[vV]?[0-9]+(\.[0-9]+)*[xX*]$' THEN
        fault := format('"%s" is not a version', operand);
        hint := 'Put a dot before the wildcard';
        meant := operator || regexp_replace(written, '([xX*])$', '.\1');
    ELSIF written ~ '^[vV]?[0-9]+(\.[0-9]+)*[xX][0-9]+$' THEN
        fault := format('"%s" is not a version', operand);
        hint := 'An x is a wildcard, which stands at the end and after a dot';
    ELSIF written ~ '^[vV]?([0-9]+\.)*[xX*]\.' THEN
        fault := format('"%s" has something other than a wildcard after a wildcard', operand);
        hint := format('A wildcard stands at the end of a version, not as in %s', operand);
    ELSIF operator = ''
        AND written ~ '^[vV]?[0-9]+(-[0-9]+|(\.[0-9]+)*-([0-9]+|[xX])(\.([0-9]+|[xX]))+)$'
        OR key IS NULL AND written ~ '^-|-$|[0-9xX*]-[0-9]' THEN
        fault := format('"%s" is not one version', operand);
        hint := 'If it is meant to be from one version to another, put spaces round the hyphen';
        IF operator = '' AND written ~ format('^(%1$s)?-(%1$s)?$', bound) THEN
            meant := btrim(replace(written, '-', ' - '));
        END IF;
    ELSIF written ~* '^(all|any|every|everything)$' THEN
        fault := format('"%s" is not a version', operand);
        hint := 'Write * for any version that can be read';
        meant := '*';
    ELSIF key IS NULL THEN
        fault := format('"%s" is not a version', operand);
        hint := 'A version, such as 1.2, 1.2.0-beta.1 or 1.2b3, is numbers joined by dots, with a pre-release if need be'
            || CASE WHEN written ~ '^[A-Za-z]+$' THEN '; for every version leave the condition out' ELSE '' END;
        meant := operator || (regexp_match(written, '^(?:ios|android|macos|api|build|b|#)([0-9]+(?:\.[0-9]+)*)$', 'i'))[1];
    END IF;
END
$$;

-- What is wrong with an operator that ranges do not have. meant: comparators, any of which may hold.
-- `written` is the operator as it stands in the range, with a space inside if there is one.
CREATE FUNCTION versiongate_internal.version_operator_fault(
    written text, operand text, OUT fault text, OUT hint text, OUT meant text[]
)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    operator CONSTANT text := replace(written, ' ', '');
    known CONSTANT text := CASE
        WHEN operator IN ('<', '<=', '>', '>=', '=', '~', '^') THEN operator
        WHEN operator = '=<' THEN '<='
        WHEN operator = '=>' THEN '>='
        WHEN operator IN ('==', '===') THEN '='
    END;
BEGIN
    fault := format('"%s%s": there is no operator "%s"', written, operand, written);
    IF known IS NOT NULL THEN
        hint := format('Write "%s"', known);
        meant := ARRAY[known || operand];
    ELSIF operator IN ('!=', '!==', '!', '<>') THEN
        hint := 'Leave one version out with "||"';
        meant := ARRAY['<' || operand, '>' || operand];
    ELSIF operator IN ('~>', '~=') THEN
        hint := 'Write "~" where the first two numbers are to stay, "^" where the first that is not 0 is';
        -- Where these operators come from, they keep all numbers but the last.
        IF operand COLLATE "C" ~ '^[vV]?[0-9]+(\.[0-9]+\.[0-9]+)?$' THEN
            meant := ARRAY['~' || operand];
        END IF;
    ELSE
        hint := 'The operators are <, <=, >, >=, =, ~ and ^';
    END IF;
END
$$;

-- A comma, "and" and the like, wherever they stand in one side of "||". `meant` is what to write for all of the side.
CREATE FUNCTION versiongate_internal.version_separator_fault(side text, OUT fault text, OUT hint text, OUT meant text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    words CONSTANT text := regexp_replace(side, '[ \t]+', ' ', 'g');
    separator CONSTANT text := (regexp_match(words, '[,;/]|\|+|&+|(?<= )(?:and|or)(?= )', 'i'))[1];
    -- Bounds in words, and what they mean.
    bound CONSTANT text := (
        SELECT regexp_replace(words, w.pattern, w.meant, 'i')
          FROM (
              VALUES (1, '^(?:below|under|before|(?:less|older|lower|smaller) than) ([^ ]+)$', '<\1'),
                     (2, '^(?:above|over|after|(?:more|newer|greater|higher) than) ([^ ]+)$', '>\1'),
                     (3, '^(?:until|up to) ([^ ]+)$', '<=\1'),
                     (4, '^since ([^ ]+)$', '>=\1'),
                     (5, '^([^ ]+) (?:or|and) (?:later|newer|above|higher|up|greater|more)$', '>=\1'),
                     (6, '^([^ ]+) (?:or|and) (?:earlier|older|below|lower|less)$', '<=\1'),
                     (7, '^not ([^ ]+)$', '<\1 || >\1'),
                     (8, '^(?:from )?([^ ]+) to ([^ ]+)$', '\1 - \2'),
                     (9, '^between ([^ ]+) and ([^ ]+)$', '\1 - \2')
          ) AS w(place, pattern, meant)
         WHERE words ~* w.pattern
         ORDER BY w.place
         LIMIT 1
    );
    system CONSTANT text := (regexp_match(words, '^(ios|ipados|android|macos|windows|linux|tvos|watchos) [^ ]', 'i'))[1];
    items text[] COLLATE "C";
BEGIN
    IF system IS NOT NULL THEN
        fault := format('"%s": the name of a system is no part of a range', side);
        hint := 'Leave it out; all of iOS 15 is 15.x';
        -- Whether iOS 15 is 15.0 or all of 15 cannot be known.
        meant := CASE WHEN words ~ '^[^ ]+ [<>~^]' THEN substr(words, length(system) + 2) END;
    ELSIF bound IS NOT NULL THEN
        fault := format('"%s": a bound is written as an operator', side);
        meant := bound;
        hint := 'Write "<" for "below", ">" for "above", ">=" for "or later", "<=" for "or earlier", " - " for "to"';
    ELSIF separator IS NULL THEN
        RETURN;
    ELSIF separator IN (',', ';', '/') THEN
        fault := format('"%s" has a %s', side, CASE separator WHEN ',' THEN 'comma' ELSE format('"%s"', separator) END);
        hint := 'Put a space for "and", "||" for "or"'
            || CASE WHEN words ~ '^[0-9]+,[0-9]+$' THEN ', a dot inside a version' ELSE '' END;
        items := ARRAY(
            SELECT btrim(item, ' ')
              FROM string_to_table(translate(words, ';/', ',,'), ',') WITH ORDINALITY AS split(item, place)
             WHERE btrim(item, ' ') <> ''
             ORDER BY place
        );
        -- Versions in a list are alternatives; bounds in a list are meant to hold together.
        IF (SELECT bool_and(item ~ '^=?[^ <>=~^!]+$') FROM unnest(items) AS item)
            -- Whether 2,1 is 2.1 cannot be known.
            AND words !~ '^[0-9]+,[0-9]+$' THEN
            meant := array_to_string(items, ' || ');
        ELSIF (SELECT bool_and(item ~ '^[<>]=? ?[^ <>=~^!]+$') FROM unnest(items) AS item) THEN
            meant := array_to_string(items, ' ');
        END IF;
    ELSE
        fault := format('"%s": there is no operator "%s"', side, separator);
        hint := 'Write "||" for "or", and a space for "and"';
        meant := CASE
            WHEN separator ~ '\|' THEN regexp_replace(words, ' ?\|+ ?', ' || ', 'g')
            WHEN separator ~ '&' THEN regexp_replace(words, ' ?&+ ?', ' ', 'g')
            WHEN lower(separator) = 'or' THEN regexp_replace(words, ' or(?= )', ' ||', 'gi')
            ELSE regexp_replace(words, ' and(?= )', '', 'gi')
        END;
        -- Whether "1.2 and 1.4" are two versions or a wrong bound cannot be known, nor what "1.2 &" goes on with.
        IF separator ~* '&|and' AND meant ~ '^ | $|^=?[^ <>=~^!]+( +=?[^ <>=~^!]+)*$' THEN
            meant := NULL;
        END IF;
    END IF;
END
$$;

-- The operand stands for what is from first_key to next_key. A release has no successor, so there next_key is its own key
-- and belongs to it. Null: the operand stands for everything, and nothing is next.
CREATE FUNCTION versiongate_internal.read_version_operand(
    operator text, operand text, OUT first_key bytea, OUT next_key bytea, OUT next_belongs boolean, OUT numbers text[],
    OUT fault text, OUT hint text, OUT meant text
)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    written CONSTANT text COLLATE "C" := operand;
    family text;
BEGIN
    next_belongs := false;
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
            fault := format('"%s..." has %s bytes', left(operand, 24), octet_length(operand));
            hint := 'A version has at most 128';
        END IF;
        RETURN;
    END IF;
    IF first_key IS NULL THEN
        first_key := version_key(written);
    END IF;
    SELECT found.fault, found.hint, found.meant INTO fault, hint, meant
      FROM version_operand_fault(operator, operand, first_key) AS found;
    IF fault IS NOT NULL THEN
        RETURN;
    END IF;
    numbers := string_to_array((regexp_match(written, '^[vV]?([0-9.]+)'))[1], '.');
    IF get_byte(first_key, octet_length(first_key) - 1) = 0 THEN
        -- The pre-release p is followed by p.0 at once.
        next_key := substr(first_key, 1, octet_length(first_key) - 1) || '\x010000'::bytea;
    ELSE
        next_key := first_key;
        next_belongs := true;
    END IF;
END
$$;

-- What a part of a range means, or what is wrong with it.
CREATE TYPE versiongate_internal.range_reading AS (span version_span, fault text, hint text, meant text);

CREATE FUNCTION versiongate_internal.read_version_comparator(operator text, operand text) RETURNS range_reading
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    bound CONSTANT record := read_version_operand(operator, operand);
    to_next CONSTANT text := CASE WHEN bound.next_belongs THEN '[]' ELSE '[)' END;
    -- How many of the numbers every version between the bounds of ~ and ^ shares, the last of them not yet raised.
    shared integer := cardinality(bound.numbers);
    upper_key bytea;
BEGIN
    IF bound.fault IS NOT NULL THEN
        RETURN (NULL, bound.fault, bound.hint, bound.meant)::range_reading;
    ELSIF operator IN ('~', '^') THEN
        IF operator = '~' THEN
            shared := least(shared, 2);
        ELSE
            FOR place IN 1 .. shared LOOP
                IF ltrim(bound.numbers[place], '0') <> '' THEN
                    shared := place;
                END IF;
                EXIT WHEN shared = place;
            END LOOP;
        END IF;
        upper_key := version_family_end(bound.numbers, shared);
        -- A missing end means no end: it must not come from a number that grew too long to read.
        IF upper_key IS NULL AND shared > 0 THEN
            RETURN (
                NULL, format('"%s..." has no next version', left(operand, 24)),
                'A version has at most 128 bytes, the end of this one has more', NULL
            )::range_reading;
        END IF;
    END IF;
    RETURN (
        CASE
            WHEN operator = '<' THEN version_span(least_key(), bound.first_key)
            WHEN operator = '>=' THEN version_span(bound.first_key, NULL)
            WHEN operator = '<=' THEN version_span(least_key(), bound.next_key, to_next)
            WHEN operator IN ('~', '^') THEN version_span(bound.first_key, upper_key)
            WHEN operator <> '>' THEN version_span(bound.first_key, bound.next_key, to_next)
            WHEN bound.next_key IS NULL THEN 'empty'
            ELSE version_span(bound.next_key, NULL, CASE WHEN bound.next_belongs THEN '()' ELSE '[)' END)
        END,
        NULL, NULL, NULL
    )::range_reading;
END
$$;

CREATE FUNCTION versiongate_internal.read_version_hyphen(side text, words text[], hyphen integer) RETURNS range_reading
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    before CONSTANT text := (regexp_match(words[hyphen - 1], '^[<>=~^!]*'))[1];
    after CONSTANT text := (regexp_match(words[hyphen + 1], '^[<>=~^!]*'))[1];
    reading range_reading;
BEGIN
    IF cardinality(words) <> 3 OR hyphen <> 2 OR before <> '' OR after <> '' THEN
        reading.fault := format('"-" stands between two versions and nothing else, not as in "%s"', side);
        reading.hint := 'A span stands alone on its side of "||"; with more beside it, write two comparisons';
        IF before IN ('', '>', '>=') AND after IN ('', '<', '<=') THEN
            reading.meant := array_to_string(
                words[:hyphen - 2]
                    || (CASE before WHEN '' THEN '>=' ELSE '' END || words[hyphen - 1])
                    || (CASE after WHEN '' THEN '<=' ELSE '' END || words[hyphen + 1])
                    || words[hyphen + 2:],
                ' '
            );
        END IF;
        RETURN reading;
    END IF;
    -- Read as bare versions first: not all that may follow an operator may stand in a span.
    FOREACH hyphen IN ARRAY '{1,3}'::integer[] LOOP
        reading := read_version_comparator('', words[hyphen]);
        IF reading.fault IS NOT NULL THEN
            reading.meant := CASE
                WHEN reading.meant IS NOT NULL
                    THEN array_to_string(words[:hyphen - 1] || reading.meant || words[hyphen + 1:], ' ')
            END;
            RETURN reading;
        END IF;
    END LOOP;
    reading.span := (read_version_comparator('>=', words[1])).span
        * (read_version_comparator('<=', words[3])).span;
    RETURN reading;
END
$$;

CREATE FUNCTION versiongate_internal.read_version_side(side text) RETURNS range_reading
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    words CONSTANT text[] COLLATE "C" := regexp_split_to_array(side, '[ \t]+');
    hyphen CONSTANT integer := array_position(words, '-');
    -- The comparator that is being read: its first and last word, and what to write in its place.
    place integer := 1;
    last integer;
    alternatives text[];
    operator text COLLATE "C";
    operand text COLLATE "C";
    reading range_reading;
    span version_span;
    separator record;
BEGIN
    IF side = '' THEN
        reading.fault := 'one side of "||" is empty';
        reading.hint := 'Write a range on both sides of "||", or leave it out';
        RETURN reading;
    ELSIF hyphen IS NOT NULL THEN
        reading := read_version_hyphen(side, words, hyphen);
        span := reading.span;
        place := cardinality(words) + 1;
    END IF;
    WHILE place <= cardinality(words) AND reading.fault IS NULL LOOP
        last := place;
        operator := (regexp_match(words[place], '^[<>=~^!]*'))[1];
        operand := substr(words[place], length(operator) + 1);
        -- An operator may stand apart from its version.
        IF operand = '' AND place < cardinality(words) THEN
            last := place + 1;
            operand := words[last];
            IF operand ~ '^[<>=~^!]' THEN
                operator := operator || ' ' || (regexp_match(operand, '^[<>=~^!]*'))[1];
                operand := ltrim(operand, '<>=~^!');
            END IF;
        END IF;

        alternatives := NULL;
        IF operand = '' THEN
            reading.fault := format('"%s" is followed by no version', operator);
            reading.hint := 'Write the version after it';
        ELSIF operator NOT IN ('', '<', '<=', '>', '>=', '=', '~', '^') THEN
            SELECT f.fault, f.hint, f.meant INTO reading.fault, reading.hint, alternatives
              FROM version_operator_fault(operator, operand) AS f;
        ELSE
            reading := read_version_comparator(operator, operand);
            alternatives := ARRAY[reading.meant];
            span := CASE WHEN place = 1 THEN reading.span ELSE span * reading.span END;
        END IF;
        IF reading.fault IS NOT NULL THEN
            reading.meant := (
                SELECT string_agg(
                           array_to_string(words[:place - 1] || alternative || words[last + 1:], ' '),
                           ' || ' ORDER BY number
                       )
                  FROM unnest(alternatives) WITH ORDINALITY AS listed(alternative, number)
                 WHERE alternative IS NOT NULL
            );
        END IF;
        place := last + 1;
    END LOOP;
    IF reading.fault IS NULL THEN
        RETURN ROW(span, NULL, NULL, NULL)::range_reading;
    END IF;

    -- What separates wrongly is the fault of the side, whatever else it leads to.
    separator := version_separator_fault(side);
    IF separator.fault IS NOT NULL THEN
        RETURN ROW(NULL, separator.fault, separator.hint, separator.meant)::range_reading;
    END IF;
    RETURN reading;
END
$$;

-- npm's grammar, with one difference: a version is exact, padded with zeros, because the versions of apps have no fixed
-- number of parts.
CREATE FUNCTION versiongate_internal.read_version_range(
    range text, OUT spans version_spans, OUT fault text, OUT hint text, OUT meant text
)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    sides CONSTANT text[] := string_to_array(range, '||');
    side text COLLATE "C";
    place integer := 0;
    reading record;
    side_spans version_span[] := '{}';
    union_spans version_spans;
BEGIN
    IF btrim(range, E' \t') = '' THEN
        fault := 'an empty range';
        hint := 'Write * for any version that can be read';
        RETURN;
    END IF;

    FOREACH side IN ARRAY sides LOOP
        side := btrim(side, E' \t');
        place := place + 1;
        reading := read_version_side(side);
        IF reading.fault IS NOT NULL THEN
            fault := reading.fault;
            hint := reading.hint;
            IF reading.meant IS NOT NULL THEN
                meant := (
                    SELECT string_agg(
                               CASE WHEN number = place THEN reading.meant ELSE btrim(written, E' \t') END,
                               ' || ' ORDER BY number
                           )
                      FROM unnest(sides) WITH ORDINALITY AS listed(written, number)
                );
            END IF;
            RETURN;
        END IF;
        side_spans := array_append(side_spans, reading.span);
    END LOOP;

    -- All at once: one after the other takes time in the square of their number.
    union_spans := version_spans(VARIADIC side_spans);
    IF isempty(union_spans) THEN
        fault := format('"%s" matches nothing', range);
        hint := 'No version satisfies all the bounds at once: check them, and write "||" where you mean "or"';
        -- A list of versions: nothing is two of them.
        IF place = 1 AND side ~ '^=?[^ \t<>=~^!]+([ \t]+=?[^ \t<>=~^!]+)+$' AND side !~ '[ \t]-[ \t]' THEN
            meant := regexp_replace(side, '[ \t]+', ' || ', 'g');
        END IF;
        RETURN;
    END IF;
    spans := union_spans;
END
$$;

-- What seems to be meant is put into the hint only where it is a range, so a hint can be copied.
CREATE FUNCTION versiongate_internal.version_range_error(range text, OUT message text, OUT hint text)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    most_repairs CONSTANT integer := 4;
    reading record := read_version_range(range);
    meant text := reading.meant;
BEGIN
    IF reading.fault IS NULL THEN
        RETURN;
    END IF;
    message := reading.fault;
    hint := reading.hint;
    FOR repair IN 1 .. most_repairs LOOP
        EXIT WHEN meant IS NULL;
        reading := read_version_range(meant);
        IF reading.fault IS NULL THEN
            hint := hint || ': ' || meant;
            RETURN;
        END IF;
        meant := reading.meant;
    END LOOP;
    hint := hint || '.';
END
$$;

CREATE FUNCTION version_matches(version text, range text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = versiongate_internal, public, pg_temp
AS $$
DECLARE
    reading CONSTANT record := read_version_range(range);
BEGIN
    IF reading.fault IS NOT NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('not a version range: %s', reading.fault),
            DETAIL = format('The range is "%s".', range),
            HINT = (version_range_error(range)).hint;
    END IF;
    RETURN coalesce(reading.spans @> version_key(version), false);
END
$$;
COMMENT ON FUNCTION version_matches(text, text) IS
    'Whether a range matches a version; a version that cannot be read matches no range. A wrong range is an error.';
