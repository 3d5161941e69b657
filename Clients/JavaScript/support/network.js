// A network that is only played: it answers as the steps of a scenario say.

export class FakeNetwork {
  url = 'https://gate.example.com';
  #answer = { fails: 'unreachable' };
  #requests = [];
  transport = (request) => this.#ask(request);

  begin() {
    this.#answer = { fails: 'unreachable' };
    this.#requests = [];
  }

  start() {}

  answer(answer) {
    this.#answer = answer;
  }

  requests() {
    const bodies = this.#requests.splice(0);
    return { asked: bodies.length, bodies };
  }

  async #ask({ url, method, headers, body }) {
    if (url !== `${this.url}/v1/check` || method !== 'POST' || headers['Content-Type'] !== 'application/json') {
      throw new Error(`${method} ${url} is not what was to be asked.`);
    }
    this.#requests.push(JSON.parse(body));
    const { messages, status, fails, date } = this.#answer;
    if (messages !== undefined) return { status: 200, body: JSON.stringify({ messages }), date };
    if (status !== undefined) {
      const body = new TextDecoder('utf-8', { fatal: true }).decode(bodyOf(this.#answer));
      const joined = Object.entries(this.#answer.headers ?? {}).map(([name, value]) => [name, [value].flat().join(', ')]);
      return { status, body, date, headers: Object.fromEntries(joined) };
    }
    if (fails === 'redirect') return { status: 302, body: JSON.stringify({ messages: [] }) };
    if (fails !== 'stall') throw new Error(`The server is ${fails}.`);
    return new Promise(() => {});
  }
}

/** The bytes of an answer that a scenario gives as text. */
export function bodyOf({ body, repeat = 1, bytes = 0, encoding = 'utf8' }) {
  const text = Buffer.from(body.repeat(repeat), encoding);
  return Buffer.concat([text, Buffer.alloc(Math.max(0, bytes - text.length), ' ')]);
}
