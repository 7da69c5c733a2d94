import { pino } from 'pino';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { ALERT_TYPES, ALERTS_A_DAY_MAX, RECEIPT_TYPES } from '../../../src/outward/mail/mail.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { makeMember } from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { useSmtp } from './smtp.ts';

/** Those that go to the addresses of the settings. */
const SETTINGS_TYPES = [...ALERT_TYPES, ...RECEIPT_TYPES];

const smtp = useSmtp();
const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
const from = { name: 'Boxoffice', address: 'billing@example.com' };
const server = {
  host: '127.0.0.1',
  get port() {
    return smtp.port;
  },
  secure: false,
  auth: undefined,
};
const app = useService({ payments: false, log, mail: { server, from }, makesUpEvents: true });
let tenant: TestTenant;

beforeEach(async () => {
  lines.length = 0;
  tenant = await app.signUp();
  await setStatus(app, tenant, 'active');
});

/** Append events to the tenant's log, as an operation does. */
async function tell(types: readonly string[], subject: object = {}, to = tenant): Promise<void> {
  const { db, events } = app.service.deps;
  await appendEvents(
    db,
    idOf(to),
    types.map((type) => ({ type, roomUid: null, subject })),
  );
  events.wake(idOf(to));
}

async function mailsOf(of = tenant) {
  const { rows } = await app.service.deps.db.query(
    `select *, next_at > now() as "isLater" from mails where tenant_id = $1 order by event_seq, address`,
    [idOf(of)],
  );
  return rows;
}

async function until(count: number, state: string) {
  const wanted = async () => (await mailsOf()).filter((mail) => mail.state === state);
  await vi.waitFor(async () => expect(await wanted()).toHaveLength(count), { timeout: 60_000, interval: 20 });
  return wanted();
}

const settle = (work: () => Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 20 });

/** Its time has come. */
const hurry = () => app.service.deps.db.query(`update mails set next_at = now() where state = 'waiting'`);

const put = (body: object) =>
  app.request('PUT', '/v1/mail', {
    key: tenant.key,
    body: { addresses: [], alerts: true, receipts: true, ...body },
  });

const idsOf = () => smtp.received.map(({ source }) => /^Message-ID: (\S+)/im.exec(source)?.[1]);

describe('an event', () => {
  test('of each type is one mail to each address', async () => {
    await put({ addresses: ['ops@example.com'] });
    await tell([...SETTINGS_TYPES, 'room_created', 'key_created']);
    await until(2 * SETTINGS_TYPES.length, 'sent');
    const got = smtp.received.map(({ to }) => to.join());
    expect(got.filter((to) => to === 'ada@example.com')).toHaveLength(SETTINGS_TYPES.length);
    expect(got.filter((to) => to === 'ops@example.com')).toHaveLength(SETTINGS_TYPES.length);
    expect(new Set(idsOf()).size).toBe(2 * SETTINGS_TYPES.length);
    expect(lines.join('\n')).not.toContain('@example.com');
  });

  test('of a kind that is off is no mail', async () => {
    await put({ alerts: false });
    await tell(['balance_low', 'top_up_succeeded']);
    expect(await until(1, 'sent')).toMatchObject([{ kind: 'receipt', event_type: 'top_up_succeeded' }]);
    expect(await mailsOf()).toHaveLength(1);
  });

  test('of several shares of a budget that one charge has spent is one mail, of the highest', async () => {
    const { db, events } = app.service.deps;
    const alert = (budget: string, percent: number, spent: string) => ({
      type: 'budget_alert',
      roomUid: null,
      subject: { budget, percent, spent, limit: '100', periodStartedAt: new Date(0) },
    });
    const charges = [
      alert('a', 50, '90'),
      alert('a', 80, '90'),
      alert('b', 50, '90'),
      alert('a', 100, '101'),
    ];
    await appendEvents(db, idOf(tenant), charges);
    events.wake(idOf(tenant));
    const mails = await until(3, 'sent');
    expect(mails.map(({ subject }) => [subject.budget, subject.percent])).toEqual([
      ['a', 80],
      ['b', 50],
      ['a', 100],
    ]);
  });

  test('of a tenant that never paid is mailed to nobody but its members who have joined', async () => {
    const free = await app.signUp({ email: 'victim@example.com' });
    const { db } = app.service.deps;
    await makeMember(db, idOf(free), { email: 'Proved@example.com' });
    const addresses = ['proved@example.com', 'stranger@example.com'];
    const set = await app.request('PUT', '/v1/mail', {
      key: free.key,
      body: { addresses, alerts: true, receipts: true },
    });
    expect(set.status).toBe(200);
    await tell(['balance_low', 'top_up_succeeded'], {}, free);
    const sent = { address: addresses[0], state: 'sent' };
    await expect.poll(() => mailsOf(free)).toMatchObject([sent, sent]);
  });

  test('of a deleted tenant is no mail', async () => {
    const other = await app.signUp();
    await app.service.deps.db.query(`update tenants set status = 'deleted' where id = $1`, [idOf(other)]);
    await tell(['balance_low'], {}, other);
    await settle(async () => {
      const { rows } = await app.service.deps.db.query(
        `select from event_cursors where listener = 'mail' and tenant_id = $1 and seq > 0`,
        [idOf(other)],
      );
      expect(rows).toHaveLength(1);
    });
    expect(await mailsOf(other)).toEqual([]);
  });

  test('is mailed once though several processes send', async () => {
    await app.another();
    for (let at = 0; at < 10; at += 1)
      await tell(['top_up_succeeded', 'top_up_succeeded', 'top_up_succeeded']);
    await until(30, 'sent');
    expect(new Set(idsOf()).size).toBe(30);
    expect(smtp.received).toHaveLength(30);
  });
});

