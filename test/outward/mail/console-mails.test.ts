/** Links to log in and invitations, by a mail server: rows that one worker sends, whose secrets do not stay. */
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newId } from '../../../src/base/lib/ids.ts';
import { openLink } from '../../../src/outward/mail/console-mail-rows.ts';
import { expireMails } from '../../../src/outward/mail/mails.sql.ts';
import { smtpConfig } from '../../support/bare-config.ts';
import { getPage, makeMember, sendForm } from '../../support/console.ts';
import { databaseText, formsOf } from '../../support/database-text.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { useSmtp } from './smtp.ts';

const smtp = useSmtp();
const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
const mail = {
  ...smtpConfig(0),
  get server() {
    return smtpConfig(smtp.port).server;
  },
};
const app = useService({ payments: false, log, mail });
let tenant: TestTenant;
const db = () => app.service.deps.db;

beforeAll(async () => {
  tenant = await app.signUp();
});
beforeEach(() => {
  lines.length = 0;
});

let clients = 0;
/** Ask for a link as a client that asked for nothing so far. */
async function ask(email: string): Promise<void> {
  clients += 1;
  const headers = { 'x-forwarded-for': `203.0.113.${clients}` };
  expect((await sendForm(app, '/console/login', { email }, { headers })).status).toBe(200);
}

async function member(): Promise<string> {
  const email = `${newId('x')}@example.com`;
  await makeMember(db(), idOf(tenant), { email });
  return email;
}

