// The code of the README for a browser, and of the sample for React Native. Tests/Pages/component.py has the rest, in a browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mount } from 'versiongate/mount';

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const messages = readFileSync(new URL('../samples/Messages.jsx', import.meta.url), 'utf8');
const declared = readFileSync(new URL('../mount.d.ts', import.meta.url), 'utf8');
const code = readFileSync(new URL('../mount.js', import.meta.url), 'utf8');

test('the code for a browser mounts a gate', async () => {
  const [, block] = /^```js\n(import \{ VersionGate \}[^`]*versiongate\/mount.*?)^```$/ms.exec(text);
  const AsyncFunction = (async () => {}).constructor;
  const given = [];
  class VersionGate {
    constructor(options) {
      given.push(options);
    }
  }
  let saved = 0;
  const names = {
    VersionGate, location: { origin: 'https://doto.example.com' }, saveDraft: () => (saved += 1),
    mount: (gate, options) => {
      assert.ok(gate instanceof VersionGate);
      options.onLockout({ id: 'blocked' });
      options.onLockout(null);
    },
  };
  await new AsyncFunction(...Object.keys(names), block.replace(/^import .*$/gm, ''))(...Object.values(names));
  assert.deepEqual([given[0].server, saved], ['https://doto.example.com', 1]);
});

test('messages and a lockout of a later check take the place of those before', async () => {
  const [, block] = /^(const merge.*?;)$/ms.exec(messages);
  const merge = new Function(`${block} return merge;`)();
  const [news, tip, lockout] = [{ id: 'news' }, { id: 'tip' }, { id: 'blocked', lockout: true }];
  assert.deepEqual(merge([news, lockout], [tip]), [news, tip]);
  assert.deepEqual(merge([news, lockout], [{ id: 'news', title: 'new' }, lockout]), [{ id: 'news', title: 'new' }, lockout]);
});

test('the code for React Native asks with force while there is a lockout', async () => {
  const [, block] = /^export function Messages\(\) \{\n(.*?)^ {2}const \[message\] = messages;$/ms.exec(messages);
  const [asked, listeners] = [[], []];
  let given = [{ id: 'blocked', lockout: true }];
  const names = {
    useState: (first) => [first, () => {}], useRef: (current) => ({ current }), useEffect: (run) => run(),
    AppState: { addEventListener: (_, listener) => listeners.push(listener) }, merge: (_, messages) => messages,
    gate: {
      async check(options) {
        asked.push(options.force);
        return given;
      },
    },
  };
  new Function(...Object.keys(names), block)(...Object.values(names));
  await new Promise(setImmediate);
  await listeners[0]('active');
  given = [];
  for (const state of ['inactive', 'active', 'active']) await listeners[0](state);
  assert.deepEqual(asked, [false, true, true, false]);
});

test('the options of mount are those of the README and of the declarations', () => {
  const [, body] = /interface MountOptions \{\n(.*?)^\}/ms.exec(declared);
  const options = [...body.matchAll(/^ {2}(\w+)\?: /gm)].map(([, name]) => name);
  assert.throws(() => mount({ check() {} }, { unknown: 1 }), new RegExp(`it has ${options.join(', ')}$`));
  for (const name of options) assert.match(text, new RegExp(`^\\| \`${name}\` \\|`, 'm'));
  const [, texts] = /^const names = \[(.*)\];$/m.exec(code);
  for (const quoted of texts.split(', ')) {
    const name = quoted.slice(1, -1);
    assert.match(text, new RegExp(`\`${name}\``));
    assert.match(declared, new RegExp(`'${name}'`));
  }
  assert.throws(() => mount(undefined), /gate must be a VersionGate/);
});

test('the file of mount needs no other', () => {
  assert.equal(code.match(/^import |\bimport\(|\brequire\(/gm), null);
});
