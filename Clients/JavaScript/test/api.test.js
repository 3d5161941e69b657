// What the scenarios cannot say: how an app uses the library, and platforms that lack something.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { afterEach, test } from 'node:test';

import { AsyncMemoryStorage, MemoryStorage } from '../support/scenarios.js';
import { VersionGate } from '../versiongate.js';

const server = 'https://gate.example.com';
const app = { bundle: 'com.example.doto', version: '1.0', region: null, language: null };
const news = { id: 'news', title: 'News', text: 'Lists.', shows: 1, skip: true };
const lockout = { id: 'blocked', title: 'Blocked', text: 'Update.', lockout: true };
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const bound = 300_000; // far more than a check takes

const never = () => new Promise(() => {});
const answering = (...messages) => async () => ({ status: 200, body: JSON.stringify({ messages }) });
const gateWith = (options) => new VersionGate({ server, app, storage: null, transport: answering(news), ...options });
const idsOf = (messages) => messages.map(({ id }) => id);

const replaced = [];
/** Replaces a member of the global object until the test ends. */
function replaceGlobal(name, descriptor) {
  replaced.push([name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  Object.defineProperty(globalThis, name, { configurable: true, ...descriptor });
}
afterEach(() => {
  for (const [name, before] of replaced.splice(0).reverse()) {
    if (before === undefined) delete globalThis[name];
    else Object.defineProperty(globalThis, name, before);
  }
});

test('wrong use is an error that names the fault', () => {
  const right = { server, app };
  const address = 'server must be an address such as https://gate.example.com, not';
  const storage = 'storage must be null or have the methods of localStorage; it has no';
  const attribute = 'must be a string, a number or a boolean, not';
  const members = 'bundle, version, build, platform, os, region, language, attributes';
  const wrong = [
    [undefined, 'options must be an object, not undefined'],
    [null, 'options must be an object, not null'],
    [{ app }, `${address} undefined`],
    [{ ...right, server: '' }, `${address} ""`],
    [{ ...right, server: 'gate.example.com' }, `${address} "gate.example.com"`],
    [{ ...right, server: 'ftp://example.com' }, `${address} "ftp://example.com"`],
    [{ ...right, server: 'https://' }, `${address} "https://"`],
    [{ ...right, server: 'https://example.com/?a=b' }, `${address} "https://example.com/?a=b"`],
    [{ ...right, server: 'https://example.com/#a' }, `${address} "https://example.com/#a"`],
    [{ ...right, server: 'https://user:pw@example.com' }, `${address} "https://user:pw@example.com"`],
    [{ ...right, server: 'https://example.com\\a' }, `${address} "https://example.com\\\\a"`],
    [{ server }, 'app must be an object, not undefined'],
    [{ ...right, app: [] }, 'app must be an object, not an array'],
    [{ ...right, app: {} }, 'app.bundle is missing: com.example.doto, for instance'],
    [{ ...right, app: { bundle: '' } }, 'app.bundle is missing: com.example.doto, for instance'],
    [{ ...right, app: { bundle: 7 } }, 'app.bundle must be a string, not 7'],
    [{ ...right, app: { ...app, build: 42 } }, 'app.build must be a string, not 42'],
    [{ ...right, app: { ...app, install: 'x' } }, `app has no install; it has ${members}`],
    [{ ...right, app: { ...app, attributes: 'x' } }, 'app.attributes must be an object, not "x"'],
    [{ ...right, app: { ...app, attributes: { tags: [] } } }, `app.attributes.tags ${attribute} an array`],
    [{ ...right, app: { ...app, attributes: { size: 1n } } }, `app.attributes.size ${attribute} 1`],
    [{ ...right, maximumAge: -1 }, 'maximumAge must be a whole number of days from 0 to 90, not -1'],
    [{ ...right, maximumAge: 91 }, 'maximumAge must be a whole number of days from 0 to 90, not 91'],
    [{ ...right, maximumAge: 1.5 }, 'maximumAge must be a whole number of days from 0 to 90, not 1.5'],
    [{ ...right, maximumAge: '7' }, 'maximumAge must be a whole number of days from 0 to 90, not "7"'],
    [{ ...right, maximumAge: NaN }, 'maximumAge must be a whole number of days from 0 to 90, not NaN'],
    [{ ...right, clock: 7 }, 'clock must be a function such as Date.now'],
    [{ ...right, transport: {} }, 'transport must be a function'],
    [{ ...right, storage: {} }, `${storage} getItem`],
    [{ ...right, storage: { getItem() {}, setItem() {} } }, `${storage} removeItem`],
    [{ ...right, maxAge: 7 }, 'options has no maxAge; it has server, app, storage, clock, transport, maximumAge, observer, publicKeys'],
    [{ ...right, publicKeys: ['MFkw'] }, 'publicKeys must be an array of texts that versiongate lockout-key new has printed'],
    [{ ...right, publicKeys: 'MFkw' }, 'publicKeys must be an array of texts that versiongate lockout-key new has printed'],
    [{ ...right, observer: {} }, 'observer must be a function'],
  ];
  for (const [options, message] of wrong) assert.throws(() => new VersionGate(options), { message });
});

test('right use is none', () => {
  const left = { storage: undefined, clock: undefined, transport: undefined, maximumAge: undefined };
  for (const address of ['http://localhost:8080', 'HTTPS://Example.com/gate/', 'https://[::1]:8443']) {
    new VersionGate({ server: address, app, ...left });
  }
  for (const maximumAge of [0, 90, null]) new VersionGate({ server, app, maximumAge });
});

test('a message is given whole, and cannot be changed', async () => {
  const whole = { ...news, link: 'https://example.com', target: '1.2' };
  const [message] = await gateWith({ transport: answering(whole) }).check();
  assert.deepEqual({ ...message }, {
    id: 'news', title: 'News', text: 'Lists.', link: 'https://example.com', target: '1.2',
    lockout: false, left: undefined, skippable: true,
  });
  assert.throws(() => {
    message.id = 'other';
  }, TypeError);
  const [blocked] = await gateWith({ transport: answering({ ...lockout, skip: true }) }).check();
  assert.deepEqual({ ...blocked }, {
    id: 'blocked', title: 'Blocked', text: 'Update.', link: undefined, target: undefined,
    lockout: true, left: undefined, skippable: false,
  });
});

test('whatever check is given, it does not reject', async () => {
  for (const options of [undefined, null, {}, true, 'force', { force: 1 }]) {
    const gate = gateWith({ transport: answering({ ...news, shows: 9 }) });
    assert.deepEqual(idsOf(await gate.check(options)), ['news']);
    assert.deepEqual(await gate.check(options), [], 'only true forces');
  }
});

test('two checks at the same time have arrays of their own', async () => {
  const gate = gateWith();
  const [one, other] = await Promise.all([gate.check(), gate.check()]);
  assert.equal(one[0], other[0]);
  one.pop();
  assert.equal(other.length, 1);
});

test('a forced check asks although one that does not ask is under way', async () => {
  const gate = gateWith({ transport: answering({ ...news, shows: 9 }) });
  await gate.check();
  const [held, forced] = await Promise.all([gate.check(), gate.check({ force: true })]);
  assert.deepEqual([idsOf(held), idsOf(forced)], [[], ['news']]);
});

test('a check that comes while a question is under way gets its answer', async () => {
  let answer;
  let questions = 0;
  const gate = gateWith({
    transport: () => {
      questions += 1;
      return new Promise((resolve) => {
        answer = () => resolve({ status: 200, body: JSON.stringify({ messages: [news] }) });
      });
    },
  });
  const first = gate.check();
  await turn();
  const others = [gate.check(), gate.check({ force: true })];
  await turn();
  answer();
  assert.deepEqual((await Promise.all([first, ...others])).map(idsOf), [['news'], ['news'], ['news']]);
  assert.equal(questions, 1);
});

test('a transport that answers with anything else has failed', async () => {
  const body = JSON.stringify({ messages: [news] });
  const wrong = [undefined, null, 'text', 200, {}, { status: 200 }, { status: '200', body }, { status: [200], body }];
  for (const other of [null, 7, [body], { messages: [] }, new String(body)]) wrong.push({ status: 200, body: other });
  const transports = wrong.flatMap((answer) => [async () => answer, () => answer]);
  transports.push(() => Promise.reject(), () => Promise.reject(new Error('no network')), () => {
    throw new Error('no network');
  });
  let transport = answering(lockout);
  const gate = gateWith({ transport: (request) => transport(request) });
  assert.deepEqual(idsOf(await gate.check()), ['blocked']);
  for (transport of transports) assert.deepEqual(idsOf(await gate.check({ force: true })), ['blocked']);
  transport = () => ({ status: 200, body });
  assert.deepEqual(idsOf(await gate.check({ force: true })), ['news']);
});

test('1 MiB is counted in bytes of UTF-8', async () => {
  const bodyOf = (text, length) => {
    const start = JSON.stringify({ messages: [{ ...news, text }] });
    return start + ' '.repeat(length - Buffer.byteLength(start));
  };
  for (const character of ['é', '€', '😀']) {
    const text = character.repeat(200_000);
    const within = gateWith({ transport: async () => ({ status: 200, body: bodyOf(text, 1_048_576) }) });
    assert.deepEqual(idsOf(await within.check()), ['news'], character);
    const beyond = gateWith({ transport: async () => ({ status: 200, body: bodyOf(text, 1_048_577) }) });
    assert.deepEqual(await beyond.check(), [], character);
  }
});

test('a transport that never answers, and heeds no signal', async () => {
  let given;
  const gate = gateWith({
    transport: ({ signal }) => {
      given = signal;
      return never();
    },
  });
  const begin = performance.now();
  assert.deepEqual(await gate.check(), []);
  assert.ok(performance.now() - begin < bound);
  assert.equal(given.aborted, true);
});

test('an answer that comes too late is not used', async () => {
  let answer;
  const storage = new MemoryStorage();
  const gate = gateWith({
    storage,
    transport: () => new Promise((resolve) => {
      answer = resolve;
    }),
  });
  assert.deepEqual(await gate.check(), []);
  answer({ status: 200, body: JSON.stringify({ messages: [news, lockout] }) });
  await turn();
  assert.deepEqual(Object.keys(JSON.parse(storage.text)), ['install']);
  assert.deepEqual(await gate.check(), []);
});

test('storage that never answers: the check goes on without it, and replaces nothing', async () => {
  const written = [];
  const storage = {
    getItem: never,
    setItem: (_, text) => {
      written.push(text);
    },
    removeItem: () => {
      written.push(null);
    },
  };
  const gate = gateWith({ storage });
  const begin = performance.now();
  assert.deepEqual(idsOf(await gate.check()), ['news']);
  assert.ok(performance.now() - begin < bound);
  assert.deepEqual(idsOf(await gate.check({ force: true })), [], 'it is remembered until the app ends');
  assert.deepEqual(written, []);
  await gate.forget();
  assert.deepEqual(written, [null]);
});

test('storage and transport that both never answer', async () => {
  const storage = { getItem: never, setItem: never, removeItem: never };
  const gate = gateWith({ storage, transport: never });
  const begin = performance.now();
  assert.deepEqual(await gate.check(), []);
  await gate.forget();
  assert.ok(performance.now() - begin < bound);
});

test('writing that never ends holds up neither a check nor what is written later', async () => {
  let isHanging = true;
  const storage = new AsyncMemoryStorage();
  const setItem = storage.setItem.bind(storage);
  storage.setItem = (name, text) => (isHanging ? never() : setItem(name, text));
  const gate = gateWith({ storage });
  const [message] = await gate.check();
  isHanging = false;
  message.skip();
  await gate.forget();
  assert.equal(storage.text, null);
  await gate.check();
  for (let turns = 0; turns < 9; turns += 1) await turn();
  assert.equal(JSON.parse(storage.text).messages[0].skipped, undefined);
});

test('storage with promises gets what is newest last', async () => {
  const storage = new AsyncMemoryStorage();
  const gate = gateWith({ storage, transport: answering({ ...news, shows: 99 }) });
  for (let checks = 0; checks < 20; checks += 1) await gate.check({ force: true });
  for (let turns = 0; turns < 9; turns += 1) await turn();
  assert.equal(JSON.parse(storage.text).messages[0].shown, 20);
});

test('storage that throws or rejects anything', async () => {
  const thrown = [null, new Error()];
  const failures = thrown.flatMap((error) => [() => { throw error; }, () => Promise.reject(error)]);
  for (const fail of failures) {
    const gate = gateWith({ storage: { getItem: fail, setItem: fail, removeItem: fail } });
    const [message] = await gate.check();
    message.dismiss();
    message.skip();
    message.opened();
    await gate.forget();
    assert.deepEqual(idsOf(await gate.check()), ['news']);
  }
});

test('storage that gives anything but text has nothing', async () => {
  const items = [undefined, null, 7, true, {}, ['{}'], '['.repeat(100_000), Promise.resolve(), Promise.resolve({})];
  for (const item of items) {
    const storage = { getItem: () => item, setItem() {}, removeItem() {} };
    assert.deepEqual(idsOf(await gateWith({ storage }).check()), ['news']);
  }
});

test('a clock that fails is replaced by that of the system', async () => {
  for (const clock of [() => { throw new Error(); }, () => NaN, () => 'noon', () => 5n]) {
    const storage = new MemoryStorage();
    const gate = gateWith({ clock, storage, transport: answering(lockout) });
    const begun = Math.floor(Date.now() / 1_000);
    assert.deepEqual(idsOf(await gate.check()), ['blocked']);
    assert.ok(JSON.parse(storage.text).answer.at >= begun);
    assert.deepEqual(idsOf(await gate.check()), ['blocked']);
  }
});

test('what is told of a living gate is checked as at its beginning', async () => {
  const bodies = [];
  const transport = async ({ body }) => {
    bodies.push(JSON.parse(body));
    return answering()();
  };
  const gate = gateWith({ transport, app: { ...app, language: 'de', attributes: { channel: 'store' } } });
  assert.deepEqual([gate.language, gate.region, gate.attributes], ['de', undefined, { channel: 'store' }]);
  assert.throws(() => { gate.language = 7; }, { message: 'app.language must be a string, not 7' });
  assert.throws(() => { gate.attributes = []; }, { message: 'app.attributes must be an object, not an array' });
  assert.throws(() => { gate.attributes = { a: {} }; }, TypeError);
  await gate.check();
  Object.assign(gate, { language: '', region: 'AT', attributes: null });
  await gate.check({ force: true });
  const said = bodies.map(({ language, region, channel }) => [language, region, channel]);
  assert.deepEqual(said, [['de', undefined, 'store'], [undefined, 'AT', undefined]]);
});

test('the observer is told the fault in words', async () => {
  const body = JSON.stringify({ messages: [news] });
  const faults = [
    [() => { throw new Error('no network'); }, 'no network'],
    [() => Promise.reject(new Error('fetch failed', { cause: new Error('refused') })), 'fetch failed: refused'],
    [() => Promise.reject(), 'the transport fails'],
    [() => null, 'the transport gives no answer'],
    [() => ({ status: 200, body: [body] }), 'the transport gives no text'],
    [() => ({ status: 404, body }), 'the server answers with status 404'],
    [() => ({ status: 200, body: '<html>' }), 'the answer is no JSON'],
    [() => ({ status: 200, body: '[]' }), 'the answer has no list of messages'],
    [() => ({ status: 200, body: body + ' '.repeat(1_048_576) }), 'the answer is longer than 1 MiB'],
    [never, 'no answer within 2 seconds'],
    [() => ({ status: 200, body }), undefined],
  ];
  for (const [transport, words] of faults) {
    const reports = [];
    const gate = gateWith({ transport, observer: (report) => reports.push(report) });
    await gate.check();
    const [{ fault, milliseconds }] = reports;
    assert.deepEqual([reports.length, fault], [1, words]);
    assert.ok(milliseconds >= 0 && milliseconds < bound);
  }
});

test('an observer that throws changes nothing', async () => {
  const observer = () => { throw new Error('observer'); };
  assert.deepEqual(idsOf(await gateWith({ observer }).check()), ['news']);
});

test('without an observer a development build says a fault once on the console', async () => {
  const said = [];
  replaceGlobal('console', { value: { warn: (words) => said.push(words) } });
  const transport = async () => ({ status: 404, body: '' });
  const checkTwice = async (options) => {
    const gate = gateWith({ transport, ...options });
    await gate.check();
    await gate.check({ force: true });
  };
  await checkTwice();
  replaceGlobal('__DEV__', { value: true });
  await checkTwice({ observer: () => {} });
  assert.deepEqual(said, []);
  await checkTwice();
  assert.deepEqual(said, ['versiongate: https://gate.example.com/v1/check: the server answers with status 404']);
  replaceGlobal('process', { value: undefined });
  replaceGlobal('__DEV__', { value: undefined });
  await checkTwice();
  assert.equal(said.length, 1);
});

test('to forget while a question is under way: the answer is given, and not kept', async () => {
  const answers = [];
  const bodies = [];
  const storage = new MemoryStorage();
  const gate = gateWith({
    storage,
    transport: ({ body }) => {
      bodies.push(JSON.parse(body).install);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  const before = gate.check();
  await turn();
  await gate.forget();
  assert.equal(storage.text, null);
  const after = gate.check();
  await turn();
  assert.equal(answers.length, 2, 'the check after forgetting asks');
  assert.notEqual(bodies[0], bodies[1]);
  for (const answer of answers) answer({ status: 200, body: JSON.stringify({ messages: [news] }) });
  assert.deepEqual([idsOf(await before), idsOf(await after)], [['news'], ['news']]);
  assert.equal(JSON.parse(storage.text).messages[0].shown, 1);
});

test('to forget while the storage is read', async () => {
  const storage = new AsyncMemoryStorage();
  const install = '0b1c9c3e-8d1f-4c55-9a36-5f0e2a7d4b10';
  storage.text = JSON.stringify({ install, messages: [{ id: 'news', shown: 1, last: 0 }] });
  const bodies = [];
  const gate = gateWith({
    storage,
    transport: async ({ body }) => {
      bodies.push(JSON.parse(body).install);
      return answering(news)();
    },
  });
  const check = gate.check();
  await gate.forget();
  assert.deepEqual(idsOf(await check), ['news']);
  assert.match(bodies[0], uuid);
  assert.notEqual(bodies[0], install);
});

test('an install is a random UUID of version 4, whatever the platform has for it', async () => {
  const sources = [
    globalThis.crypto,
    { getRandomValues: (bytes) => webcrypto.getRandomValues(bytes) },
    { getRandomValues() { throw new Error('The native module is missing.'); } },
    {},
    undefined,
  ];
  for (const value of sources) {
    replaceGlobal('crypto', { value });
    const seen = new Set();
    for (let times = 0; times < 20; times += 1) {
      await gateWith({
        transport: async ({ body }) => {
          seen.add(JSON.parse(body).install);
          return answering()();
        },
      }).check();
    }
    for (const install of seen) assert.match(install, uuid);
    assert.equal(seen.size, 20);
  }
});

async function sentWith(described = { bundle: 'com.example.doto' }) {
  let sent;
  const transport = async ({ body }) => {
    sent = JSON.parse(body);
    return answering()();
  };
  await new VersionGate({ server, app: described, storage: null, transport }).check();
  delete sent.install;
  return sent;
}

test('what a platform says of itself', async () => {
  const cases = [
    ['de-AT', { language: 'de-AT', region: 'AT' }],
    ['zh-Hant-TW', { language: 'zh-Hant-TW', region: 'TW' }],
    ['en', { language: 'en' }],
    ['es-419', { language: 'es-419' }],
    ['en-u-ca-gregory', { language: 'en-u-ca-gregory' }],
    ['sl-SI-nedis', { language: 'sl-SI-nedis', region: 'SI' }],
    ['', {}],
  ];
  for (const [language, known] of cases) {
    replaceGlobal('navigator', { value: { language } });
    assert.deepEqual(await sentWith(), { bundle: 'com.example.doto', ...known });
  }
  replaceGlobal('navigator', { value: undefined });
  assert.equal((await sentWith()).language, Intl.DateTimeFormat().resolvedOptions().locale);
  replaceGlobal('Intl', { value: undefined });
  assert.deepEqual(await sentWith(), { bundle: 'com.example.doto' });
});

test('a page is on the platform web, a page of Electron is not, and what the app gives counts', async () => {
  replaceGlobal('navigator', { value: { language: 'de-AT', userAgent: 'Mozilla/5.0 Firefox/130.0' } });
  assert.equal((await sentWith()).platform, undefined);
  replaceGlobal('document', { value: {} });
  assert.equal((await sentWith()).platform, 'web');
  const given = { bundle: 'b', platform: 'windows', language: 'fr' };
  assert.deepEqual(await sentWith({ ...given, region: null }), given);
  const known = { bundle: 'b', platform: 'web', region: 'AT' };
  assert.deepEqual(await sentWith({ bundle: 'b', platform: undefined, language: '' }), known);
  replaceGlobal('navigator', { value: { language: 'de-AT', userAgent: 'Mozilla/5.0 Chrome/128.0 Electron/32.0' } });
  assert.equal((await sentWith()).platform, undefined);
});

test('attributes that cannot be sent are left out', async () => {
  const attributes = JSON.parse('{"__proto__": "x", "constructor": "y"}');
  Object.assign(attributes, { none: null, missing: undefined, nan: NaN, far: -Infinity });
  Object.assign(attributes, { text: 'Infinity', zero: 0, no: false });
  const sent = await sentWith({ bundle: 'b', language: null, region: null, attributes });
  assert.deepEqual(Object.entries(sent), [
    ['bundle', 'b'], ['__proto__', 'x'], ['constructor', 'y'], ['text', 'Infinity'], ['zero', 0], ['no', false],
  ]);
  assert.deepEqual(await sentWith({ bundle: 'b', language: null, region: null, attributes: null }), { bundle: 'b' });
});

test('localStorage is used where there is one', async () => {
  const storage = new MemoryStorage();
  replaceGlobal('localStorage', { value: storage });
  await gateWith({ storage: undefined }).check();
  assert.match(JSON.parse(storage.text).install, uuid);
  storage.text = null;
  await gateWith({ storage: null }).check();
  assert.equal(storage.text, null);
});

test('localStorage may be forbidden or missing', async () => {
  const getters = [() => { throw new Error('The operation is insecure.'); }, () => undefined, () => null];
  for (const get of getters) {
    replaceGlobal('localStorage', { get });
    const gate = gateWith({ storage: undefined });
    assert.deepEqual(idsOf(await gate.check()), ['news']);
    assert.deepEqual(idsOf(await gate.check({ force: true })), []);
  }
});

test('fetch is told to follow nothing and to send nothing else', async () => {
  let call;
  replaceGlobal('fetch', {
    value: async (...given) => {
      call = given;
      return new Response(JSON.stringify({ messages: [] }));
    },
  });
  await gateWith({ transport: undefined }).check();
  const [url, { body, signal, ...options }] = call;
  assert.equal(url, 'https://gate.example.com/v1/check');
  assert.deepEqual(options, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' },
    redirect: 'manual', credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer',
  });
  assert.ok(signal instanceof AbortSignal && typeof body === 'string');
});

test('the answers of fetch in browsers and in React Native', async () => {
  const text = JSON.stringify({ messages: [news] });
  const url = 'https://gate.example.com/v1/check';
  const answers = [
    [{ status: 200, url, text: async () => text }, ['news']],
    [{ status: 200, url: '', text: async () => text }, ['news']],
    [{ status: 200, url: 'https://GATE.example.com:443/v1/check', text: async () => text }, ['news']],
    [{ status: 200, url, body: null, text: async () => text }, ['news']],
    [{ status: 200, url: 'https://gate.example.com/login', text: async () => text }, []],
    [{ status: 200, url: 'http://gate.example.com/v1/check', text: async () => text }, []],
    [{ status: 200, url, redirected: true, text: async () => text }, []],
    [{ status: 0, type: 'opaqueredirect', url, text: async () => '' }, []],
    [{ status: 0, type: 'error', url: '', text: async () => '' }, []],
    [{ status: 200, url, text: async () => text + ' '.repeat(1_048_577) }, []],
    [{ status: 200, url, text: never }, []],
    [{ status: 200, url, text: () => Promise.reject(new TypeError('aborted')) }, []],
  ];
  for (const [value, shows] of answers) {
    replaceGlobal('fetch', { value: async () => value });
    assert.deepEqual(idsOf(await gateWith({ transport: undefined }).check()), shows, JSON.stringify(value));
  }
});

test('React Native reads no more than 1 MiB', async () => {
  const requests = [];
  replaceGlobal('ReadableStream', { value: undefined });
  replaceGlobal('fetch', { value: () => assert.fail('what reads without an end') });
  replaceGlobal('XMLHttpRequest', {
    value: class extends EventTarget {
      headers = {};
      isAborted = false;
      responseURL = '';

      open(...given) {
        this.opened = given;
      }

      setRequestHeader(name, value) {
        this.headers[name] = value;
      }

      getResponseHeader(name) {
        return name === 'Date' ? 'Mon, 21 Sep 2026 14:13:20 GMT' : null;
      }

      send(body) {
        this.body = body;
        requests.push(this);
        setImmediate(() => this.act(requests.length));
      }

      act(number) {
        const progress = (loaded) => this.dispatchEvent(Object.assign(new Event('progress'), { loaded }));
        progress(1_048_576);
        if (number === 2) progress(1_048_577);
        if (number === 3) this.dispatchEvent(new Event('error'));
        if (number === 4) this.responseURL = 'https://gate.example.com/login';
        if (this.isAborted) return;
        const messages = [{ id: 'blocked', title: 'B', text: 'B', lockout: true, until: 1_790_000_060 }];
        Object.assign(this, { status: 200, responseText: JSON.stringify({ messages }) });
        this.dispatchEvent(new Event('load'));
      }

      abort() {
        this.isAborted = true;
      }
    },
  });
  const reports = [];
  const gate = gateWith({ transport: undefined, observer: (report) => reports.push(report) });
  const [{ left }] = await gate.check();
  assert.equal(left, 1_790_000_060 - Date.UTC(2026, 8, 21, 14, 13, 20) / 1_000);
  for (const fault of ['the answer is longer than 1 MiB', 'Network request failed', 'the server redirects']) {
    await gate.check({ force: true });
    assert.equal(reports.at(-1).fault, fault);
  }
  const [{ opened, headers, body, withCredentials }] = requests;
  assert.deepEqual([...opened, withCredentials], ['POST', 'https://gate.example.com/v1/check', false]);
  assert.deepEqual(headers, { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' });
  assert.equal(JSON.parse(body).bundle, 'com.example.doto');
  assert.deepEqual(requests.map(({ isAborted }) => isAborted), [true, true, true, true]);
});

test('a lockout says how much of its time is left', async () => {
  let seconds = 1_790_000_000;
  const lockout = { id: 'blocked', title: 'Blocked', text: 'Wait.', lockout: true };
  let answer = { status: 200, body: JSON.stringify({ messages: [news, { ...lockout, until: seconds + 60 }] }) };
  for (const maximumAge of [7, 0]) {
    seconds = 1_790_000_000;
    const gate = gateWith({ clock: () => seconds * 1_000, transport: async () => answer, maximumAge });
    assert.deepEqual((await gate.check()).map(({ left }) => left), [undefined, 60]);
    seconds += 25;
    assert.deepEqual((await gate.check()).map(({ left }) => left), maximumAge === 0 ? [] : [35]);
  }
  answer = { status: 200, body: JSON.stringify({ messages: [lockout] }) };
  assert.deepEqual((await gateWith({ transport: async () => answer }).check()).map(({ left }) => left), [undefined]);
});

test('a platform without URL or TextDecoder', async () => {
  const url = 'https://gate.example.com/v1/check';
  const body = { getReader: () => assert.fail('a stream that nothing can decode') };
  const response = { status: 200, url, body, text: async () => JSON.stringify({ messages: [news] }) };
  replaceGlobal('fetch', { value: async () => response });
  replaceGlobal('URL', { value: undefined });
  replaceGlobal('TextDecoder', { value: undefined });
  assert.deepEqual(idsOf(await gateWith({ transport: undefined }).check()), ['news']);
});

test('a check leaves no timer behind', async () => {
  const running = new Set();
  const { setTimeout, clearTimeout } = globalThis;
  replaceGlobal('setTimeout', {
    value: (...given) => {
      const timer = setTimeout(...given);
      running.add(timer);
      return timer;
    },
  });
  replaceGlobal('clearTimeout', {
    value: (timer) => {
      running.delete(timer);
      clearTimeout(timer);
    },
  });
  const gate = gateWith({ storage: new AsyncMemoryStorage() });
  await gate.check();
  await gate.check();
  await gate.check({ force: true });
  await gate.forget();
  assert.equal(running.size, 0);
});

function turn() {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
