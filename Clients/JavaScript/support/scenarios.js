// Reads files of scenarios (Clients/scenarios) and runs them. Who runs them brings the network.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { VersionGate } from '../versiongate.js';

const beginning = 1_790_000_000;
const storageName = 'dev.versiongate';
const defaultApp = { bundle: 'com.example.doto', version: '1.0', build: '42', platform: 'ios' };

/** The scenarios of a file, each with its whole app. A file that is not as scenarios/README.md says is an error. */
export function readScenarios(path) {
  const scenarios = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(scenarios)) throw new Error(`${path}: no array`);
  for (const scenario of scenarios) {
    const problem = problemOf(scenario);
    if (problem !== null) throw new Error(`${path}: ${scenario?.name ?? 'a scenario without a name'}: ${problem}`);
  }
  return scenarios.map((scenario) => ({ ...scenario, app: changed(defaultApp, scenario.app ?? {}) }));
}

/** An app of which members are others; null removes one. */
function changed(app, members) {
  return Object.fromEntries(Object.entries({ ...app, ...members }).filter(([, value]) => value !== null));
}

/**
 * Runs one scenario, to the first step that differs: `{ok: true}`, or `{ok: false, step, why}`.
 *
 * `network` has the server's address as `url`, and
 * `begin(scenario)`, `start(app)`, `answer(answer)`: what happens, in its order;
 * `transport`: what the library asks with, undefined for its own;
 * `requests()`: since the last call, how often the library `asked`, and the `bodies` that came.
 */
export async function runScenario(scenario, network, storage = new MemoryStorage()) {
  const run = new Run(scenario, network, storage);
  await network.begin(scenario);
  for (const [index, step] of scenario.steps.entries()) {
    try {
      await run.step(step);
    } catch (error) {
      const why = error instanceof Difference ? error.message : error.stack;
      return { ok: false, step: index + 1, why: run.wasLate ? `${why} (${tooLate})` : why };
    }
  }
  return { ok: true };
}

/** Storage as a browser has it, with the faults of scenarios. */
export class MemoryStorage {
  text = null;
  isFull = false;
  isUnreadable = false;
  isStuck = false;

  getItem(name) {
    if (this.isStuck) {
      this.isStuck = false;
      return new Promise(() => {});
    }
    if (this.isUnreadable) throw new Error('The storage is damaged.');
    return name === storageName ? this.text : null;
  }

  setItem(name, text) {
    if (name !== storageName) throw new Error(`Nothing is to be kept as ${name}.`);
    if (this.isFull) throw new Error('The storage is full.');
    this.text = text;
    this.isUnreadable = false;
  }

  removeItem(name) {
    if (name === storageName) this.text = null;
  }
}

/** The same storage as React Native has it: with promises. */
export class AsyncMemoryStorage extends MemoryStorage {
  async getItem(name) {
    await turn();
    return super.getItem(name);
  }

  async setItem(name, text) {
    await turn();
    super.setItem(name, text);
  }

  async removeItem(name) {
    await turn();
    super.removeItem(name);
  }
}

