// The program for real servers, with a listener that answers and fails as scenarios say.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { bodyOf } from '../support/network.js';
import { lineOf, readScenarios } from '../support/scenarios.js';

const folder = fileURLToPath(new URL('../../scenarios/', import.meta.url));
const program = fileURLToPath(new URL('../bin/scenario.js', import.meta.url));

class Listener {
  answer = { fails: 'unreachable' };
  requests = [];
  #server = createServer((request, response) => this.#receive(request, response));

  async listen() {
    this.#server.on('connection', (socket) => {
      if (this.answer.fails === 'unreachable') socket.resetAndDestroy();
    });
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #receive(request, response) {
    request.setEncoding('utf8');
    let body = '';
    for await (const part of request) body += part;
    this.requests.push(body === '' ? null : JSON.parse(body));
    response.setHeader('Connection', 'close');
    const { messages, status, fails, date } = this.answer;
    const text = JSON.stringify({ messages: messages ?? [] });
    response.sendDate = false;
    if (date !== undefined) response.setHeader('Date', date);
    if (request.url === '/elsewhere') {
      response.end(text);
    } else if (fails === 'redirect') {
      response.writeHead(302, { Location: '/elsewhere' }).end();
    } else if (fails === 'reset') {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('{"mess', () => response.socket.resetAndDestroy());
    } else if (fails === 'cut') {
      response.writeHead(200, { 'Content-Length': text.length + 1 });
      response.write(text, () => response.socket.end());
    } else if (fails === 'encoded') {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(text));
    } else if (status !== undefined) {
      response.writeHead(status, this.answer.headers).end(bodyOf(this.answer));
    } else if (fails === undefined) {
      response.end(text);
    }
  }
}

/** Runs the program over a file, and returns its results and its status. */
async function run(file, change = (requests) => requests) {
  const listener = new Listener();
  const address = await listener.listen();
  const child = spawn(process.execPath, [program, address, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const results = [];
  let done = null;
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line);
    if ('result' in said) results.push(said);
    if ('done' in said) done = said.done;
    if ('scenario' in said) listener.answer = { fails: 'unreachable' };
    if ('answer' in said) listener.answer = said.answer;
    const reply = 'checked' in said ? { requests: change(listener.requests.splice(0)) } : {};
    if (!('result' in said) && !('done' in said)) child.stdin.write(lineOf(reply));
  }
  const [status] = await exit;
  listener.close();
  return { results, done, status };
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  test(`the program runs ${file} through sockets`, async () => {
    const { results, done, status } = await run(folder + file);
    assert.deepEqual(results.filter(({ ok }) => !ok), []);
    assert.equal(results.length, readScenarios(folder + file).length);
    assert.deepEqual({ done, status }, { done: results.length, status: 0 });
  });
}

test('the program compares what has come with what was to come', async () => {
  const { results, status } = await run(`${folder}asking.json`, (requests) => [...requests, ...requests]);
  assert.equal(status, 1);
  const first = results[0];
  assert.deepEqual([first.ok, first.step, first.why], [false, 3, 'requests: 2 instead of 1']);
});

test('the program wants two arguments', async () => {
  const child = spawn(process.execPath, [program, 'http://127.0.0.1:1'], { stdio: 'ignore' });
  assert.deepEqual(await once(child, 'exit'), [64, null]);
});
