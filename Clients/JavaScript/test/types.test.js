// The declarations say what the module has, no more and no less.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { MemoryStorage } from '../support/scenarios.js';
import * as library from '../versiongate.js';

const folder = new URL('../', import.meta.url);
const declared = declarations(readFileSync(new URL('versiongate.d.ts', folder), 'utf8'));
const { VersionGate } = library;

/** The exported declarations by name: what they are, and the type of each member. */
function declarations(text) {
  const bare = text.replace(/\/\*\*.*?\*\//gs, '').replace(/\/\/.*/g, '');
  const found = {};
  for (const [, kind, name, body] of bare.matchAll(/^export (\w+) (\w+) \{\n(.*?)^\}/gms)) {
    const members = {};
    for (const line of body.split('\n').filter((one) => one.trim() !== '')) {
      const parts = /^ {2}(readonly |static )?(\w+)(\?)?(\(.*|: .*);$/.exec(line) ?? assert.fail(line);
      const [, modifier, member, optional, type] = parts;
      members[member] = {
        readonly: modifier === 'readonly ', isStatic: modifier === 'static ', optional: optional !== undefined, type: type.replace(/^: /, ''),
      };
    }
    found[name] = { kind, members };
  }
  assert.equal(Object.keys(found).length, bare.match(/^export /gm).length, 'each declaration is understood');
  return found;
}

const namesOf = (name) => Object.keys(declared[name].members).sort();
const methodsOf = (value) => Object.getOwnPropertyNames(value).filter((name) => name !== 'constructor').sort();

/** The names that an error lists as known. */
function namesListed(options) {
  try {
    new VersionGate(options);
  } catch (error) {
    return error.message.split('it has ')[1].split(', ').sort();
  }
  return assert.fail('no error');
}

test('the values that are exported', () => {
  const values = Object.entries(declared).filter(([, { kind }]) => kind !== 'interface').map(([name]) => name);
  assert.deepEqual(values.sort(), Object.keys(library).sort());
});

test('the methods of the class', () => {
  const isStatic = (name) => declared.VersionGate.members[name].isStatic;
  const ofObjects = namesOf('VersionGate').filter((name) => !isStatic(name));
  assert.deepEqual(ofObjects, ['constructor', ...methodsOf(VersionGate.prototype)].sort());
  assert.deepEqual(Object.keys(new VersionGate({ server: 'https://example.com', app: { bundle: 'b' } })), []);
  assert.deepEqual(methodsOf(VersionGate), ['length', 'name', ...namesOf('VersionGate').filter(isStatic), 'prototype']);
});

test('the members of a message', async () => {
  const typesOf = async (fields) => {
    const body = JSON.stringify({ messages: [{ id: 'news', title: 'News', text: 'Lists.', ...fields }] });
    const transport = async () => ({ status: 200, body });
    const options = { server: 'https://example.com', app: { bundle: 'b' }, storage: null, transport };
    const [message] = await new VersionGate(options).check();
    const names = [...Object.keys(message), ...methodsOf(Object.getPrototypeOf(message))];
    assert.deepEqual(names.sort(), namesOf('Message'));
    return Object.fromEntries(names.map((name) => [name, typeof message[name]]));
  };
  const least = await typesOf({});
  const most = { ...(await typesOf({ link: 'https://example.com', target: '1.2', skip: true })), left: 'number' };
  for (const [name, { readonly, type }] of Object.entries(declared.Message.members)) {
    const isMethod = type.startsWith('(');
    const expected = isMethod ? new Set(['function']) : new Set(type.split(' | '));
    assert.deepEqual(new Set([least[name], most[name]]), expected, name);
    assert.equal(readonly, !isMethod, name);
  }
});

test('the options, the app and the storage', () => {
  const right = { server: 'https://example.com', app: { bundle: 'b' } };
  assert.deepEqual(namesListed({ ...right, unknown: 1 }), namesOf('Options'));
  assert.deepEqual(namesListed({ ...right, app: { unknown: 1 } }), namesOf('App'));
  const needed = (name) => namesOf(name).filter((member) => !declared[name].members[member].optional);
  assert.deepEqual(needed('Options'), ['app', 'server']);
  assert.deepEqual(needed('App'), ['bundle']);
  for (const [whole, name] of [[right, 'server'], [right, 'app']]) {
    assert.throws(() => new VersionGate({ ...whole, [name]: undefined }), TypeError);
  }
  const storage = Object.fromEntries(namesOf('GateStorage').map((name) => [name, () => null]));
  new VersionGate({ ...right, storage });
  for (const name of namesOf('GateStorage')) {
    assert.throws(() => new VersionGate({ ...right, storage: { ...storage, [name]: undefined } }), TypeError);
  }
  assert.deepEqual(methodsOf(MemoryStorage.prototype), namesOf('GateStorage'));
});

test('what a transport is given', async () => {
  let given;
  const transport = async (request) => {
    given = request;
  };
  await new VersionGate({ server: 'https://example.com', app: { bundle: 'b' }, storage: null, transport }).check();
  assert.deepEqual(Object.keys(given).sort(), namesOf('GateRequest'));
  assert.deepEqual(namesOf('Answer'), ['body', 'date', 'headers', 'status']);
});

test('what an observer is given', async () => {
  let given;
  const observer = (report) => {
    given = report;
  };
  const transport = async () => ({ status: 200, body: '{"messages":[]}' });
  const options = { server: 'https://example.com', app: { bundle: 'b' }, storage: null, transport, observer };
  await new VersionGate(options).check();
  assert.deepEqual(Object.keys(given).sort(), namesOf('Report'));
});

test('the package names its files, and needs no other package', () => {
  const described = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
  const { default: modules, require: made } = described.exports['.'];
  const named = [described.main, described.types, ...Object.values(modules), ...Object.values(described.exports['./mount'])];
  // Those for `require` are made when the package is.
  const there = described.files.filter((file) => !Object.values(made).includes(`./${file}`));
  assert.equal(there.length, described.files.length - 2);
  for (const file of [...named, ...there]) readFileSync(new URL(file, folder));
  assert.deepEqual(Object.keys(described).filter((name) => /dependencies$/i.test(name)), []);
  const imports = readFileSync(new URL('versiongate.js', folder), 'utf8').match(/^import |\bimport\(|\brequire\(/gm);
  assert.equal(imports, null);
});
