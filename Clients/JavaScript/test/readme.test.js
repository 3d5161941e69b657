// The code of the README and of the samples runs.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = new URL('../', import.meta.url);
const text = readFileSync(new URL('README.md', folder), 'utf8');
const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
const sample = (name) => readFileSync(new URL(`samples/${name}`, folder), 'utf8');
const library = JSON.stringify(new URL('versiongate.js', folder).href);

/** Runs a block as a module, between two pieces of code. */
function run(before, block, after) {
  const code = `${before}\n${block.replace("'versiongate'", library)}\n${after}`;
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

const blockWith = (part) => blocks.find((block) => block.includes(part)) ?? assert.fail(`no code with ${part}`);

test('the README has the blocks that are run here, and no others', () => {
  assert.equal(blocks.length, 4); // The one for a browser runs in guide.test.js.
});

test('use', async (t) => {
  const messages = [{ id: 'news', title: 'News', text: 'Lists.' }];
  const server = createServer((_, response) => response.end(JSON.stringify({ messages })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = `http://127.0.0.1:${server.address().port}`;
  const block = blockWith('gate.check()').replace('https://gate.example.com', address);
  const { shown } = await run('export const shown = []; const show = ({ id }) => shown.push(id);', block, '');
  assert.deepEqual(shown, ['news']);
});

test('storage in a file', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'versiongate-'));
  t.after(() => rmSync(place, { recursive: true }));
  const { fileStorage } = await import('../samples/file-storage.js');
  const storage = fileStorage(place);
  const { VersionGate } = await import('../versiongate.js');
  const installs = [];
  const transport = async ({ body }) => {
    installs.push(JSON.parse(body).install);
    return { status: 200, body: '{"messages":[]}' };
  };
  const start = () => new VersionGate({ server: 'https://gate.example.com', app: { bundle: 'b' }, storage, transport });
  await start().check();
  assert.deepEqual(readdirSync(place), ['versiongate.json']);
  await start().check();
  assert.equal(installs[0], installs[1]);
  await start().forget();
  assert.deepEqual(readdirSync(place), []);
  await start().forget();
});

test('a manual check', async () => {
  const before = `import { VersionGate } from ${library}; export const button = {}; export const done = []; const asked = [];
    const transport = async ({ body }) => asked.push(JSON.parse(body)) && { status: 200, body: '{"messages":[]}' };
    const gate = new VersionGate({ server: 'https://gate.example.com', app: { bundle: 'b' }, storage: null, transport });
    const say = (words) => done.push(words, asked[0].manual);`;
  const { button, done } = await run(before, blockWith('manual: true'), '');
  await button.onclick();
  assert.deepEqual(done, ['No update was found.', true]);
});

test('the transport of a test', async () => {
  const before = `import { VersionGate } from ${library};`;
  const { gate } = await run(before, blockWith('transport: async'), 'export { gate };');
  const [message] = await gate.check();
  assert.deepEqual([message.id, message.lockout], ['blocked', true]);
});

test('a transport of Capacitor', async () => {
  const before = `import { VersionGate } from ${library}; const app = { bundle: 'b' };
    export const asked = [];
    const CapacitorHttp = { post: async (options) => { asked.push(options); return globalThis.answerOfCapacitor; } };`;
  const block = sample('capacitor.js').replace(/^import .*\n/m, '');
  const after = "export const gate = new VersionGate({ server: 'https://gate.example.com', app, transport, storage: null });";
  const { asked, gate } = await run(before, block, after);
  const answer = { messages: [{ id: 'blocked', title: 'Blocked', text: 'Please update.', lockout: true }] };
  const headers = { date: new Date().toUTCString() };
  for (const data of [answer, JSON.stringify(answer)]) {
    globalThis.answerOfCapacitor = { status: 200, data, headers, url: 'https://gate.example.com/v1/check' };
    const [message] = await gate.check({ force: true });
    assert.deepEqual([message.id, message.lockout], ['blocked', true]);
  }
  assert.equal(asked[0].url, 'https://gate.example.com/v1/check');
  assert.equal(JSON.parse(asked[0].data).bundle, 'b');
  delete globalThis.answerOfCapacitor;
});

test('the tables name each option and each way to tell what the person does', async () => {
  const { VersionGate } = await import('../versiongate.js');
  let known;
  try {
    new VersionGate({ unknown: 1 });
  } catch (error) {
    known = error.message.split('it has ')[1].split(', ');
  }
  for (const name of known) assert.match(text, new RegExp(`^\\| \`${name}\` \\|`, 'm'));
  for (const name of ['dismiss', 'opened', 'skip']) {
    assert.match(text, new RegExp(`^\\| \`message\\.${name}\\(\\)\` \\|`, 'm'));
  }
});
