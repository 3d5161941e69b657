const storageName = 'dev.versiongate';
const checkLimit = 2_000; // milliseconds that a check takes at most
const storageLimit = 1_000; // milliseconds of them that reading the storage takes at most
const pause = 15 * 60; // seconds between two questions of a start
const day = 86_400;
const largestBody = 1_048_576;
const tooLong = 'the answer is longer than 1 MiB';
const longestLink = 2_048;
const mostMessages = 100;
const mostRemembered = 256;
const texts = ['bundle', 'version', 'build', 'platform', 'os', 'region', 'language'];
const fieldNames = {
  bundle: 'App-Bundle', version: 'App-Version', build: 'App-Build', platform: 'App-Platform', os: 'App-OS',
  region: 'App-Region', install: 'App-Install',
};

/** Asks a versiongate server which messages an app is to show. One object is one start of the app. */
export class VersionGate {
  #url;
  #app = {}; // the texts that are known
  #attributes = []; // names and values
  #maximumAge;
  #clock;
  #transport;
  #storage;
  #observer;
  #publicKeys;
  #hasSaidFault = false;

  // What is kept.
  #install;
  #answer;
  #messages = new Map(); // by `pair`, in the order of the last change

  #loading = null;
  #forgotten = 0; // how often
  #askedAt = null;
  #asking = null; // the newest question under way
  #isManual = false; // whether it is manual
  #writable = true;
  #writing = false;
  #unwritten = false;
  #written = Promise.resolve();

