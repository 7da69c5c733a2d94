/** As the proxy in front of the service would tell it: an address for documentation. */
const ADDRESS = '203.0.113.7';

/** A person with a browser: sends forms as the pages do, and keeps the cookie. */
export class Person {
  readonly #url: string;
  readonly #origin: string;
  #cookie = '';

  /** `url`: where the service listens; `origin`: how its pages call it. */
  constructor(url: string, origin: string) {
    this.#url = url;
    this.#origin = origin;
  }

  /** The secret of the session, for a browser. */
  get secret(): string {
    return this.#cookie.split('=')[1] ?? '';
  }

  async read(path: string): Promise<string> {
    const answer = await fetch(this.#url + path, { headers: { cookie: this.#cookie } });
    if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}`);
    return answer.text();
  }

  /** Returns where the answer leads, or else its page. */
  async send(path: string, fields: Readonly<Record<string, string>> = {}): Promise<string> {
    const answer = await fetch(this.#url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie: this.#cookie,
        origin: this.#origin,
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': ADDRESS,
      },
      body: new URLSearchParams(fields),
    });
    const text = await answer.text();
    if (answer.status >= 400) throw new Error(`POST ${path} answered ${answer.status}: ${text}`);
    const session = answer.headers.getSetCookie().find((each) => !/^[^=]*-done=/.test(each));
    this.#cookie = session?.split(';')[0] ?? this.#cookie;
    return answer.headers.get('location') ?? text;
  }
}

/** For `until`. */
const WITHIN_MS = 20_000;

/** Ask again and again, until the answer is there. */
export async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + WITHIN_MS; Date.now() < end; ) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${what}: not within ${WITHIN_MS / 1000} seconds`);
}
