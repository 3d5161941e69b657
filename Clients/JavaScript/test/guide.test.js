// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

// The code of the README for a browser runs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VersionGate } from 'versiongate';

const repository = new URL('../../../', import.meta.url);

/** The blocks of a page in JavaScript. */
function blocks(page) {
  const text = readFileSync(new URL(page, repository), 'utf8');
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
}

/** A gate whose server answers what `answer` has when it is asked. */
function gateThatAnswers(answer) {
  return class extends VersionGate {
    constructor(options) {
      const transport = async () => ({ status: 200, body: JSON.stringify({ messages: answer.messages }) });
      super({ ...options, storage: null, transport });
    }
  };
}

/** Runs code as the body of an asynchronous function, and gives what it returns. */
function run(code, names) {
  const AsyncFunction = (async () => {}).constructor;
  return new AsyncFunction(...Object.keys(names), code)(...Object.values(names));
}

class Element extends EventTarget {
  open = false;
  children = [];

  replaceChildren(...children) {
    this.children = children;
  }

  showModal() {
    this.open = true;
  }

  close() {
    const wasOpen = this.open;
    this.open = false;
    if (wasOpen) this.dispatchEvent(new Event('close'));
  }
}

test('messages and a lockout in a browser', async () => {
  const [merge, page] = blocks('Clients/JavaScript/README.md').slice(1, 3);
  const messages = [
    { id: 'news', title: 'News', text: 'X', link: 'https://example.com/' },
    { id: 'survey', title: 'Survey', text: 'X', skip: true },
    { id: 'blocked', title: 'Blocked', text: 'X', lockout: true },
  ];
  const answer = { messages };
  const opened = [];
  const document = Object.assign(new EventTarget(), {
    visibilityState: 'visible',
    createElement: () => new Element(),
    body: { appendChild: (element) => element },
  });
  const location = { origin: 'https://doto.example.com', assign: (link) => opened.push(link) };
  const code = `${merge.replace('export', '')}\n${page.replace(/^check\(\);$/m, 'await check();')}\nreturn { dialog, check };`;
  const { dialog, check } = await run(code, { VersionGate: gateThatAnswers(answer), document, location });
  const seen = () => (dialog.open ? dialog.children.map(({ textContent }) => textContent) : []);
  const press = (name) => dialog.children.find(({ textContent }) => textContent === name).onclick();

  assert.deepEqual(seen(), ['News', 'X', 'Open', 'Close']);
  dialog.close();
  assert.deepEqual(seen(), ['News', 'X', 'Open', 'Close']);
  press('Open');
  assert.deepEqual(opened, ['https://example.com/']);
  assert.deepEqual(seen(), ['Survey', 'X', 'Do not show again', 'Close']);
  press('Do not show again');
  assert.deepEqual(seen(), ['Blocked', 'X', 'Try again']);
  dialog.close();
  assert.deepEqual(seen(), ['Blocked', 'X', 'Try again']);
  answer.messages = messages.slice(1);
  await press('Try again');
  assert.deepEqual(seen(), ['Blocked', 'X', 'Try again']);
  answer.messages = [];
  await check();
  assert.deepEqual(seen(), ['Blocked', 'X', 'Try again']);
  await press('Try again');
  assert.deepEqual(seen(), []);
});
