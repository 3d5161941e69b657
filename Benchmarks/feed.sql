-- What an update client of com.example.doto reads: releases with notes, and its rule leads to one of them.

BEGIN;

WITH written AS (
    INSERT INTO releases (bundle, platform, version, live_at)
    SELECT 'com.example.doto', 'ios', version, now() - interval '1 day'
    FROM unnest('{1.0,1.1,1.2}'::text[]) AS version
    RETURNING id, version
)
INSERT INTO release_notes (release, language, text)
SELECT id, 'und', 'What is new in ' || version || ': lists keep in step when the network is slow, and can be shared.'
FROM written;

UPDATE rules SET target = '1.2', versions = NULL WHERE key = 'doto-update';

COMMIT;
