-- A policy of 100,000 rules over 1,000 apps, 100 an app. One rule of com.example.doto matches the measured question.

BEGIN;

INSERT INTO apps (bundle, name)
SELECT CASE app WHEN 1 THEN 'com.example.doto' ELSE 'com.example.app' || app END, 'App ' || app
FROM generate_series(1, 1000) AS app;

INSERT INTO releases (bundle, platform, version, live_at)
SELECT bundle, platform, version, '2026-01-01T00:00:00Z'
FROM apps, unnest('{ios,android}'::text[]) AS platform, unnest('{1.1,1.2,1.3}'::text[]) AS version;

INSERT INTO rules (key, bundle, enabled, position, versions, platforms, regions, attributes, title, text, link)
SELECT
    format('app%s-rule%s', app, number),
    CASE app WHEN 1 THEN 'com.example.doto' ELSE 'com.example.app' || app END,
    true,
    number,
    format('>=%s.%s <%s.%s.5', number + 1, app, number + 1, app),
    CASE number % 3 WHEN 0 THEN '{android}'::text[] WHEN 1 THEN '{ios}'::text[] END,
    CASE WHEN number % 4 = 3 THEN '{JP,DE}'::text[] END,
    CASE WHEN number % 6 = 5 THEN '{"channel": ["beta"]}'::jsonb END,
    'Notice ' || number,
    'What users of this app should know, number ' || number || '.',
    'https://apps.example.com/' || app || '/' || number
FROM generate_series(1, 1000) AS app, generate_series(1, 100) AS number
WHERE NOT (app = 1 AND number = 100);

INSERT INTO rules (key, bundle, enabled, position, versions, platforms, title, text)
VALUES ('doto-update', 'com.example.doto', true, 100, '<1.2', '{ios}', 'Edit 0', 'Please update.');

COMMIT;