describe('a mail that was not sent', () => {
  test('is tried again, with the same Message-ID', async () => {
    smtp.behavior = 'busy';
    await tell(['balance_low']);
    await settle(async () =>
      expect(await mailsOf()).toMatchObject([
        { state: 'waiting', attempts: 1, error: 'EENVELOPE RCPT TO 450', isLater: true },
      ]),
    );
    smtp.behavior = 'close after data';
    await hurry();
    await settle(async () =>
      expect(await mailsOf()).toMatchObject([
        { state: 'waiting', attempts: 2, isLater: true, error: expect.stringContaining('CONN') },
      ]),
    );
    smtp.behavior = 'take';
    await hurry();
    await until(1, 'sent');
    expect(smtp.received).toHaveLength(2);
    expect(new Set(idsOf()).size).toBe(1);
  });

  test('for good is not tried again, and the log says so without the address', async () => {
    smtp.behavior = 'refuse recipient';
    await tell(['balance_low']);
    expect(await until(1, 'failed')).toMatchObject([{ attempts: 1, error: 'EENVELOPE RCPT TO 550' }]);
    const said = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'a mail could not be sent');
    expect(said).toMatchObject([{ type: 'balance_low', tenant: tenant.id, why: 'EENVELOPE RCPT TO 550' }]);
    expect(lines.join('\n')).not.toContain('ada@example.com');
  });

  test('for about a day is given up', async () => {
    smtp.behavior = 'busy';
    await tell(['balance_low']);
    await settle(async () =>
      expect(await mailsOf()).toMatchObject([{ attempts: 1, isLater: true, error: expect.anything() }]),
    );
    const { rows } = await app.service.deps.db.query(
      `update mails set attempts = 8, next_at = now() where tenant_id = $1 returning id`,
      [idOf(tenant)],
    );
    expect(rows).toHaveLength(1);
    expect(await until(1, 'failed')).toMatchObject([{ attempts: 9 }]);
  });

  test('because its process died is taken over when the lease has ended', async () => {
    smtp.behavior = 'hang';
    const { db } = app.service.deps;
    await db.query(
      `insert into mails (id, tenant_id, address, kind, event_seq, event_type, event_at, subject, attempts, next_at)
       values ('mail_' || repeat('a', 32), $1, 'ada@example.com', 'alert', 1000, 'balance_low', now(), '{}', 1,
               now() + interval '1 hour')`,
      [idOf(tenant)],
    );
    smtp.behavior = 'take';
    await tell(['top_up_succeeded']);
    await until(1, 'sent');
    expect(await mailsOf()).toMatchObject([
      { event_type: 'top_up_succeeded' },
      { state: 'waiting', attempts: 1 },
    ]);
    await hurry();
    expect(await until(2, 'sent')).toMatchObject([{}, { attempts: 2 }]);
    expect(idsOf()).toContain(`<mail_${'a'.repeat(32)}@example.com>`);
  });

  test('because the stored address is none is not sent at all', async () => {
    await app.service.deps.db.query('update tenants set email = $2 where id = $1', [
      idOf(tenant),
      'a@b.co\r\nBcc: e@f.gh',
    ]);
    await tell(['balance_low']);
    expect(await until(1, 'failed')).toMatchObject([{ error: 'not a mail address' }]);
    expect(smtp.received).toEqual([]);
  });
});

test('alerts of a day have an end, which the last one says, and the log names the others', async () => {
  // Alerts of a budget with the same amounts are one mail.
  const each = ALERT_TYPES.filter((type) => type !== 'budget_alert');
  const types = Array.from({ length: ALERTS_A_DAY_MAX + 2 }, (_, at) => each[at % each.length]!);
  await tell(types);
  await tell(['top_up_succeeded']);
  await until(ALERTS_A_DAY_MAX + 1, 'sent');
  expect(await until(2, 'suppressed')).toMatchObject([{ event_seq: 51n }, { event_seq: 52n }]);
  const last = smtp.received.filter(({ source }) => source.includes('This is the last alert'));
  expect(last).toHaveLength(1);
  const said = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg.startsWith('an alert was not mailed'));
  expect(said).toHaveLength(2);
  expect(said[0]).toMatchObject({ tenant: tenant.id, type: expect.any(String) });

  await app.service.deps.db.query(
    `update mails set created_at = created_at - interval '1 day' where tenant_id = $1`,
    [idOf(tenant)],
  );
  await tell(['balance_low']);
  await until(ALERTS_A_DAY_MAX + 2, 'sent');
});

test('mails are deleted after thirty days', async () => {
  await tell(['balance_low', 'balance_recovered']);
  await until(2, 'sent');
  const age = (days: number, type: string) =>
    app.service.deps.db.query(
      `update mails set created_at = now() - make_interval(days => $3) where tenant_id = $1 and event_type = $2`,
      [idOf(tenant), type, days],
    );
  await age(31, 'balance_low');
  await age(29, 'balance_recovered');
  await sweep(app.service.deps);
  expect(await mailsOf()).toMatchObject([{ event_type: 'balance_recovered' }]);
});
