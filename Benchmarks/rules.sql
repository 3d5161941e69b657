-- A policy of 1,000 rules over 50 apps: 20 an app, of every kind of condition. Of those of com.example.doto only one
-- matches the measured question, so an answer is right only if the others were told from it.

BEGIN;

INSERT INTO apps (bundle, name)
SELECT
    CASE app WHEN 1 THEN 'com.example.doto' ELSE 'com.example.app' || app END,
    CASE app WHEN 1 THEN 'Doto' ELSE 'App ' || app END
FROM generate_series(1, 50) AS app;

INSERT INTO rules (
    key, bundle, enabled, position, versions, builds, os, platforms, regions, languages, attributes, rollout,
    title, text, link)
SELECT
    format('app%s-rule%s', app, number),
    CASE app WHEN 1 THEN 'com.example.doto' ELSE 'com.example.app' || app END,
    true,
    number,
    CASE number % 4
        WHEN 0 THEN format('>=%s.%s <%s.%s.5', number, app, number, app)
        WHEN 1 THEN format('%s.%s.x', number + 1, app)
        WHEN 2 THEN format('<0.%s || 2.%s - 2.%s', number, number, number + 3)
    END,
    CASE WHEN number % 5 = 3 THEN '<40' END,
    CASE WHEN number % 5 = 4 THEN '<15' END,
    CASE number % 3 WHEN 0 THEN '{android}'::text[] WHEN 1 THEN '{ios}'::text[] ELSE '{ios,macos}'::text[] END,
    CASE WHEN number % 4 = 3 THEN '{JP,DE}'::text[] END,
    CASE WHEN number % 7 = 3 THEN '{de,ja}'::text[] END,
    CASE WHEN number % 6 = 5 THEN '{"channel": ["beta"]}'::jsonb END,
    CASE WHEN number % 8 = 2 THEN 25 ELSE 100 END,
    'Notice ' || number,
    'What users of this app should know, number ' || number || '.',
    'https://apps.example.com/' || app || '/' || number
FROM generate_series(1, 50) AS app, generate_series(1, 20) AS number
WHERE NOT (app = 1 AND number = 20);

INSERT INTO rules (key, bundle, enabled, position, versions, platforms, title, text, link)
VALUES (
    'doto-update', 'com.example.doto', true, 20, '<1.2', '{ios}', 'Please update',
    '{app} 1.2 is in the App Store. It keeps your lists in step when the network is slow.',
    'https://apps.example.com/doto');

COMMIT;
