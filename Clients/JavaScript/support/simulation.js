// Installs over 90 days, with people, networks, clocks and storage that do as they like, and an oracle that watches
// from outside: it knows what the server sent, what was shown and what the person did, and nothing of what the library
// keeps.

import { VersionGate } from '../versiongate.js';
import { MemoryStorage } from './scenarios.js';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const length = 90 * day;
const beginning = 1_790_000_000;

/** Elements of an answer that are no messages. */
const unreadable = [null, { id: 'news' }, { id: 'blocked', title: 'B', text: 'B', lockout: 'yes' }];

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

class Chance {
  #random;

  constructor(seed) {
    this.#random = randomOf(seed);
  }

  happens(probability) {
    return this.#random() < probability;
  }

  whole(from, to) {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  one(values) {
    return values[this.whole(0, values.length - 1)];
  }
}

/** Simulates installs until there were so many starts, and counts what happened. Throws at what must not happen. */
export async function simulate({ starts, seed }) {
  const counts = {
    starts: 0, checks: 0, installs: 0,
    shown: 0, tooOften: 0, tooSoon: 0, skipped: 0, lockouts: 0, keptLockouts: 0, freed: 0,
  };
  while (counts.starts < starts) {
    const install = new Install(new Chance(seed * 1_000_003 + counts.installs), counts);
    try {
      await install.live(starts);
    } catch (error) {
      const where = `seed ${seed}, install ${counts.installs}, day ${install.day}`;
      throw new Error(`${where}: ${error.message}`, { cause: error });
    }
    counts.installs += 1;
  }
  return counts;
}

/** What the server says: a few rules, which somebody edits now and then. */
class Policy {
  #chance;
  #rules;
  #target = '1.1';
  #nextEdit = 0;

  constructor(chance) {
    this.#chance = chance;
    this.#rules = ['update', 'news', 'tip', 'survey', 'plain', 'blocked', 'maintenance'].map((id) => this.#rule(id));
  }

  #rule(id) {
    const chance = this.#chance;
    const hints = {};
    if (id !== 'plain') {
      if (chance.happens(0.5)) hints.remind = chance.one([1, minute, hour, day, 7 * day]);
      if (chance.happens(0.5)) hints.shows = chance.one([1, 1, 2, 3, 10]);
      if (chance.happens(0.5)) hints.skip = true;
    }
    const isLockout = id === 'blocked' || id === 'maintenance' || (id === 'survey' && chance.happens(0.3));
    return {
      id, isLockout, hints: isLockout ? {} : hints,
      position: chance.whole(0, 99), isOn: chance.happens(isLockout ? 0.15 : 0.7),
      below: id === 'maintenance' ? '9' : chance.one(['1.1', '1.2', '1.3']),
    };
  }

