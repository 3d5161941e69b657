// What the `fetch` of each Node does by itself: redirects, encodings, and how a question ends that is given up.
// Tests/Clients/bad_networks.py has all else that can go wrong.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { VersionGate } from '../versiongate.js';

const stall = 600_000; // milliseconds after which a silent server of these tests would answer
const bound = 300_000; // far more than a check takes, and far less than the servers do
const news = JSON.stringify({ messages: [{ id: 'news', title: 'News', text: 'Lists.' }] });

const app = { bundle: 'com.example.doto', version: '1.0', language: null, region: null };
const gateAt = (server) => new VersionGate({ server, app, storage: null });
const ids = async (gate) => (await gate.check({ force: true })).map(({ id }) => id);

/** The address of a server that listens until the test ends. */
async function serving(t, server) {
  const sockets = new Set();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${server.address().port}`;
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

function deferred() {
  let resolve;
  const promise = new Promise((one) => {
    resolve = one;
  });
  return { promise, resolve };
}
