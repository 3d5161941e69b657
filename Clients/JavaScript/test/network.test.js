// What networks do, with real sockets: a check always ends, by its own bound and not by the server's.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { VersionGate } from '../versiongate.js';

const stall = 30_000; // milliseconds after which a silent server of these tests would answer
const bound = 15_000; // far more than a check takes, and far less than the servers do
const news = JSON.stringify({ messages: [{ id: 'news', title: 'News', text: 'Lists.' }] });
const blocked = JSON.stringify({ messages: [{ id: 'blocked', title: 'Blocked', text: 'Update.', lockout: true }] });

const app = { bundle: 'com.example.doto', version: '1.0', language: null, region: null };
const gateAt = (server) => new VersionGate({ server, app, storage: null });
const ids = async (gate) => (await gate.check({ force: true })).map(({ id }) => id);

/** The address of a server that listens until the test ends. */
async function serving(t, server, scheme = 'http') {
  const sockets = new Set();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `${scheme}://127.0.0.1:${server.address().port}`;
}

/** Later than any check; `has.come` says whether it came. */
function afterStall(t, act) {
  const has = { come: false };
  const timer = setTimeout(() => {
    has.come = true;
    act();
  }, stall);
  t.after(() => clearTimeout(timer));
  return has;
}

/** The check gives nothing, and ends before the server would have ended it. */
async function assertGivenUp(address) {
  const begin = performance.now();
  assert.deepEqual(await ids(gateAt(address)), []);
  assert.ok(performance.now() - begin < bound);
}

test('a server that answers', async (t) => {
  const received = [];
  const server = createServer(async (request, response) => {
    request.setEncoding('utf8');
    let body = '';
    for await (const part of request) body += part;
    received.push({ method: request.method, url: request.url, headers: request.headers, body: JSON.parse(body) });
    response.end(news);
  });
  const address = await serving(t, server);
  const paths = { '': '/v1/check', '/': '/v1/check', '/gate': '/gate/v1/check', '/a/gate//': '/a/gate/v1/check' };
  for (const [path, asked] of Object.entries(paths)) {
    assert.deepEqual(await ids(gateAt(address + path)), ['news']);
    const { method, url, headers } = received.at(-1);
    assert.deepEqual([method, url, headers['content-type']], ['POST', asked, 'application/json']);
    assert.deepEqual([headers.cookie, headers.referer, headers.authorization], [undefined, undefined, undefined]);
  }
  assert.deepEqual(Object.keys(received[0].body), ['bundle', 'version', 'install']);
});

test('text in several parts, cut within a character', async (t) => {
  const text = JSON.stringify({ messages: [{ id: 'news', title: 'Zoë 😀', text: '日本語'.repeat(100) }] });
  const server = createServer(async (_, response) => {
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    response.end();
  });
  const [message] = await gateAt(await serving(t, server)).check();
  assert.deepEqual([message.title, message.text], ['Zoë 😀', '日本語'.repeat(100)]);
});

test('the page of a captive portal', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html><body>Please accept the terms.</body></html>');
  });
  await assertGivenUp(await serving(t, server));
});