function turn() {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Storage with promises has ended what was begun. */
async function settled() {
  for (let turns = 0; turns < 8; turns += 1) await turn();
}

class Difference extends Error {}

function expectEqual(what, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Difference(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

const tooLate = 'no answer within 2 seconds'; // what the observer is told

class Run {
  wasLate = false; // whether an answer was too late for a check, of which a busy machine may be the cause
  #app;
  #network;
  #storage;
  #gate = null;
  #now = beginning;
  #given = [];
  #installs = [];
  #reports = [];

  constructor(scenario, network, storage) {
    this.#app = scenario.app;
    this.#network = network;
    this.#storage = storage;
  }

  async step(step) {
    if ('advance' in step) this.#now += step.advance;
    if ('answer' in step) await this.#network.answer(step.answer);
    if ('start' in step || 'storage' in step || 'stored' in step) await settled();
    if ('start' in step) await this.#start(step.start);
    if ('preview' in step) this.#preview(step);
    if ('set' in step) Object.assign(this.#gate, step.set);
    if ('check' in step) await this.#check(step);
    if ('dismiss' in step) this.#message(step.dismiss).dismiss();
    if ('skip' in step) this.#message(step.skip).skip();
    if ('open' in step) expectEqual('opens', this.#message(step.open).opened() ?? null, step.opens);
    if ('fields' in step) await this.#compareFields(step.fields);
    if ('forget' in step) await this.#gate.forget();
    if ('storage' in step) this.#setStorage(step.storage);
    if ('stored' in step) this.#compareStored(step.stored);
    if ('same' in step) this.#compareInstalls(true);
    if ('other' in step) this.#compareInstalls(false);
  }

  async #start(changes) {
    if (Object.keys(changes).length > 0) {
      this.#app = changed(this.#app, changes);
      await this.#network.start(this.#app);
    }
    const { maximumAge, publicKeys, ...app } = this.#app;
    this.#gate = new VersionGate({
      server: this.#network.url,
      app: { region: null, language: null, platform: null, ...app },
      storage: this.#storage,
      clock: () => this.#now * 1_000 + 999,
      transport: this.#network.transport,
      maximumAge,
      publicKeys,
      observer: (report) => {
        this.#reports.push(report);
        if (report.fault === tooLate) this.wasLate = true;
      },
    });
    this.#given = [];
  }

  #preview({ preview, refused = false }) {
    let isRefused = false;
    try {
      this.#gate = VersionGate.preview(preview);
      this.#given = [];
    } catch (error) {
      if (!(error instanceof TypeError) || !error.message.includes('; give {')) throw error;
      isRefused = true;
    }
    expectEqual('refused', isRefused, refused);
  }

  async #check({ check: { force, manual, together = 1 }, asks, shows, sends, links, left, gives, reports }) {
    this.#reports = [];
    const checks = Array.from({ length: together }, (_, index) => {
      const isManual = manual === true || manual === ['first', 'second'][index] || undefined;
      return this.#gate.check(force ?? isManual ? { force, manual: isManual } : undefined);
    });
    const answers = await Promise.all(checks);
    const { asked, bodies } = await this.#network.requests();
    const questions = !asks ? 0 : manual === 'second' ? 2 : 1;
    expectEqual('questions', asked, questions);
    expectEqual('requests', bodies.length, questions);
    this.#installs.push(...bodies.map(({ install }) => install));
    if (sends !== undefined) expectEqual('sends', comparable(bodies[0], sends), sends);
    for (const messages of answers) {
      expectEqual('shows', messages.map(({ id }) => id), shows);
      if (links !== undefined) expectEqual('links', messages.map(({ link }) => link ?? null), links);
      if (left !== undefined) expectEqual('left', messages.map((message) => message.left ?? null), left);
      if (gives !== undefined) expectEqual('gives', messages.map(description), gives);
    }
    if (reports !== undefined) expectEqual('reports', this.#reports.map(summary), [reports]);
    this.#given = [...answers[0], ...this.#given];
  }

  async #compareFields(expected) {
    const fields = await this.#gate.fields();
    this.#installs.push(fields['App-Install']);
    expectEqual('fields', comparable(fields, expected, 'App-Install'), expected);
  }

  #message(id) {
    const message = this.#given.find((one) => one.id === id);
    if (message === undefined) throw new Difference(`No check has given ${id}.`);
    return message;
  }

  #setStorage(change) {
    if (change === 'empty') this.#storage.text = null;
    else if (change === 'unreadable') this.#storage.isUnreadable = true;
    else if (change === 'stuck') this.#storage.isStuck = true;
    else if (change === 'full') this.#storage.isFull = true;
    else if (change === 'writable') this.#storage.isFull = false;
    else this.#storage.text = change.text ?? JSON.stringify(change.json);
  }

  #compareStored(expected) {
    const text = this.#storage.text;
    const kept = text === null ? null : JSON.parse(text);
    expectEqual('stored', expected === null ? kept : comparable(kept, expected), expected);
  }

  #compareInstalls(areSame) {
    const [before, last] = this.#installs.slice(-2);
    if (last === undefined) throw new Difference('There were not two questions.');
    if ((before === last) !== areSame) throw new Difference(`The install ${areSame ? 'changed' : 'stayed'}.`);
  }
}