async function rowTo(email: string) {
  const { rows } = await db().query(
    `select *, extract(epoch from next_at - now())::float8 as "waitSeconds" from mails where address = $1`,
    [email],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

const until = (work: () => Promise<unknown>) => vi.waitFor(work, { timeout: 60_000, interval: 10 });
const untilState = (email: string, state: string) =>
  until(async () => expect(await rowTo(email)).toMatchObject({ state }));

/** Once the first attempt has failed. */
const untilPutOff = (email: string) =>
  until(async () =>
    expect(await rowTo(email)).toMatchObject({ attempts: 1, error: 'EENVELOPE RCPT TO 450' }),
  );

const sourcesTo = (email: string) =>
  smtp.received.filter(({ to }) => to[0] === email).map(({ source }) => source.replace(/=\r\n/g, ''));
const linkIn = (source = '') => /\/console\/login\/([\w-]{43})/.exec(source)?.[1];

describe('a link to log in', () => {
  test('arrives, works, and its sealed secret is erased', async () => {
    const email = await member();
    await ask(email);
    await untilState(email, 'sent');
    const secret = linkIn(sourcesTo(email)[0])!;
    expect((await getPage(app, `/console/login/${secret}`)).text).toContain(email);
    expect(await rowTo(email)).toMatchObject({
      tenant_id: null,
      kind: 'console',
      event_type: 'login_link',
      sealed: null,
      error: null,
    });
  });

  test('goes out at once, without waiting for the next look at what is due', async () => {
    const times: number[] = [];
    while (times.length < 11) {
      const email = await member();
      const from = performance.now();
      await ask(email);
      await until(async () => expect(sourcesTo(email)).toHaveLength(1));
      times.push(performance.now() - from);
    }
    // There is a look each second, and a mail that just missed one would wait for the next.
    expect(times.sort((one, other) => one - other)[5]).toBeLessThan(800);
  });

  test('is in the database sealed, while it waits and afterwards', async () => {
    smtp.behavior = 'busy';
    const email = await member();
    await ask(email);
    await untilPutOff(email);
    const { id, sealed } = await rowTo(email);
    const secret = openLink(app.service.deps.box, { id, sealed })!;
    expect(secret).toMatch(/^[\w-]{43}$/);
    const waiting = await databaseText(db());
    expect(waiting).toContain(sealed.toString('hex'));
    for (const form of formsOf(secret)) expect(waiting).not.toContain(form);

    smtp.behavior = 'take';
    await db().query('update mails set next_at = now() where id = $1', [id]);
    await untilState(email, 'sent');
    const sent = await databaseText(db());
    for (const form of [...formsOf(secret), sealed.toString('hex')]) expect(sent).not.toContain(form);
    expect(linkIn(sourcesTo(email)[0])).toBe(secret);
    expect(lines.join('\n')).not.toContain(secret);
    expect(lines.join('\n')).not.toContain(email);
  });

  test('opens no mail but its own', async () => {
    smtp.behavior = 'busy';
    const email = await member();
    await ask(email);
    const { sealed } = await rowTo(email);
    expect(() => openLink(app.service.deps.box, { id: newId('mail'), sealed })).toThrow();
    await db().query('delete from mails where address = $1', [email]);
  });

  test('is tried again within seconds while the server is busy', async () => {
    smtp.behavior = 'busy';
    const email = await member();
    await ask(email);
    await untilPutOff(email);
    expect((await rowTo(email)).waitSeconds).toBeLessThanOrEqual(5);
    smtp.behavior = 'take';
    await untilState(email, 'sent');
    expect(sourcesTo(email)).toHaveLength(1);
  });

  test('is not sent once it has expired: its secret is erased, and the log says so without the address', async () => {
    smtp.behavior = 'busy';
    const email = await member();
    await ask(email);
    await untilPutOff(email);
    await db().query(
      `update mails set expires_at = expires_at - interval '15 minutes', next_at = now() where address = $1`,
      [email],
    );
    smtp.behavior = 'take';
    await untilState(email, 'expired');
    expect(await rowTo(email)).toMatchObject({ sealed: null, attempts: 1 });
    expect(sourcesTo(email)).toEqual([]);
    expect(lines.join('\n')).toContain('a mail was not sent before its link expired');
    expect(lines.join('\n')).not.toContain(email);
    expect(await expireMails(db(), 10)).toEqual([]);
  });

  test('that the server refuses for good fails at once, without its secret', async () => {
    smtp.behavior = 'refuse recipient';
    const email = await member();
    await ask(email);
    await untilState(email, 'failed');
    expect(await rowTo(email)).toMatchObject({ sealed: null, error: 'EENVELOPE RCPT TO 550' });
    expect(lines.join('\n')).not.toMatch(/example\.com|console\/login/);
  });

  test('goes before alerts that wait', async () => {
    smtp.behavior = 'busy';
    const email = await member();
    await db().query(
      `insert into mails (id, tenant_id, address, kind, event_seq, event_type, event_at, subject, next_at)
       select 'mail_' || lpad(to_hex(at), 32, '0'), $1, 'many@example.com', 'alert', at, 'balance_low', now(), '{}',
              now() + interval '1 hour' from generate_series(1, 200) at`,
      [idOf(tenant)],
    );
    await ask(email);
    await untilPutOff(email);
    smtp.behavior = 'take';
    await db().query(`update mails set next_at = now() where state = 'waiting'`);
    await untilState(email, 'sent');
    expect(smtp.received.findIndex(({ to }) => to[0] === email)).toBeLessThan(3);
    await db().query(`delete from mails where address = 'many@example.com'`);
  });
});

test('many links are sent once each though several processes send', async () => {
  await app.another();
  await app.another();
  const emails = await Promise.all(Array.from({ length: 20 }, member));
  await Promise.all(emails.map(ask));
  for (const email of emails) await untilState(email, 'sent');
  expect(emails.map((email) => sourcesTo(email).length)).toEqual(emails.map(() => 1));
  expect(new Set(emails.map((email) => linkIn(sourcesTo(email)[0]))).size).toBe(20);
});

describe('an invitation', () => {
  test('arrives with the tenant, the role and no secret', async () => {
    const owner = await makeMember(db(), idOf(tenant));
    const email = `${newId('x')}@example.com`;
    const fields = { email, role: 'finance' };
    expect((await sendForm(app, '/console/members', fields, { cookie: owner.cookie })).status).toBe(303);
    await untilState(email, 'sent');
    expect(await rowTo(email)).toMatchObject({ tenant_id: idOf(tenant), sealed: null, expires_at: null });
    const [source = ''] = sourcesTo(email);
    expect(source).toContain(tenant.id);
    expect(source).toContain('Role: finance');
    expect(linkIn(source)).toBeUndefined();
  });

  test('that fails leaves no mail', async () => {
    const owner = await makeMember(db(), idOf(tenant));
    const twice = { email: owner.email, role: 'finance' };
    expect((await sendForm(app, '/console/members', twice, { cookie: owner.cookie })).status).toBe(400);
    const { rows } = await db().query('select from mails where address = $1', [owner.email]);
    expect(rows).toEqual([]);
  });
});