test('a lockout holds through every fault, and ends with an answer', async (t) => {
  let act;
  const server = createServer((_, response) => act(response));
  const gate = gateAt(await serving(t, server));
  const faults = [
    (response) => response.writeHead(500).end(news),
    (response) => response.writeHead(204).end(),
    (response) => response.end('<html>'),
    (response) => response.end(news.slice(0, -1)),
    (response) => response.socket.resetAndDestroy(),
    (response) => response.socket.destroy(),
    (response) => {
      response.writeHead(200, { 'Content-Length': 1_000 });
      response.write(news, () => response.socket.resetAndDestroy());
    },
    (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(news),
    (response) => response.socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    (response) => response.socket.end(),
  ];
  act = (response) => response.end(blocked);
  assert.deepEqual(await ids(gate), ['blocked']);
  for (const fault of faults) {
    act = fault;
    assert.deepEqual(await ids(gate), ['blocked'], String(fault));
  }
  act = (response) => response.end(news);
  assert.deepEqual(await ids(gate), ['news']);
});

test('redirects are not followed', async (t) => {
  let followed = 0;
  const other = await serving(t, createServer((_, response) => {
    followed += 1;
    response.end(news);
  }));
  let status;
  let location;
  const server = createServer((_, response) => response.writeHead(status, { Location: location }).end(news));
  const address = await serving(t, server);
  for (status of [301, 302, 303, 307, 308]) {
    for (location of [`${other}/v1/check`, '/v1/check']) await assertGivenUp(address);
  }
  assert.equal(followed, 0);
});

test('no connection comes about', async (t) => {
  // A process that listens, and accepts nothing: its queue is full after a few connections.
  const code = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    require('fs').writeSync(1, this.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${stall});
  });`;
  const child = spawn(process.execPath, ['--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const sockets = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  await assertGivenUp(`http://127.0.0.1:${Number(port)}`);
  assert.equal(child.exitCode, null);
});