/** `actual`, with `*` as its install if that is what is expected and a UUID in lower case is there. */
function comparable(actual, expected, name = 'install') {
  const isUUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(actual?.[name]);
  return expected[name] === '*' && isUUID ? { ...actual, [name]: '*' } : actual;
}

function description({ id, title, text, link, target, lockout, skippable }) {
  return {
    id, title, text,
    ...(link !== undefined && { link }),
    ...(target !== undefined && { target }),
    ...(lockout && { lockout }),
    ...(skippable && { skip: true }),
  };
}

function summary({ outcome, status, fault, messages }) {
  return {
    outcome, messages,
    ...(status !== undefined && { status }),
    ...(fault !== undefined && { fault: isString(fault) && fault !== '' }),
  };
}

// What a file may say.

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isString = (value) => typeof value === 'string';
const isBoolean = (value) => typeof value === 'boolean';
const isCount = (value) => Number.isInteger(value) && value >= 1;
const isStrings = (value) => Array.isArray(value) && value.every(isString);
const isOneOf = (...values) => (value) => values.includes(value);
const isAttribute = (value) => isString(value) || isBoolean(value) || Number.isFinite(value);
const hasOnly = (types) => (value) =>
  isObject(value) && Object.entries(value).every(([name, one]) => types[name]?.(one));

const app = {
  bundle: isString, version: isString, build: isString, platform: isString, os: isString, region: isString,
  language: isString, attributes: (value) => isObject(value) && Object.values(value).every(isAttribute),
  maximumAge: (value) => Number.isInteger(value) && value >= 0 && value <= 90, publicKeys: isStrings,
};
const orNull = (isRight) => (value) => value === null || isRight(value);
const nullable = Object.fromEntries(
  Object.entries(app).map(([name, isRight]) => [name, name === 'bundle' ? isRight : orNull(isRight)]),
);
const given = {
  id: isString, title: isString, text: isString, link: isString, target: isString,
  lockout: isOneOf(true), skip: isOneOf(true),
};
const report = { outcome: isOneOf('asked', 'kept'), status: isCount, fault: isOneOf(true), messages: Number.isInteger };
const answers = [
  { messages: Array.isArray, date: isString },
  { status: isCount, body: isString, repeat: isCount, bytes: isCount, encoding: isOneOf('latin1'), date: isString,
    headers: (value) => isObject(value) && Object.values(value).every((one) => isString(one) || isStrings(one)) },
  { fails: isString },
];
const combined = ['advance', 'answer', 'start', 'check', 'fields']; // of which a step may have several
const steps = {
  start: [{ start: hasOnly(nullable) }],
  preview: [{ preview: (value) => isString(value) || isObject(value) }, { refused: isOneOf(true) }],
  set: [{ set: hasOnly({ language: nullable.language, region: nullable.region, attributes: app.attributes }) }],
  advance: [{ advance: Number.isInteger }],
  answer: [{ answer: (value) => answers.some((one) => hasOnly(one)(value) && Object.keys(one)[0] in value) }],
  check: [
    { check: hasOnly({ force: isBoolean, manual: isOneOf(true, 'first', 'second'), together: isOneOf(2) }), asks: isBoolean, shows: isStrings },
    {
      sends: isObject,
      links: (value) => Array.isArray(value) && value.every(orNull(isString)),
      left: (value) => Array.isArray(value) && value.every(orNull(isCount)),
      gives: (value) => Array.isArray(value) && value.every(hasOnly(given)),
      reports: hasOnly(report),
    },
  ],
  dismiss: [{ dismiss: isString }],
  skip: [{ skip: isString }],
  open: [{ open: isString, opens: orNull(isString) }],
  fields: [{ fields: isObject }],
  forget: [{ forget: isOneOf(true) }],
  storage: [
    {
      storage: (value) =>
        isOneOf('empty', 'unreadable', 'stuck', 'full', 'writable')(value) ||
        hasOnly({ text: isString })(value) || hasOnly({ json: isObject })(value),
    },
  ],
  stored: [{ stored: orNull(isObject) }],
  same: [{ same: isOneOf('install') }],
  other: [{ other: isOneOf('install') }],
};