  constructor(options) {
    const known = ['server', 'app', 'storage', 'clock', 'transport', 'maximumAge', 'observer', 'publicKeys'];
    const { server, app, storage, clock, transport, maximumAge, observer, publicKeys } = membersOf(options, 'options', known);
    if (typeof server !== 'string' || !/^https?:\/\/[^/?#\s@\\]+(\/[^?#\s\\]*)?$/i.test(server)) {
      throw new TypeError(`server must be an address such as https://gate.example.com, not ${shown(server)}`);
    }
    this.#url = `${server.replace(/\/+$/, '')}/v1/check`;

    const { attributes, ...described } = membersOf(app, 'app', [...texts, 'attributes']);
    for (const name of texts) this.#describe(name, described[name]);
    if (this.#app.bundle === undefined) throw new TypeError('app.bundle is missing: com.example.doto, for instance');
    this.attributes = attributes;

    this.#maximumAge = maximumAge ?? 7;
    if (!Number.isInteger(this.#maximumAge) || this.#maximumAge < 0 || this.#maximumAge > 90) {
      throw new RangeError(`maximumAge must be a whole number of days from 0 to 90, not ${shown(maximumAge)}`);
    }
    this.#clock = clock ?? Date.now;
    if (typeof this.#clock !== 'function') throw new TypeError('clock must be a function such as Date.now');
    this.#transport = transport ?? fetchAnswer;
    if (typeof this.#transport !== 'function') throw new TypeError('transport must be a function');
    this.#storage = storage === undefined ? localStorageOrNull() : storage;
    for (const method of ['getItem', 'setItem', 'removeItem']) {
      if (this.#storage !== null && typeof this.#storage?.[method] !== 'function') {
        throw new TypeError(`storage must be null or have the methods of localStorage; it has no ${method}`);
      }
    }
    this.#observer = observer ?? undefined;
    if (!['undefined', 'function'].includes(typeof this.#observer)) throw new TypeError('observer must be a function');
    this.#publicKeys = publicKeys ?? [];
    if (!Array.isArray(this.#publicKeys) || !this.#publicKeys.every((key) => keyForm.test(key))) {
      throw new TypeError('publicKeys must be an array of texts that versiongate lockout-key new has printed');
    }
  }

  /** A gate that gives these messages and asks no server, to try them inside the app. It keeps nothing. */
  static preview(answer) {
    const hint = 'give {"messages":[{"id":"news","title":"News","text":"Text"}]}, as /v1/check answers';
    const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
    let elements;
    try {
      elements = elementsOf({ status: 200, body });
    } catch (error) {
      throw new TypeError(`the preview is no answer: ${error.message}; ${hint}`);
    }
    const wrong = elements.findIndex((one) => readMessage(one) === null);
    if (wrong >= 0) throw new TypeError(`message ${wrong + 1} of the preview cannot be read; ${hint}`);
    const transport = async () => ({ status: 200, body });
    const app = { bundle: 'preview' };
    return new VersionGate({ server: 'https://preview.invalid', app, storage: null, transport, observer() {} });
  }

  /** What rules can have as a condition besides. The next question sends it. */
  get attributes() {
    return Object.fromEntries(this.#attributes);
  }

  set attributes(given) {
    const attributes = given ?? {};
    if (objectOrNull(attributes) === null) {
      throw new TypeError(`app.attributes must be an object, not ${shown(attributes)}`);
    }
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && !['string', 'number', 'boolean', 'undefined'].includes(typeof value)) {
        throw new TypeError(`app.attributes.${name} must be a string, a number or a boolean, not ${shown(value)}`);
      }
    }
    this.#attributes = Object.entries(attributes);
  }

  /** The language tag; undefined if none is sent. The next question sends it. */
  get language() {
    return this.#app.language;
  }

  set language(tag) {
    this.#describe('language', tag);
  }

  /** The country; undefined if none is sent. The next question sends it. */
  get region() {
    return this.#app.region;
  }

  set region(country) {
    this.#describe('region', country);
  }

  /** The messages to show now, in their order. It takes at most two seconds, and never rejects. */
  async check(options) {
    try {
      const isManual = options?.manual === true;
      return await this.#check(isManual || options?.force === true, isManual);
    } catch {
      return [];
    }
  }

  /** The headers from which a gateway in front of another API knows the app. It takes at most a second, and never rejects. */
  async fields() {
    await this.#load();
    this.#makeInstall();
    const values = { ...this.#app, install: this.#install };
    const fields = Object.entries(fieldNames).map(([name, field]) => [field, values[name] ?? '']);
    return Object.fromEntries(fields.filter(([, value]) => /^[!-~]([ -~]*[!-~])?$/.test(value)));
  }

  /** Deletes the install and all else that is kept. */
  async forget() {
    this.#forgotten += 1;
    this.#install = undefined;
    this.#answer = undefined;
    this.#messages.clear();
    this.#loading = Promise.resolve();
    this.#askedAt = null;
    this.#asking = null;
    this.#writable = true;
    this.#write();
    await this.#written;
  }

  #describe(name, given) {
    const text = (given === undefined ? defaults[name]?.() : given) ?? '';
    if (typeof text !== 'string') throw new TypeError(`app.${name} must be a string, not ${shown(text)}`);
    this.#app[name] = text === '' ? undefined : text;
  }

  async #check(forced, isManual) {
    const begun = Date.now();
    const expiry = expiring(checkLimit);
    try {
      await this.#load();
      if (this.#asking === null || (isManual && !this.#isManual)) {
        if (this.#isHeldBack() && !forced) {
          const given = this.#keptLockout();
          this.#report(begun, { outcome: 'kept', messages: given.length });
          return given;
        }
        this.#isManual = isManual;
        const asking = this.#ask(expiry, begun, isManual).finally(() => {
          if (this.#asking === asking) this.#asking = null;
        });
        this.#asking = asking;
      }
      return [...(await this.#asking)];
    } finally {
      expiry.end();
    }
  }

  /** Whether it is too early to ask: less than 15 minutes after the last question, and no lockout has ended since. */
  #isHeldBack() {
    const now = this.#now();
    if (this.#askedAt === null || this.#askedAt > now || now - this.#askedAt >= pause) return false;
    const { at, left } = this.#answer ?? {};
    return left === undefined || this.#askedAt >= at + left || now < at + left;
  }

  #makeInstall() {
    if (this.#install !== undefined) return;
    this.#install = randomUUID();
    this.#write();
  }

  async #ask(expiry, begun, isManual) {
    this.#askedAt = this.#now();
    this.#makeInstall();
    const forgotten = this.#forgotten;
    let status;
    let fault;
    let given;
    try {
      const answer = await Promise.race([this.#answerTo(expiry.signal, isManual), expiry.promise]);
      ({ status } = answer);
      let messages = elementsOf(answer).map(readMessage).filter((message) => message !== null);
      let expires;
      if (this.#publicKeys.length > 0 && messages.some(({ lockout }) => lockout)) {
        expires = await Promise.race([this.#signedUntil(answer), expiry.promise]);
        if (expires === undefined) messages = messages.map(({ lockout, until, ...message }) => message);
      }
      given = this.#show(messages, timeOf(answer.date), forgotten === this.#forgotten, expires, isManual);
    } catch (error) {
      fault = wordsOf(error);
      given = this.#keptLockout();
    }
    this.#report(begun, { outcome: 'asked', status, fault, messages: given.length });
    return given;
  }

  /** Until when the signature of an answer is valid; undefined if it is not, whatever the reason is. */
  async #signedUntil(answer) {
    try {
      return await signedUntil(answer, this.#app.bundle, this.#publicKeys, this.#now());
    } catch {
      return undefined; // There is no WebCrypto, for instance.
    }
  }

  async #answerTo(signal, isManual) {
    const members = { ...this.#app, install: this.#install, manual: isManual || undefined };
    const attributes = this.#attributes.filter(([name, value]) => {
      return ![...texts, 'install', 'manual'].includes(name) && value !== '' && value !== null &&
        (typeof value !== 'number' || Number.isFinite(value));
    });
    const answer = await this.#transport({
      url: this.#url,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...members, ...Object.fromEntries(attributes) }),
      signal,
    });
    if (objectOrNull(answer ?? null) === null) throw new Error('the transport gives no answer');
    return answer;
  }

  /** Tells the observer what a check did. Without one, a debug build says the first fault on the console. */
  #report(begun, { outcome, status, fault, messages }) {
    if (this.#observer !== undefined) {
      try {
        this.#observer({ outcome, status, fault, milliseconds: Math.max(0, Date.now() - begun), messages });
      } catch {
        // The messages are given whatever the app makes of the report.
      }
    } else if (fault !== undefined && !this.#hasSaidFault && isDebugBuild()) {
      this.#hasSaidFault = true;
      console.warn(`versiongate: ${this.#url}: ${fault}`);
    }
  }

  #show(read, sentAt, isKept, expires, isManual) {
    const now = this.#now();
    // Who plays a signed answer again can hold back its time, which is not signed.
    const isSigned = expires !== undefined;
    const time = Math.max(sentAt ?? now, isSigned ? now - day : 0);
    const messages = read.filter(({ lockout, until }) => !(isSigned && lockout && until <= time));
    const lockout = messages.find((message) => message.lockout);
    const left = lockout?.until === undefined ? undefined : Math.max(0, lockout.until - time);
    let hasChanged = false;
    if (isKept) {
      const before = this.#answer;
      this.#answer = undefined;
      if (lockout !== undefined && this.#maximumAge > 0) {
        this.#answer = { at: now, version: this.#app.version, build: this.#app.build, left, expires, lockout };
      }
      hasChanged = before !== this.#answer;
    }
    const given = [];
    for (const message of messages) {
      if (!message.lockout) {
        const known = this.#messages.get(pair(message));
        if (!isManual && isHidden(message, known, now)) continue;
        if (isKept && isRemembered(message)) {
          this.#remember(message, { shown: (known?.shown ?? 0) + 1, last: now });
          hasChanged = true;
        }
      }
      given.push(this.#give(message, message.lockout ? left : undefined));
      if (message.lockout) break;
    }
    if (hasChanged) this.#write();
    return given;
  }

  #keptLockout() {
    const { at, version, build, left, expires = 0, lockout } = this.#answer ?? {};
    const age = this.#now() - at;
    const isShown =
      lockout !== undefined && version === this.#app.version && build === this.#app.build &&
      this.#maximumAge > 0 && age >= 0 && age <= this.#maximumAge * day && !(age >= left) &&
      (this.#publicKeys.length === 0 || this.#now() < expires);
    return isShown ? [this.#give(lockout, left === undefined ? undefined : left - age)] : [];
  }

  #give(message, left) {
    return new Message(message, left, (skipped) => {
      if (message.lockout || !isRemembered(message)) return;
      const shown = this.#messages.get(pair(message))?.shown ?? 1;
      this.#remember(message, { shown, last: this.#now(), ...(skipped && message.skip === true ? { skipped } : {}) });
      this.#write();
    });
  }

  #remember({ id, target }, changes) {
    const key = pair({ id, target });
    const member = { id, target, ...this.#messages.get(key), ...changes };
    this.#messages.delete(key); // so that it becomes the newest
    this.#messages.set(key, member);
    if (this.#messages.size > mostRemembered) this.#messages.delete(this.#messages.keys().next().value);
  }

  #now() {
    let time = NaN;
    try {
      time = Math.floor(this.#clock() / 1_000);
    } catch {
      // The clock of the system is used.
    }
    if (Number.isNaN(time)) time = Math.floor(Date.now() / 1_000);
    return Math.min(Math.max(0, time), Number.MAX_SAFE_INTEGER);
  }

  #load() {
    this.#loading ??= this.#read();
    return this.#loading;
  }

  async #read() {
    const forgotten = this.#forgotten;
    let text = null;
    try {
      const item = this.#storage?.getItem(storageName);
      text = isPromise(item) ? await inTime(item, storageLimit) : item;
    } catch (error) {
      // Storage that may still answer has what must not be replaced.
      if (error === late && forgotten === this.#forgotten) this.#writable = false;
    }
    if (forgotten !== this.#forgotten) return;
    const kept = readKept(text);
    this.#install = kept.install;
    this.#answer = kept.answer;
    this.#messages = new Map(kept.messages.map((member) => [pair(member), member]));
  }

  /** Writes at once to storage that is synchronous, and else as soon as the write before it has ended. */
  #write() {
    this.#unwritten = true;
    if (!this.#writing) this.#written = this.#writeAll();
  }

  async #writeAll() {
    this.#writing = true;
    while (this.#unwritten) {
      this.#unwritten = false;
      if (!this.#writable) continue;
      try {
        const text = this.#text();
        const done =
          text === '{}' ? this.#storage?.removeItem(storageName) : this.#storage?.setItem(storageName, text);
        if (isPromise(done)) await inTime(done, storageLimit);
      } catch {
        // What is in memory counts until the app ends.
      }
    }
    this.#writing = false;
  }

  #text() {
    const messages = [...this.#messages.values()];
    const { at, version, build, left, expires, lockout } = this.#answer ?? {};
    const { id, title, text, link, target } = lockout ?? {};
    return JSON.stringify({
      install: this.#install,
      answer: lockout && { at, version, build, left, expires, lockout: { id, title, text, link, target } },
      messages: messages.length > 0 ? messages : undefined,
    });
  }
}

/** A message to show. */
class Message {
  #close;

  constructor({ id, title, text, link, lockout, target, skip }, left, close) {
    this.id = id;
    this.title = title;
    this.text = text;
    this.link = link;
    this.target = target;
    this.lockout = lockout === true;
    this.left = left;
    this.skippable = !this.lockout && skip === true;
    this.#close = close;
    Object.freeze(this);
  }

  /** The person closed the message. */
  dismiss() {
    this.#close(false);
  }

  /** The person wants never to see the message again. */
  skip() {
    this.#close(true);
  }

  /** The person followed the link, which is returned. */
  opened() {
    this.#close(false);
    return this.link;
  }
}

// What comes from a server or from storage.

/** Text that can be written as UTF-8: a surrogate alone cannot. */
const isText = (value) => typeof value === 'string' && !/[\ud800-\udfff]/u.test(value);
const isBoolean = (value) => typeof value === 'boolean';
const isCount = (value) => Number.isSafeInteger(value) && value >= 1;
const isTime = (value) => Number.isSafeInteger(value) && value >= 0;
const optional = (isRight) => (value) => value === undefined || isRight(value);

const messageTypes = {
  id: isText, title: isText, text: isText, link: optional(isText), target: optional(isText),
  lockout: optional(isBoolean), skip: optional(isBoolean), remind: optional(isCount), shows: optional(isCount),
  until: optional(isCount),
};
const memberTypes = {
  id: isText, target: optional(isText), shown: isCount, last: isTime, skipped: optional(isBoolean),
};
const answerTypes = {
  at: isTime, version: optional(isText), build: optional(isText), left: optional(isTime), expires: optional(isTime),
  lockout: (value) => value !== undefined,
};

/** What a valid answer has as its messages. An answer that is not valid is an error. */
function elementsOf({ status, body }) {
  if (status !== 200) throw new Error(`the server answers with status ${status}`);
  if (typeof body !== 'string') throw new Error('the transport gives no text');
  if (isLongerThan(largestBody, body)) throw new Error(tooLong);
  let answer;
  try {
    answer = JSON.parse(body);
  } catch {
    throw new Error('the answer is no JSON');
  }
  const elements = objectOrNull(answer)?.messages;
  if (!Array.isArray(elements)) throw new Error('the answer has no list of messages');
  return elements.slice(0, mostMessages);
}

/** The seconds since 1970 of a header Date; undefined if it is none. */
function timeOf(date) {
  const [, day, month, year, ...time] = /^..., (\d\d) (...) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/.exec(date) ?? [];
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  return months.includes(month) ? Date.UTC(year, months.indexOf(month), day, ...time) / 1_000 : undefined;
}

function wordsOf(error) {
  return [error?.message, error?.cause?.message].filter((words) => words).join(': ') || 'the transport fails';
}


/** The members of `value` that `types` names, but null and false; null if it is no object or one is not right. */
function read(value, types) {
  if (objectOrNull(value) === null) return null;
  const members = {};
  for (const [name, isRight] of Object.entries(types)) {
    const member = value[name] ?? undefined;
    if (!isRight(member)) return null;
    if (member !== undefined && member !== false) members[name] = member;
  }
  return members;
}

function readMessage(element) {
  const message = read(element, messageTypes);
  if (message?.link !== undefined && !mayBeOpened(message.link)) delete message.link;
  return message;
}

function mayBeOpened(link) {
  return (
    link.length <= longestLink && /^[\x21-\x5b\x5d-\x7e]*$/.test(link) &&
    /^(https?:\/\/(?![^/?#]*@)|itms-appss?:|macappstore:|market:|ms-windows-store:)./i.test(link)
  );
}

function readKept(text) {
  let kept = null;
  try {
    kept = objectOrNull(JSON.parse(text));
  } catch {
    // The same as nothing kept.
  }
  const lockout = readMessage(kept?.answer?.lockout);
  const answer = read({ ...objectOrNull(kept?.answer), lockout }, answerTypes);
  const messages = Array.isArray(kept?.messages) ? kept.messages : [];
  return {
    install: isUUID(kept?.install) ? kept.install : undefined,
    answer: answer === null ? undefined : { ...answer, lockout: { ...lockout, lockout: true } },
    messages: messages.map((member) => read(member, memberTypes)).filter((member) => member !== null),
  };
}

function objectOrNull(value) {
  return typeof value === 'object' && !Array.isArray(value) ? value : null;
}

function isUUID(value) {
  return isText(value) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

// What signs a lockout: RFC 9421 with RFC 9530, in the one form that the server writes.

const signatureFields = ['content-digest', 'policy-bundle', 'signature-input', 'signature'];
/** A public key of P-256: SubjectPublicKeyInfo in base64. */
const keyForm = /^MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{86}==$/;
const inputForm = new RegExp(
  '^lockout=(\\("content-digest" "policy-bundle"\\);created=(\\d{1,12});expires=(\\d{1,12});' +
    'keyid="([0-9a-f]{16})";alg="ecdsa-p256-sha256")$',
);
const signatureForm = /^lockout=:([A-Za-z0-9+/]{86}==):$/;

async function signedUntil({ body, headers }, bundle, keys, now) {
  const [digest, named, input, signature] = signatureFields.map((name) => headers?.[name] ?? '');
  const [, parameters, created, expires, id] = inputForm.exec(input) ?? [];
  const [, value] = signatureForm.exec(signature) ?? [];
  if (id === undefined || value === undefined || inLowerCase(named) !== inLowerCase(bundle)) return undefined;
  if (Number(created) > now + day || Number(expires) <= now) return undefined;
  const { subtle } = globalThis.crypto;
  const hash = async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes));
  const encoder = new TextEncoder();
  if (digest !== `sha-256=:${base64(await hash(encoder.encode(body)))}:`) return undefined;
  const base = `"content-digest": ${digest}\n"policy-bundle": ${named}\n"@signature-params": ${parameters}`;
  for (const text of keys) {
    const bytes = bytesOf(text);
    const hex = Array.from((await hash(bytes)).subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (hex !== id) continue;
    const key = await subtle.importKey('spki', bytes, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
    if (await subtle.verify(algorithm, key, bytesOf(value), encoder.encode(base))) return Number(expires);
  }
  return undefined;
}

/** Only the letters of ASCII. */
function inLowerCase(text) {
  return String(text).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function base64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

// What hints say.

function pair({ id, target }) {
  return JSON.stringify([id, target]);
}

function isRemembered({ remind, shows, skip }) {
  return remind !== undefined || shows !== undefined || skip === true;
}

function isHidden({ remind, shows }, known, now) {
  if (known === undefined) return false;
  const isTooSoon = remind !== undefined && known.last <= now && now - known.last < remind;
  return known.skipped === true || (shows !== undefined && known.shown >= shows) || isTooSoon;
}

// What the platform has.

/** Asks by `fetch`. A redirect, an encoding that was not asked for, and an answer that is too long are errors. */
async function fetchAnswer({ url, method, headers, body, signal }) {
  const response = await (hasStreams() ? fetch : fetchByXMLHttpRequest)(url, {
    method, headers: { ...headers, ...plain }, body, signal,
    redirect: 'manual', credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer',
  });
  // React Native follows redirects whatever it is told.
  const isElsewhere = response.redirected || (response.url && comparable(response.url) !== comparable(url));
  if (isElsewhere) throw new Error('the server redirects');
  const encoding = response.headers?.get('Content-Encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity' && canAskForPlain()) {
    throw new Error(`the answer has the Content-Encoding ${encoding}, which was not asked for`);
  }
  const date = response.headers?.get('Date');
  const fields = Object.fromEntries(signatureFields.map((name) => [name, response.headers?.get(name)]));
  return { status: response.status, body: response.status === 200 ? await bodyText(response) : '', date, headers: fields };
}

/** The `fetch` of React Native gives no stream: it ends when all has been read, however much that is. */
function hasStreams() {
  return typeof XMLHttpRequest === 'undefined' || typeof ReadableStream !== 'undefined' && 'body' in Response.prototype;
}

/** As `fetch` where it has no streams, but an answer that is too long is not read to its end. */
function fetchByXMLHttpRequest(url, { method, headers, body, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (words) => {
      reject(new Error(words));
      request.abort();
    };
    request.open(method, url);
    request.withCredentials = false;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.addEventListener('progress', ({ loaded }) => loaded > largestBody && fail(tooLong));
    request.addEventListener('error', () => fail('Network request failed'));
    request.addEventListener('load', () => {
      const { status, responseText, responseURL } = request;
      const get = (name) => request.getResponseHeader(name);
      resolve({ status, url: responseURL, headers: { get }, text: async () => responseText });
    });
    signal.addEventListener('abort', () => fail('aborted'));
    request.send(body);
  });
}

const plain = { 'Accept-Encoding': 'identity' };

/** A page asks for the encodings of its browser, whatever it is told. */
function canAskForPlain() {
  const request = new Request('https://example.com', { method: 'POST', headers: plain });
  return request.headers.has('Accept-Encoding');
}

function comparable(url) {
  const lowered = url.toLowerCase().replace(/^(https:\/\/[^/]*):443\//, '$1/').replace(/^(http:\/\/[^/]*):80\//, '$1/');
  try {
    return new URL(lowered).href;
  } catch {
    return lowered;
  }
}

async function bodyText(response) {
  if (typeof response.body?.getReader !== 'function' || typeof TextDecoder === 'undefined') {
    return response.text(); // React Native has no streams
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    if (length > largestBody) throw new Error(tooLong);
    text += decoder.decode(value, { stream: true });
  }
}

/** Whether `text` has more bytes of UTF-8 than `limit`. */
function isLongerThan(limit, text) {
  if (text.length > limit) return true;
  if (text.length * 3 <= limit) return false;
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length > limit;
}

function localStorageOrNull() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null; // The browser forbids it.
  }
}

const defaults = {
  platform() {
    const isPage = typeof document !== 'undefined' && !/Electron/.test(globalThis.navigator?.userAgent ?? '');
    return isPage ? 'web' : undefined;
  },
  language() {
    try {
      return globalThis.navigator?.language ?? Intl.DateTimeFormat().resolvedOptions().locale;
    } catch {
      return undefined;
    }
  },
  region() {
    return /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})(?:-|$)/i.exec(defaults.language() ?? '')?.[1].toUpperCase();
  },
};

function randomUUID() {
  let bytes = new Uint8Array(16);
  try {
    globalThis.crypto.getRandomValues(bytes);
  } catch {
    bytes = bytes.map(() => Math.floor(Math.random() * 256)); // React Native has no crypto
  }
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** As bundlers and React Native say it. */
function isDebugBuild() {
  try {
    return globalThis.__DEV__ === true || process.env.NODE_ENV === 'development';
  } catch {
    return false; // A browser has no process.
  }
}

// Limits of time.

/** A signal that is aborted, and a promise that is rejected, after some milliseconds. */
function expiring(milliseconds) {
  const controller = new AbortController();
  let timer;
  const promise = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('no answer within 2 seconds'));
      controller.abort();
    }, milliseconds);
  });
  promise.catch(() => {}); // a check that does not ask waits for no answer
  const end = () => {
    clearTimeout(timer);
    controller.abort(); // drops what is still open of the answer
  };
  return { signal: controller.signal, promise, end };
}

const late = new Error('The storage does not answer.');

async function inTime(promise, milliseconds) {
  let timer;
  const expired = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late), milliseconds);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

function isPromise(value) {
  return typeof value?.then === 'function';
}

// Mistakes of the programmer.

function membersOf(value, name, known) {
  if (objectOrNull(value ?? null) === null) throw new TypeError(`${name} must be an object, not ${shown(value)}`);
  for (const member of Object.keys(value)) {
    if (!known.includes(member)) throw new TypeError(`${name} has no ${member}; it has ${known.join(', ')}`);
  }
  return value;
}

function shown(value) {
  return typeof value === 'string' ? JSON.stringify(value) : Array.isArray(value) ? 'an array' : String(value);
}