test('a server that accepts and stays silent', async (t) => {
  const closed = deferred();
  let has;
  const server = createSocketServer((socket) => {
    has = afterStall(t, () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${news.length}\r\n\r\n${news}`));
    socket.resume().on('close', closed.resolve);
  });
  const address = await serving(t, server);
  await assertGivenUp(address);
  await closed.promise; // by the client: nothing stays open
  assert.equal(has.come, false);
});

test('a handshake of TLS that does not come about', async (t) => {
  let has;
  const server = createSocketServer((socket) => {
    has = afterStall(t, () => socket.destroy());
    socket.resume();
  });
  await assertGivenUp(await serving(t, server, 'https'));
  assert.equal(has.come, false);
});

test('headers that do not end', async (t) => {
  let has;
  const server = createSocketServer((socket) => {
    socket.resume().write('HTTP/1.1 200 OK\r\nContent-Type: appli');
    has = afterStall(t, () => socket.end(`cation/json\r\n\r\n${news}`));
  });
  await assertGivenUp(await serving(t, server));
  assert.equal(has.come, false);
});

test('a body that stops in the middle', async (t) => {
  const closed = deferred();
  let has;
  const server = createServer((request, response) => {
    response.write(news.slice(0, 20));
    has = afterStall(t, () => response.end(news.slice(20)));
    response.on('close', closed.resolve);
  });
  await assertGivenUp(await serving(t, server));
  await closed.promise;
  assert.equal(has.come, false);
});

test('a body that drips for ever', async (t) => {
  const closed = deferred();
  const server = createServer((_, response) => {
    const timer = setInterval(() => response.write(' '), 5);
    response.on('close', () => {
      clearInterval(timer);
      closed.resolve();
    });
  });
  await assertGivenUp(await serving(t, server));
  await closed.promise; // by the client: the server never ends it
});

test('a body of more than 1 MiB that drips slowly', async (t) => {
  const closed = deferred();
  let written = 0;
  const server = createServer((_, response) => {
    response.write(news);
    const timer = setInterval(() => {
      written += 4_096;
      response.write(' '.repeat(4_096));
      if (written > 1_100_000) response.end();
    }, 20); // the whole would take more than five seconds
    response.on('close', () => {
      clearInterval(timer);
      closed.resolve();
    });
  });
  await assertGivenUp(await serving(t, server));
  await closed.promise;
  assert.ok(written < 1_048_576, `${written} bytes`);
});

test('a body of more than 1 MiB that does not end', async (t) => {
  const closed = deferred();
  let has;
  const server = createServer((_, response) => {
    response.write(news + ' '.repeat(1_048_577 - news.length));
    has = afterStall(t, () => response.end());
    response.on('close', closed.resolve);
  });
  await assertGivenUp(await serving(t, server));
  await closed.promise;
  assert.equal(has.come, false);
});

test('a body of exactly 1 MiB is read', async (t) => {
  const server = createServer((_, response) => response.end(news + ' '.repeat(1_048_576 - news.length)));
  assert.deepEqual(await ids(gateAt(await serving(t, server))), ['news']);
});

test('a small body that becomes 64 MiB', async (t) => {
  const packed = gzipSync(news + ' '.repeat(64 * 1_048_576));
  assert.ok(packed.length < 100_000);
  const server = createServer((_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(packed));
  await assertGivenUp(await serving(t, server));
});

test('an encoding that was not asked for is a fault where the platform asks for none', async (t) => {
  const asked = [];
  const faults = [];
  const encodings = ['gzip', 'br', 'identity', 'IDENTITY'];
  const server = createServer((request, response) => {
    asked.push(request.headers['accept-encoding']);
    response.writeHead(200, { 'Content-Encoding': encodings[asked.length - 1] });
    response.end(asked.length === 1 ? gzipSync(news) : news);
  });
  const observer = ({ fault }) => faults.push(fault);
  const gate = new VersionGate({ server: await serving(t, server), app, storage: null, observer });
  const shown = [];
  for (const _ of encodings) shown.push(await ids(gate));
  assert.deepEqual(shown, [[], [], ['news'], ['news']]);
  assert.deepEqual(asked, ['identity', 'identity', 'identity', 'identity']);
  assert.match(faults[0], /Content-Encoding gzip, which was not asked for/);
});

test('a server that is not there', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  await assertGivenUp(`http://127.0.0.1:${port}`);
});

test('certificates: one that is trusted, one that has expired, one that nobody knows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'versiongate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name) => join(folder, name);
  const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' });
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1\n');
  const servers = {};
  for (const [name, days] of [['trusted', '2'], ['expired', '-1'], ['unknown', '2']]) {
    const [key, request, certificate] = [file(`${name}.key`), file(`${name}.csr`), file(`${name}.pem`)];
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
    const signing = ['-signkey', key, '-days', days, '-extfile', file('names')];
    openssl('x509', '-req', '-in', request, ...signing, '-out', certificate);
    const options = { key: readFileSync(key), cert: readFileSync(certificate) };
    servers[name] = await serving(t, createSecureServer(options, (_, response) => response.end(news)), 'https');
  }
  writeFileSync(file('authorities'), readFileSync(file('trusted.pem')) + readFileSync(file('expired.pem')));
  const code = `
    import { VersionGate } from ${JSON.stringify(new URL('../versiongate.js', import.meta.url).href)};
    for (const server of ${JSON.stringify(Object.values(servers))}) {
      const gate = new VersionGate({ server, app: { bundle: 'com.example.doto' }, storage: null });
      const ids = (await gate.check()).map(({ id }) => id);
      const why = await fetch(server).then(() => 'fine', (error) => error.cause.code);
      console.log(JSON.stringify([ids, why]));
    }`;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file('authorities') };
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { env, stdio });
  let output = '';
  for await (const part of child.stdout) output += part;
  assert.deepEqual(output.trim().split('\n').map((line) => JSON.parse(line)), [
    [['news'], 'fine'],
    [[], 'CERT_HAS_EXPIRED'],
    [[], 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ]);
});

test('checks of many installs at the same time all end', async (t) => {
  let count = 0;
  const server = createServer((_, response) => {
    count += 1;
    if (count % 3 === 0) response.end(news);
    else if (count % 3 === 1) response.socket.resetAndDestroy();
    else response.writeHead(503).end();
  });
  const address = await serving(t, server);
  const answers = await Promise.all(Array.from({ length: 60 }, () => ids(gateAt(address))));
  assert.equal(count, 60);
  assert.equal(answers.filter((one) => one.length === 1).length, 20);
});

function deferred() {
  let resolve;
  const promise = new Promise((one) => {
    resolve = one;
  });
  return { promise, resolve };
}