/** What is wrong with a scenario as data, or null. */
export function problemOf(scenario) {
  const isWhole = hasOnly({ name: isString, rule: isString, app: hasOnly(nullable), steps: Array.isArray });
  if (!isWhole(scenario) || !['name', 'rule', 'steps'].every((name) => name in scenario)) {
    return 'name, rule and steps are needed, app is possible';
  }
  if (!['asks', 'reads', 'shows', 'keeps', 'time', 'preview', 'gates'].includes(scenario.rule)) return `no rule is called ${scenario.rule}`;
  let current = changed(defaultApp, scenario.app ?? {});
  let needsStart = true;
  for (const [index, step] of scenario.steps.entries()) {
    const where = `step ${index + 1}: `;
    if (!isObject(step)) return `${where}no object`;
    const kinds = Object.keys(steps).filter((name) => name in step);
    if (kinds.length === 0) return `${where}unknown`;
    if (kinds.length > 1 && !kinds.every((name) => combined.includes(name))) return `${where}${kinds.join(' and ')}`;
    const needed = Object.assign({}, ...kinds.map((kind) => steps[kind][0]));
    const optional = Object.assign({}, ...kinds.map((kind) => steps[kind][1] ?? {}));
    for (const name of Object.keys(needed)) if (!(name in step)) return `${where}${name} is missing`;
    if (!hasOnly({ ...needed, ...optional })(step)) return `${where}a member is unknown or wrong`;

    if ('start' in step || 'preview' in step) needsStart = false;
    if ('storage' in step && step.storage !== 'full' && step.storage !== 'writable') needsStart = true;
    const needsGate = ['check', 'set', 'fields', 'forget', 'dismiss', 'skip', 'open'].some((name) => name in step);
    if (needsGate && needsStart) return `${where}a start is missing`;
    if (step.answer?.messages !== undefined) {
      const problem = problemOfSent(step.answer.messages, current);
      if (problem !== null) return `${where}${problem}`;
    }
    if ('start' in step) current = changed(current, step.start);
  }
  return null;
}

/** Why no server sends these messages, or null. */
function problemOfSent(messages, { version, platform }) {
  const sent = {
    id: (value) => isString(value) && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(value),
    title: (value) => isString(value) && value !== '', text: isString,
    link: (value) => isString(value) && value !== '', target: isString, lockout: isOneOf(true), skip: isOneOf(true),
    remind: isCount, shows: (value) => isCount(value) && value <= 1_000,
  };
  for (const message of messages) {
    if (!hasOnly(sent)(message)) return 'a message that no server sends is written as text';
    const { link, target, lockout, remind, shows, skip } = message;
    const hasHint = remind !== undefined || shows !== undefined || skip !== undefined;
    if (lockout && (hasHint || target !== undefined || link === undefined)) return 'a lockout has a link and no hints';
    if (target !== undefined && !hasHint) return 'a target comes with a hint';
    if (target !== undefined && !(platform && isBelow(version, target))) return 'a target is above the app';
  }
  const ids = messages.map(({ id }) => id);
  return new Set(ids).size === ids.length ? null : 'an id comes once in an answer';
}

function isBelow(version, target) {
  const numbers = (text) => text.split('.').map(Number);
  const [low, high] = [numbers(version), numbers(target)];
  const place = high.findIndex((number, index) => number !== (low[index] ?? 0));
  return place >= 0 && (low[place] ?? 0) < high[place];
}

/** A line of JSON. To `readline` of Node 24, U+2028 ends a line. */
export const lineOf = (value) => `${JSON.stringify(value).replaceAll('\u2028', '\\u2028')}\n`;
