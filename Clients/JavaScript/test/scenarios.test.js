// The scenarios of all client libraries.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FakeNetwork } from '../support/network.js';
import { AsyncMemoryStorage, MemoryStorage, problemOf, readScenarios, runScenario } from '../support/scenarios.js';

const folder = fileURLToPath(new URL('../../scenarios/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const scenarios = files.flatMap((file) => readScenarios(folder + file).map((scenario) => ({ file, ...scenario })));

test('there are scenarios, and each has a name of its own', () => {
  assert.ok(files.length >= 8 && scenarios.length >= 150, `${scenarios.length} in ${files.length} files`);
  const names = scenarios.map(({ name }) => name);
  assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index), []);
});

for (const Storage of [MemoryStorage, AsyncMemoryStorage]) {
  test(`scenarios with ${Storage.name}`, async () => {
    const network = new FakeNetwork();
    const failures = [];
    for (const { file, ...scenario } of scenarios) {
      const { ok, step, why } = await runScenario(scenario, network, new Storage());
      if (!ok) failures.push(`${file}: ${scenario.name}: step ${step}: ${why}`);
    }
    assert.equal(failures.join('\n'), '');
  });
}

test('a scenario that is not as the page says is refused', () => {
  const app = { bundle: 'b', version: '1.0', platform: 'ios' };
  const scenario = (...steps) => ({ name: 'n', rule: 'asks', app, steps });
  const news = { id: 'news', title: 'News', text: 'Lists.' };
  const check = { check: {}, asks: true, shows: [] };
  assert.equal(problemOf(scenario({ answer: { messages: [news] } }, { start: {} }, check)), null);
  const wrong = [
    { sleep: 1 }, {}, null, { advance: '1' }, { advance: 1.5 },
    { start: { color: 'red' } }, { start: { bundle: null } }, { check: {} }, { check: {}, asks: true },
    { ...check, show: [] }, { ...check, links: [7] }, { ...check, gives: [{ remind: 1 }] },
    { check: { forced: true }, asks: true, shows: [] }, { open: 'news' }, { storage: 'broken' }, { preview: 7 }, { preview: '', refused: false }, { same: 'version' },
    { start: {}, stored: {} }, { answer: { fails: 1 } }, { answer: { body: 'x' } }, { answer: { status: 200, body: 'x', times: 2 } },
    { answer: { messages: [{ ...news, remind: '1' }] } }, { answer: { messages: [{ ...news, lockout: true }] } },
    { answer: { messages: [{ ...news, id: 'News' }] } }, { answer: { messages: [{ ...news, target: '1.2' }] } },
    { answer: { messages: [{ ...news, target: '1.0', shows: 1 }] } }, { answer: { messages: [news, news] } },
  ];
  for (const step of wrong) assert.notEqual(problemOf(scenario({ start: {} }, step)), null, JSON.stringify(step));
  assert.notEqual(problemOf(scenario(check)), null);
  assert.notEqual(problemOf(scenario({ start: {} }, { storage: 'empty' }, check)), null);
  assert.notEqual(problemOf({ ...scenario(), why: '' }), null);
});

test('a scenario fails at the first step that differs', async () => {
  const news = { id: 'news', title: 'News', text: 'Lists.' };
  const app = { bundle: 'com.example.doto' };
  const before = [{ answer: { messages: [news] } }, { start: {} }];
  const check = { check: {}, asks: true, shows: ['news'] };
  const wrong = [
    { ...check, asks: false }, { ...check, shows: [] }, { ...check, shows: ['news', 'news'] }, { ...check, sends: app },
    { ...check, sends: { ...app, install: 'x' } }, { ...check, links: ['https://example.com'] },
    { ...check, gives: [{ ...news, title: 'new' }] }, { stored: {} }, { same: 'install' }, { other: 'install' },
    { preview: { messages: [] }, refused: true }, { preview: '' }, { dismiss: 'news' }, { skip: 'news' }, { open: 'news', opens: null },
  ];
  for (const step of wrong) {
    const steps = [...before, step, { stored: { install: 'never' } }];
    const result = await runScenario({ name: 'n', rule: 'asks', app, steps }, new FakeNetwork());
    assert.equal(result.step, 3, JSON.stringify({ step, result }));
  }
  const after = [{ stored: null }, { same: 'install' }, { open: 'news', opens: 'https://example.com' }];
  for (const step of after) {
    const steps = [...before, check, step];
    const result = await runScenario({ name: 'n', rule: 'asks', app, steps }, new FakeNetwork());
    assert.equal(result.step, 4, JSON.stringify({ step, result }));
  }
});
