/** Where the commands of a page run: a service with a tenant that has paid, a folder, and a shell. */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runAdmin } from '../run/admin/support.ts';
import { SECRET_KEY, type TestService, type TestTenant } from '../support/service.ts';
import { type Block, ROOT } from './blocks.ts';
import { expectOutput, idsIn, masked, maskedValue } from './masks.ts';
import { openShell, type Shell } from './shell.ts';
import { type Exchange, standIns } from './stand-ins.ts';

/** What stands on a page for something of this run. */
interface Stand {
  readonly shown: string;
  readonly real: () => Promise<string>;
}

export class Scene {
  readonly app: TestService;
  readonly folder: string;
  /** The reader of the page, who may also sign up by its commands. */
  #tenant: TestTenant | undefined;
  readonly exchanges: Exchange[] = [];
  readonly #shell: Shell;
  #stands: Stand[] = [];
  /** What commands have printed since the last block that is no output. */
  #output = '';

  private constructor(app: TestService, folder: string, shell: Shell) {
    this.app = app;
    this.folder = folder;
    this.#shell = shell;
  }

  /** A tenant of its own has paid, unless the commands count those of the whole service. */
  static async open(app: TestService, { hasTenant }: { readonly hasTenant: boolean }): Promise<Scene> {
    // Inside the repository, so that programs of pages find its packages.
    const cache = join(ROOT, 'node_modules/.cache');
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, 'page-'));
    const programs = standIns({
      settings: operatorSettings(app),
      answered: (exchange) => void scene.exchanges.push(exchange),
      streaming: () => scene.request('POST', '/v1/keys', { body: { name: 'another' } }),
      own: (variable) => scene.own(variable),
    });
    const shell = await openShell(folder, programs);
    const scene = new Scene(app, folder, shell);
    if (hasTenant) scene.become(await app.paidTenant());
    return scene;
  }

  get tenant(): TestTenant {
    if (!this.#tenant) throw new Error('nothing on this page has made a tenant yet');
    return this.#tenant;
  }

  /** From now on, the reader is this tenant. */
  become(tenant: TestTenant): string {
    this.#tenant = tenant;
    this.set('KEY', tenant.key);
    this.set('RELAY_KEY', tenant.relayKey);
    return tenant.id;
  }

  /** Set a variable of the shell. */
  set(name: string, value: string): void {
    this.#shell.set(name, value);
  }

  /** Run a command of operators, and return what it prints. */
  async operate(...args: string[]): Promise<string> {
    const { code, out, err } = await runAdmin(operatorSettings(this.app), ...args);
    expect({ code, err }, args.join(' ')).toEqual({ code: 0, err: '' });
    return out;
  }

  async close(): Promise<void> {
    await this.#shell.close();
    await rm(this.folder, { recursive: true });
  }

  /** Commands have `real` wherever the page has `shown`: the same one, or another one each time. */
  stand(shown: string, real: string | (() => Promise<string>)): void {
    const stand = { shown, real: typeof real === 'string' ? async () => real : real };
    this.#stands = [stand, ...this.#stands.filter((each) => each.shown !== shown)];
  }

  /** A shell, `node` for JavaScript, or commands with the output that they have. */
  async run({ language, text, notes, where }: Block): Promise<void> {
    if (language === 'console') return await this.#converse(text, where);
    const commands = await this.#stage(text);
    if (language === 'js') {
      await writeFile(join(this.folder, 'block.mjs'), commands);
      this.#output = await this.#shell.run('node block.mjs');
    } else {
      this.#output = await this.#shell.run(commands, { until: notes.until });
    }
  }

  expectOutput({ text, where }: Block): void {
    expectOutput(text, this.#output, where);
  }

  /** Lines after `$` are commands; the others are what the one before them prints. */
  async #converse(text: string, where: string): Promise<void> {
    for (const part of text.split(/^\$ /m).slice(1)) {
      const [command = '', ...shown] = part.split('\n');
      const output = await this.#shell.run(await this.#stage(command));
      if (shown.join('').trim() === '') continue;
      expectOutput(shown.join('\n'), output, `${where} $ ${command}`);
      this.#learn(shown.join('\n'), output);
    }
  }

  /** A block of JSON, and the newest answer to the request that its note names, such as `GET /v1/billing 200`. */
  expectAnswer({ text, notes, where }: Block): void {
    const told = masked(notes.json!);
    const real = this.exchanges.findLast(
      ({ method, path, status }) => masked(`${method} ${path} ${status}`) === told,
    );
    if (!real) expect.fail(`${where}: the commands above got no answer to ${notes.json}`);
    const varying = notes.varies?.split(', ');
    expect(maskedValue(JSON.parse(real.text), varying), where).toEqual(
      maskedValue(JSON.parse(text), varying),
    );
    this.#learn(text, real.text);
  }

  /** Members of a row, from the file with a line for each. */
  expectLine({ text, notes, where }: Block): void {
    const shown = JSON.parse(text);
    const lines = readFileSync(join(this.folder, notes['line of']!), 'utf8').trim().split('\n');
    const real = lines.map((line) => JSON.parse(line)).find(({ table }) => table === shown.table);
    expect(Object.keys(real ?? {}), where).toEqual(Object.keys(shown));
  }

  /** A line of the service's log, for the same route and status. */
  expectLogged({ text, notes, where }: Block, lines: readonly string[]): void {
    const shown = JSON.parse(text);
    const real = lines
      .map((line) => JSON.parse(line))
      .find(
        ({ msg, route, status }) => msg === shown.msg && route === shown.route && status === shown.status,
      );
    const varying = notes.varies?.split(', ');
    expect(maskedValue(real, varying), where).toEqual(maskedValue(shown, varying));
    expect(Object.keys(real)).toEqual(Object.keys(shown));
  }

  /** A part of the answer to `GET /v1/billing`, `POST /v1/usage {...}` or `GET /v1/statements as text/csv`. */
  async expectPart({ text, notes, where }: Block): Promise<void> {
    const [, method = '', path = '', body, accept] =
      /^(\w+) (\S+)(?: (\{.*\}))?(?: as (.*))?$/.exec(withDates(notes.answer!)) ?? [];
    const answer = await this.request(method, path, { body: body && JSON.parse(body), accept });
    const inOneLine = (lines: string) => masked(lines.replaceAll(/\r?\n */g, ''));
    expect(inOneLine(answer), where).toContain(inOneLine(text));
  }

  /** The answer to a request of the reader. */
  async request(
    method: string,
    path: string,
    { body, accept }: { readonly body?: unknown; readonly accept?: string | undefined } = {},
  ): Promise<string> {
    const key = path === '/v1/usage' ? this.own('RELAY_KEY') : this.own('KEY');
    // The address that the pages show.
    const headers = { 'x-forwarded-for': '203.0.113.7', ...(accept && { accept }) };
    const answer = await this.app.request(method, path, { key, headers, ...(body ? { body } : {}) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.text;
  }

  /** What a reader has in a variable: the newest answer with one has it, or else it is the tenant's. */
  own(variable: string): string {
    const objects = this.exchanges.filter(({ text }) => text.startsWith('{'));
    const answers: Record<string, string>[] = objects.map(({ text }) => JSON.parse(text)).reverse();
    const newest = (find: (answer: Record<string, string>) => string | undefined) =>
      answers.map(find).find((value) => value !== undefined);
    switch (variable) {
      case 'TENANT':
        return newest(({ tenant }) => (typeof tenant === 'string' ? tenant : undefined)) ?? this.tenant.id;
      case 'CREDENTIAL':
        return newest(({ credential }) => credential) ?? '';
      case 'KEY':
        return newest((answer) => ('tenant' in answer ? answer.api_key : undefined)) ?? this.tenant.key;
      default:
        return newest((answer) => ('key' in answer ? answer.api_key : undefined)) ?? this.tenant.relayKey;
    }
  }

  /** Ids that a page shows stand for those that came in their places. */
  #learn(shown: string, real: string): void {
    const [ids, others] = [idsIn(shown), idsIn(real)];
    if (ids.length !== others.length) return;
    for (const [index, id] of ids.entries()) this.stand(id, others[index]!);
  }

  /** Commands as they are run here. */
  async #stage(text: string): Promise<string> {
    let staged = text
      .replaceAll(/^(\w+)=\S+ +# yours$/gm, '$1=$(own $1)')
      .replaceAll(/\bt_(?:\.\.\.|[0-9a-f]{16}\b)/g, (id) => this.#tenantFor(id));
    for (const { shown, real } of this.#stands) {
      const parts = staged.split(shown);
      for (let index = 1; index < parts.length; index += 1) parts[index] = (await real()) + parts[index];
      staged = parts.join('');
    }
    return withAddresses(withDates(staged), this.app);
  }

  /** Unless it is known who it is, it is the reader. */
  #tenantFor(id: string): string {
    return this.#stands.some(({ shown }) => shown === id) ? id : this.own('TENANT');
  }
}

function operatorSettings(app: TestService): Record<string, string> {
  return {
    DATABASE_URL: app.config.databaseUrl,
    PUBLIC_URL: app.config.publicUrl,
    SECRETS_KEY: Buffer.from(app.config.secretsKey!).toString('base64'),
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: app.sandbox.url,
  };
}

/** The addresses of `npm start`, and of a service elsewhere. */
function withAddresses(text: string, { url, service, sandbox }: TestService): string {
  return text
    .replaceAll(/https?:\/\/(?:127\.0\.0\.1:8080|boxoffice\.example\.org)/g, url)
    .replaceAll('https://join.example', url)
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${service.grpcPort}`)
    .replaceAll('http://127.0.0.1:8082', sandbox.url)
    .replaceAll('127.0.0.1:8083', `127.0.0.1:${service.opsPort}`);
}

/**
 * On the pages it is 23 November 2026. Months and their first days stay whole, other days are as long ago. October is two months
 * ago, because a month is not told before its last charges are committed.
 */
export function withDates(text: string, today = new Date()): string {
  return text.replaceAll(/\b2026-(1[0-2])(-\d\d)?(?=T|\b)/g, (_, month: string, day = '') => {
    const date = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()));
    if (day !== '' && day !== '-01') date.setUTCDate(date.getUTCDate() + Number(day.slice(1)) - 23);
    else date.setUTCMonth(date.getUTCMonth() + (month === '10' ? -2 : Number(month) - 11), 1);
    return date.toISOString().slice(0, 7 + day.length);
  });
}
