/** Members, sessions and forms of the console, for tests. */
import { Writable } from 'node:stream';
import pino, { type Logger } from 'pino';
import { vi } from 'vitest';
import { insertMember, markJoined } from '../../src/access/members/members.sql.ts';
import type { MemberRole } from '../../src/access/rights/abilities.ts';
import { newSecret, type Proof } from '../../src/access/sessions/session.ts';
import { insertSession } from '../../src/access/sessions/sessions.sql.ts';
import type { Pool } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import { newId } from '../../src/base/lib/ids.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { type Answer, ask, type TestService } from './service.ts';

/** The name of the cookie over plain HTTP. */
export const COOKIE = 'boxoffice';

export interface TestMember {
  readonly id: string;
  readonly email: string;
  /** The cookie of the session. */
  readonly secret: string;
  readonly cookie: string;
}

/** A member of the tenant who has joined, and has just logged in by mail, or `minutesAgo`. By a signup, nothing is proved. */
export async function makeMember(
  db: Pool,
  tenant: TenantId,
  {
    role = 'owner',
    email = `${newId('x')}@example.com`,
    minutesAgo = 0,
    proof = 'mail',
  }: { role?: MemberRole; email?: string; minutesAgo?: number; proof?: Proof } = {},
): Promise<TestMember> {
  const member = await insertMember(db, tenant, { email, role });
  if (proof !== 'signup')
    await inTransaction(db, (tx) => markJoined(tx, tenant, member!.id, { mustReview: false }));
  const { plaintext: secret, hash } = newSecret();
  const createdAt = new Date(Date.now() - minutesAgo * 60_000);
  await insertSession(db, { hash, tenant, proof, member: member!.id, createdAt });
  return { id: member!.id, email, secret, cookie: `${COOKIE}=${secret}` };
}

export interface MailLog {
  readonly log: Logger;
  /** The texts of the mails to an address so far, the oldest first. */
  textsTo(email: string): string[];
  /** Wait until so many mails to an address were written in all. Returns their texts. */
  waitFor(email: string, count: number): Promise<string[]>;
  /** The path of the link that the next mail to an address has. Each mail is returned once. */
  linkTo(email: string): Promise<string>;
}

/** Without a mail server and a mailbox, mails of the console are written to the log. */
export function makeMailLog(): MailLog {
  const lines: { to?: string; text?: string }[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const textsTo = (email: string) => lines.filter(({ to }) => to === email).map(({ text }) => text ?? '');
  const waitFor = (email: string, count: number) =>
    vi.waitFor(
      () => {
        const texts = textsTo(email);
        if (texts.length < count) throw new Error(`${texts.length} of ${count} mails were sent to ${email}`);
        return texts;
      },
      { timeout: 60_000, interval: 10 },
    );
  const read = new Map<string, number>();
  const mails: MailLog = {
    log: pino({ level: 'info' }, stream),
    textsTo,
    waitFor,
    linkTo: async (email) => {
      const count = (read.get(email) ?? 0) + 1;
      read.set(email, count);
      const text = (await waitFor(email, count))[count - 1] ?? '';
      const [link] = /\/console\/login\/[\w-]{43}/.exec(text) ?? [];
      return link ?? mails.linkTo(email);
    },
  };
  return mails;
}

/** Open the link that the next mail to an address has, and say yes to the tenant. Returns the answer. */
export async function joinByLink(
  app: TestService,
  link: string,
  tenant: string,
  cookie = '',
): Promise<Answer> {
  return sendForm(app, link, { tenant, answer: 'join' }, { cookie });
}

/** Ask for a page as a browser does, with a session. */
export function getPage(app: TestService, path: string, cookie = ''): Promise<Answer> {
  return ask(`${app.url}${path}`, 'GET', { headers: { cookie } });
}

/** Send a form as a browser does. */
export function sendForm(
  app: TestService,
  path: string,
  fields: Readonly<Record<string, string>>,
  { cookie = '', headers = {} }: { cookie?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return ask(`${app.url}${path}`, 'POST', {
    raw: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(app.config.publicUrl).origin,
      'sec-fetch-site': 'same-origin',
      cookie,
      ...headers,
    },
  });
}

/** The session that an answer sets, as a `Cookie` header. */
export function cookieOf({ headers }: Answer): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Exchange an API key for a session. Returns it as a `Cookie` header. */
export async function logInByKey(app: TestService, key: string): Promise<string> {
  const { json } = await app.request('POST', '/console/session', { key });
  return cookieOf(await sendForm(app, new URL(json.url).pathname, {}));
}
