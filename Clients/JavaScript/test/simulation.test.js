// VERSIONGATE_STARTS is how many starts are simulated, VERSIONGATE_SEED repeats a run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';

import { simulate } from '../support/simulation.js';

test('no message too often, too soon or after a skip, and each lockout, over 90 days', async (t) => {
  const starts = Number(process.env.VERSIONGATE_STARTS ?? 20_000);
  const seed = Number(process.env.VERSIONGATE_SEED ?? randomInt(1, 2_147_483_647));
  assert.ok(Number.isInteger(starts) && starts > 0, 'VERSIONGATE_STARTS is a whole number');
  assert.ok(Number.isInteger(seed), 'VERSIONGATE_SEED is a whole number');
  t.diagnostic(`seed ${seed}`);
  const counts = await simulate({ starts, seed });
  t.diagnostic(JSON.stringify(counts));
  assert.equal(counts.starts, starts);
  if (starts >= 10_000) {
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, `${name} never happened`);
  }
});
