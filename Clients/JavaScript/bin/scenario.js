#!/usr/bin/env node
// Runs a file of scenarios against a real server: the head of Tests/Clients/against_server.py says how.
//
//   bin/scenario.js SERVER_URL FILE

import { createInterface } from 'node:readline';

import { lineOf, readScenarios, runScenario } from '../support/scenarios.js';

const [url, file, ...more] = process.argv.slice(2);
if (file === undefined || more.length > 0) {
  process.stderr.write('usage: bin/scenario.js SERVER_URL FILE\n');
  process.exit(64);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

function write(line) {
  process.stdout.write(lineOf(line));
}

async function exchange(line) {
  write(line);
  const { value, done } = await lines.next();
  if (done) throw new Error('Standard input ended.');
  return value;
}

const asked = []; // the bodies that the library gave to fetch
const { fetch } = globalThis;
globalThis.fetch = (address, options) => {
  asked.push(JSON.parse(options.body));
  return fetch(address, options);
};

let isReachable = false;
const network = {
  url,
  begin({ name, app }) {
    isReachable = false;
    return exchange({ scenario: name, app });
  },
  start: (app) => exchange({ app }),
  answer(answer) {
    isReachable = answer.fails !== 'unreachable';
    return exchange({ answer });
  },
  async requests() {
    const given = asked.splice(0);
    const { requests } = JSON.parse(await exchange({ checked: { asked: given.length > 0 } }));
    return { asked: given.length, bodies: isReachable ? requests : given };
  },
};

let failed = 0;
const scenarios = readScenarios(file);
for (const scenario of scenarios) {
  const result = await runScenario(scenario, network);
  if (!result.ok) failed += 1;
  write({ result: scenario.name, ...result });
}
write({ done: scenarios.length });
process.exit(failed === 0 ? 0 : 1);