  messages(time, version) {
    while (time >= this.#nextEdit) this.#edit();
    const boundOf = ({ id, below }) => (id === 'update' ? this.#target : below);
    const matching = this.#rules.filter((rule) => rule.isOn && version < boundOf(rule));
    return matching.sort((one, other) => one.position - other.position).map((rule) => this.#message(rule));
  }

  #edit() {
    this.#nextEdit += this.#chance.whole(hour, 8 * day);
    if (this.#chance.happens(0.2)) this.#target = this.#chance.one(['1.1', '1.2', '1.3']);
    const index = this.#chance.whole(0, this.#rules.length - 1);
    this.#rules[index] = this.#rule(this.#rules[index].id);
  }

  #message({ id, hints, isLockout }) {
    const hasTarget = id === 'update' && Object.keys(hints).length > 0;
    return {
      id, title: id, text: id, ...hints, ...(hasTarget && { target: this.#target }),
      ...(isLockout && { lockout: true, link: 'https://example.com/update' }),
    };
  }
}

/** What must be shown, from what has happened. */
class Oracle {
  #history = new Map(); // what happened to a message, by id and target
  #answer = null;
  #answerBefore = null; // the one that outlives a start in which nothing can be written
  #isFull = false;
  #number = 0;
  #askedAt = null;
  #counts;

  constructor(counts) {
    this.#counts = counts;
  }

  loseAll() {
    this.#history.clear();
    this.#answer = null;
    this.#answerBefore = null;
    this.#askedAt = null;
  }

  start(isFull) {
    if (this.#isFull) {
      const isKept = ({ start }) => start !== this.#number;
      for (const [key, events] of this.#history) this.#history.set(key, events.filter(isKept));
    }
    this.#answer = this.#answerBefore;
    this.#isFull = isFull;
    this.#number += 1;
    this.#askedAt = null;
  }

  isAsking(now, isForced) {
    const isHeldBack = this.#askedAt !== null && now >= this.#askedAt && now < this.#askedAt + 15 * minute;
    if (isHeldBack && !isForced) return false;
    this.#askedAt = now;
    return true;
  }

  /** Compares what was shown after an answer that was valid. */
  judge(messages, ids, now, app) {
    const expected = [];
    let lockout = null;
    for (const message of messages) {
      if (message.lockout) {
        lockout = message;
        expected.push(message.id);
        break;
      }
      const reason = this.#reasonToHide(message, now);
      if (reason === null) expected.push(message.id);
      else this.#counts[reason] += 1;
      if (reason !== null && ids.includes(message.id)) throw new Error(`${message.id} is shown: ${reason}`);
      if (reason === null) this.#add(message, 'shown', now);
    }
    this.#compare(ids, expected, 'after an answer');
    if (lockout === null && this.#answer !== null) this.#counts.freed += 1;
    if (lockout !== null) this.#counts.lockouts += 1;
    this.#counts.shown += ids.length;
    this.#answer = lockout === null ? null : { id: lockout.id, at: now, ...app };
    if (!this.#isFull) this.#answerBefore = this.#answer;
  }

  /** Compares what was shown without a valid answer. */
  judgeWithout(ids, now, app, bound) {
    const { id, at, version, build } = this.#answer ?? {};
    const isSame = version === app.version && build === app.build;
    const holds = this.#answer !== null && bound > 0 && isSame && at <= now && now <= at + bound * day;
    this.#compare(ids, holds ? [id] : [], 'without an answer');
    this.#counts.keptLockouts += ids.length;
  }

  act(message, kind, now) {
    this.#add(message, kind === 'skip' && !message.skip ? 'dismiss' : kind, now);
  }

  #add(message, kind, now) {
    const { id, target, remind, shows, skip } = message;
    if (remind === undefined && shows === undefined && skip === undefined) return;
    const key = `${id} ${target}`;
    if (!this.#history.has(key)) this.#history.set(key, []);
    this.#history.get(key).push({ kind, now, start: this.#number });
  }

  #reasonToHide({ id, target, shows, remind }, now) {
    const events = this.#history.get(`${id} ${target}`) ?? [];
    if (events.some(({ kind }) => kind === 'skip')) return 'skipped';
    if (shows !== undefined && events.filter(({ kind }) => kind === 'shown').length >= shows) return 'tooOften';
    const last = events.at(-1)?.now;
    return remind !== undefined && last !== undefined && last <= now && last > now - remind ? 'tooSoon' : null;
  }

  #compare(ids, expected, when) {
    if (ids.join() !== expected.join()) throw new Error(`${when} [${ids}] is shown instead of [${expected}]`);
  }
}

class Install {
  #chance;
  #counts;
  #policy;
  #oracle;
  #storage = new MemoryStorage();
  #time = 0; // seconds since the first start
  #skew = 0; // of the device's clock
  #version = '1.0';
  #build = 42;
  #bound;
  #mood;
  #answer = null; // what the network brings: messages, or null
  #asked = 0;

  constructor(chance, counts) {
    this.#chance = chance;
    this.#counts = counts;
    this.#policy = new Policy(chance);
    this.#oracle = new Oracle(counts);
    this.#bound = chance.one([7, 7, 7, 0, 1, 30, 90]);
    this.#mood = {
      skip: chance.one([0, 0.02, 0.2]), close: chance.one([0.1, 0.5]), pause: chance.one([8 * hour, day, 4 * day]),
    };
  }

  get day() {
    return Math.floor(this.#time / day);
  }

  get #now() {
    return beginning + this.#time + this.#skew;
  }

  async live(starts) {
    while (this.#time < length && this.#counts.starts < starts) {
      await this.#start();
      this.#counts.starts += 1;
      this.#time += this.#chance.whole(1, this.#mood.pause);
    }
  }

  async #start() {
    const chance = this.#chance;
    if (chance.happens(0.01)) this.#version = chance.one(['1.0', '1.1', '1.2', '1.3']);
    if (chance.happens(0.01)) this.#build += 1;
    if (chance.happens(0.01)) this.#skew = chance.one([0, 0, -hour, hour, -30 * day, 400 * day, -3 * 365 * day]);
    if (chance.happens(0.003)) this.#lose();
    this.#storage.isFull = chance.happens(0.03) && !this.#storage.isUnreadable;
    this.#oracle.start(this.#storage.isFull);

    const app = { bundle: 'com.example.doto', version: this.#version, build: String(this.#build) };
    const gate = new VersionGate({
      server: 'https://gate.example.com',
      app: { ...app, language: null, region: null },
      storage: this.#storage,
      clock: () => this.#now * 1_000,
      transport: (request) => this.#transport(request),
      maximumAge: this.#bound,
    });
    await this.#check(gate, chance.happens(0.1));
    while (chance.happens(0.3)) {
      this.#time += chance.one([0, 1, minute, 15 * minute - 1, 15 * minute, hour]);
      if (chance.happens(0.01)) this.#skew += chance.one([-day, -minute, minute]);
      if (chance.happens(0.02)) {
        await gate.forget();
        this.#oracle.loseAll();
      }
      await this.#check(gate, chance.happens(0.3));
    }
  }

  #lose() {
    if (this.#chance.happens(0.5)) this.#storage.text = null;
    else this.#storage.isUnreadable = true;
    this.#oracle.loseAll();
  }

  async #check(gate, force) {
    const app = { version: this.#version, build: this.#build };
    const messages = this.#policy.messages(this.#time, this.#version);
    this.#answer = this.#chance.happens(0.8) ? messages : null;
    this.#asked = 0;
    const given = await gate.check({ force });
    this.#counts.checks += 1;
    const ids = given.map(({ id }) => id);
    const isAsking = this.#oracle.isAsking(this.#now, force);
    if (this.#asked !== (isAsking ? 1 : 0)) throw new Error(`${this.#asked} questions`);
    if (isAsking && this.#answer !== null) this.#oracle.judge(messages, ids, this.#now, app);
    else this.#oracle.judgeWithout(ids, this.#now, app, this.#bound);

    for (const message of given) {
      while (this.#chance.happens(this.#mood.close)) {
        const kind = this.#chance.happens(this.#mood.skip) ? 'skip' : this.#chance.one(['dismiss', 'opened']);
        this.#time += this.#chance.whole(0, 2 * minute);
        message[kind]();
        if (!message.lockout) this.#oracle.act(messages.find(({ id }) => id === message.id), kind, this.#now);
      }
    }
  }

  async #transport({ signal }) {
    this.#asked += 1;
    if (signal.aborted) throw new Error('The question was over before it began.');
    if (this.#answer !== null) {
      const noise = this.#chance.happens(0.1) ? unreadable : [];
      return { status: 200, body: JSON.stringify({ messages: [...noise, ...this.#answer] }) };
    }
    return this.#chance.one([
      () => {
        throw new Error('unreachable');
      },
      () => ({ status: 503, body: '{"messages":[]}' }),
      () => ({ status: 302, body: '' }),
      () => ({ status: 200, body: '<html>' }),
      () => ({ status: 200, body: '{"messages":[' }),
      () => ({ status: 200, body: '{"messages":{}}' }),
    ])();
  }
}
