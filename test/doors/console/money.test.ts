import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { displayMicros } from '../../../src/money/amount.ts';
import { insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import type { Month } from '../../../src/money/month.ts';
import { RECORDS_MAX } from '../../../src/money/records/usage-record.ts';
import { getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { moveInTime } from '../../support/months.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 5_000 });
  owner = await makeMember(db(), idOf(tenant));
});

describe('the overview', () => {
  test('has balance, runway, burn, admission, alerts and the last top-up error', async () => {
    const of = await app.paidTenant({ cents: 5_000 });
    const { cookie } = await makeMember(db(), idOf(of), { role: 'finance' });
    const bare = (await getPage(app, '/console', cookie)).text;
    expect(bare).toContain('none set');
    await app.request('POST', '/v1/usage', {
      key: of.relayKey,
      body: { records: [usageRecord({ egress_bytes: 10_000_000_000, seconds: 86_000 })] },
    });
    const thresholds = [
      { kind: 'balance', below_micros: 900_000_000 },
      { kind: 'balance', below_micros: 1_000_000 },
    ];
    await app.request('PUT', '/v1/alerts', { key: of.key, body: { thresholds } });
    await db().query(`update payment_settings set last_top_up_error = 'card declined' where tenant_id = $1`, [
      idOf(of),
    ]);
    const { text } = await getPage(app, '/console', cookie);
    const { json } = await app.request('GET', '/v1/billing', { key: of.key });
    const spent = displayMicros(50_000_000n - BigInt(json.balance.micros));
    for (const shown of [
      `Exactly ${json.balance.display}`,
      'The credit lasts',
      `${spent} in the last 24 hours, ${spent} in the last one.`,
      'admitted',
      '1 raised',
      'Of 2 thresholds.',
      'card declined',
    ])
      expect(text).toContain(shown);
  });
});

test('the overview shows what may come next, until it is done', async () => {
  const of = await app.paidTenant();
  const owner = await makeMember(db(), idOf(of));
  const see = async ({ cookie } = owner) => (await getPage(app, '/console', cookie)).text;
  expect(await see()).not.toContain('<h2>Next</h2>');
  await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [usageRecord()] } });
  const steps = async (who = owner) => {
    const next = /<h2>Next<\/h2>.*?<\/section>/s.exec(await see(who))?.[0] ?? '';
    return ['alerts', 'top-up', 'members', 'webhooks', 'rooms'].filter((each) =>
      next.includes(`/console/${each}"`),
    );
  };
  expect(await steps()).toEqual(['alerts', 'top-up', 'webhooks', 'rooms']);
  const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
  expect(await see(viewer)).not.toContain('<h2>Next</h2>');
  const finance = await makeMember(db(), idOf(of), { role: 'finance' });
  expect(await steps(finance)).toEqual(['alerts', 'top-up']);
  const thresholds = [{ kind: 'balance', below_micros: 1 }];
  await app.request('PUT', '/v1/alerts', { key: of.key, body: { thresholds } });
  await sendForm(app, '/console/top-up', { enabled: 'on', below: '10', amount: '25' }, owner);
  expect(await steps()).toEqual(['webhooks', 'rooms']);
  await app.request('POST', '/v1/webhooks', { key: of.key, body: { url: 'https://example.com/hook' } });
  expect(await steps()).toEqual(['rooms']);
});

test('the overview names the card of automatic top-ups, and says whether they are on', async () => {
  const of = await app.paidTenant();
  const { cookie } = await makeMember(db(), idOf(of));
  const card = async () =>
    /Automatic top-up<\/h2>.*?<\/section>/s.exec((await getPage(app, '/console', cookie)).text)![0];
  expect(await card()).toContain('>off<');
  await sendForm(app, '/console/top-up', { enabled: 'on', below: '10', amount: '25' }, { cookie });
  expect(await card()).toMatch(/>on<.*Below \$10\.00, the Visa card that ends in 4242 pays \$25\.00/s);
  await db().query(`update payment_settings set frozen_by = '{dp_1}' where tenant_id = $1`, [idOf(of)]);
  expect(await card()).toContain('>stopped<');
});

test('the overview says how much of the balance was granted', async () => {
  const of = await app.paidTenant();
  const { cookie } = await makeMember(db(), idOf(of));
  const overview = async () => (await getPage(app, '/console', cookie)).text;
  expect(await overview()).not.toContain('granted credit');
  const given = { amount: 5_000_000n, reason: 'a trial', expiresAt: undefined, key: undefined };
  await grantCredit(db(), OPERATOR, idOf(of), given);
  expect(await overview()).toContain('with $5.000000 of <a href="/console/payments">granted credit</a>');
});

test('the newest entries say what they were for', async () => {
  const of = await app.paidTenant();
  const { cookie } = await makeMember(db(), idOf(of));
  const records = [usageRecord({ room: 'stage', participant: 'ann' })];
  await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
  await adjustCredit(db(), OPERATOR, idOf(of), { amount: 1_000_000n, reason: 'a gift', id: undefined });
  const { text } = await getPage(app, '/console', cookie);
  expect(text).toContain('<span><bdi>a gift</bdi></span>');
  expect(text).toContain('<span><bdi>stage</bdi> <span class="hint"><bdi>ann</bdi></span></span>');
});

describe('a bank debit that is on its way', () => {
  test('is shown where one pays, to whoever sees money, until it arrives', async () => {
    const of = await app.signUp();
    const { cookie } = await makeMember(db(), idOf(of));
    const moderator = await makeMember(db(), idOf(of), { role: 'moderator' });
    const paying = await sendForm(app, '/console/checkout', { dollars: '30' }, { cookie });
    const intent = app.sandbox.control.pay(/cs_test_\w+/.exec(paying.text)![0], {
      card: 'bank_debit_succeeds',
    });
    await app.settled();
    const words = 'A payment of $30.00 is on its way';
    const pages = ['/console', '/console/start', '/console/payments'];
    for (const path of pages) {
      const { text } = await getPage(app, path, cookie);
      expect([path, text.split(words).length - 1]).toEqual([path, 1]);
    }
    expect((await getPage(app, '/console', moderator.cookie)).text).not.toContain(words);
    app.sandbox.control.settle(intent.id);
    await app.settled();
    for (const path of pages) expect((await getPage(app, path, cookie)).text).not.toContain(words);
  });
});

describe('spend in a time zone', () => {
  /** In Kathmandu, a day begins at 18:15 UTC. */
  const TIMES = ['2026-10-12T18:14:59.999Z', '2026-10-12T18:15:00Z', '2026-10-13T18:14:00Z'];
  let cookie: string;

  beforeAll(async () => {
    const of = await app.paidTenant({ cents: 5_000 });
    cookie = (await makeMember(db(), idOf(of), { role: 'viewer' })).cookie;
    await inTransaction(db(), (tx) => insertTimeZone(tx, idOf(of), 'Asia/Kathmandu', '2026-05' as Month));
    for (const room of ['alpha', 'beta', 'beta'])
      await app.request('POST', '/v1/usage', {
        key: of.relayKey,
        body: { records: [usageRecord({ room })] },
      });
    await moveInTime(app.database.pool, idOf(of), ['2026-09-01T00:00:00Z', ...TIMES]);
  });

  const linesOf = async (query: string) =>
    (await getPage(app, `/console/spend.csv?${query}`, cookie)).text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',').slice(0, 2).join(' '));

  test('has the days of the zone', async () => {
    const query = 'by=room&from=2026-10-10&to=2026-10-20';
    expect(await linesOf(query)).toEqual(['2026-10-12 alpha', '2026-10-13 beta']);
    const { text } = await getPage(app, `/console/spend?${query}`, cookie);
    expect(text).toContain('Day (Asia/Kathmandu)');
    expect(text).toContain(
      `data-from="${Date.parse('2026-10-10') / 1000}" data-to="${Date.parse('2026-10-21') / 1000}"`,
    );
  });

  test('has hours from the start of a day, by the clock of the zone', async () => {
    const query = 'by=room&every=hour&from=2026-10-12&to=2026-10-13';
    expect(await linesOf(query)).toEqual([
      '2026-10-12 23:00 alpha',
      '2026-10-13 00:00 beta',
      '2026-10-13 23:00 beta',
    ]);
    expect((await getPage(app, `/console/spend?${query}`, cookie)).text).toContain('Hour (UTC+05:45)');
  });

  test('has whole months of the zone, a year by default', async () => {
    const query = 'by=room&every=month&from=2026-10-12&to=2026-11-02';
    expect(await linesOf(query)).toEqual(['2026-10 beta', '2026-10 alpha']);
    const { text } = await getPage(app, `/console/spend?${query}`, cookie);
    for (const shown of [
      'from 2026-10-01 to 2026-11-30',
      'Month (Asia/Kathmandu)',
      '>2026-11</text>',
      'All months',
    ])
      expect(text).toContain(shown);
    expect(text).not.toContain('id="chart"');
    const year = await getPage(app, '/console/spend?every=month&to=2026-11-02', cookie);
    expect(year.text).toContain('from 2025-12-01 to 2026-11-30');
    const tooLong = '/console/spend?every=month&from=2025-11-30&to=2026-11-02';
    expect((await getPage(app, tooLong, cookie)).text).toContain('id="from-fault"');
  });
});

test('spend by month has the sums of the REST interface, also those of sessions', async () => {
  const of = await app.paidTenant({ cents: 5_000 });
  const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
  const records = ['alpha', 'beta'].map((room) =>
    usageRecord({ room, egress_bytes: 10_000_000_000, seconds: 86_000 }),
  );
  await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
  const month = new Date().toISOString().slice(0, 7);
  for (const by of ['role', 'tier', 'room', 'participant', 'key', 'customer']) {
    const query = `group_by=month,${by}&from=${month}-01`;
    const { json } = await app.request('GET', `/v1/usage/summary?${query}`, { key: of.key });
    const csv = await getPage(app, `/console/spend.csv?every=month&by=${by}`, cookie);
    const [head, ...lines] = csv.text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    expect(head).toEqual(['month', by, 'micros', 'dollars']);
    expect(lines.map(([each]) => each)).toEqual(lines.map(() => month));
    expect(lines.reduce((sum, [, , micros]) => sum + Number(micros), 0)).toBe(json.sum.total.micros);
  }
});

describe('spend by the hour', () => {
  test('has the numbers of the REST interface, as bars, as a table and as CSV', async () => {
    const of = await app.paidTenant({ cents: 5_000 });
    const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    const records = ['alpha', 'beta', 'gamma'].map((room) =>
      usageRecord({ room, egress_bytes: 10_000_000_000, seconds: 86_000 }),
    );
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
    const { json } = await app.request('GET', '/v1/billing', { key: of.key });
    const spent = 50_000_000n - BigInt(json.balance.micros);
    const { rows } = await db().query(
      `select date_trunc('hour', at, 'UTC') as hour from postings where tenant_id = $1 and kind = 'usage'`,
      [idOf(of)],
    );
    const hour = rows[0].hour.toISOString().slice(0, 16).replace('T', ' ');
    for (const by of ['room', 'role', 'tier']) {
      const { text } = await getPage(app, `/console/spend?every=hour&by=${by}`, cookie);
      expect(text).toContain(`<th scope="row" class="moment">${hour}</th>`);
      expect(text).toContain(`<p>${displayMicros(spent)} from`);
      expect(text).toContain('data-step="3600"');
      const [foot] = /<tfoot>.*<\/tfoot>/s.exec(text)!;
      const sums = [...foot.matchAll(/>\$(\d+)\.(\d{6})</g)].map(([, whole, rest]) =>
        BigInt(`${whole}${rest}`),
      );
      const all = sums.pop();
      expect([sums.reduce((sum, each) => sum + each, 0n), all]).toEqual([spent, spent]);
      const csv = await getPage(app, `/console/spend.csv?every=hour&by=${by}`, cookie);
      const lines = csv.text
        .trim()
        .split('\r\n')
        .map((line) => line.split(','));
      expect(lines.shift()).toEqual(['hour', by, 'micros', 'dollars']);
      expect(new Set(lines.map(([time]) => time))).toEqual(new Set([hour]));
      expect(lines.reduce((sum, [, , micros]) => sum + BigInt(micros!), 0n)).toBe(spent);
    }
  });

  test('of a longer period is that of its last days, and the page says so', async () => {
    const query = 'from=2026-02-01&to=2026-02-28&every=hour';
    const { status, text } = await getPage(app, `/console/spend?${query}`, owner.cookie);
    expect([status, text.includes('these are the last ones')]).toEqual([200, true]);
    expect(text).toContain('from 2026-02-15 to 2026-02-28');
    expect((await getPage(app, `/console/spend.csv?${query}`, owner.cookie)).status).toBe(400);
  });

  test.each([
    ['from=2020-01-01&to=2026-02-28', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=tomorrow', 'to'],
    ['from=2026-02-02&to=2026-01-01', 'from'],
  ])('%s is told beside its field, and keeps what was typed', async (query, name) => {
    const { status, text } = await getPage(app, `/console/spend?by=tier&${query}`, owner.cookie);
    expect(status).toBe(400);
    expect(text).toContain(`id="${name}-fault"`);
    for (const [given, value] of new URLSearchParams(query))
      expect(text).toMatch(new RegExp(`(id="${given}"[^>]*|option )value="${value}"`));
    expect(text).toContain('<option value="tier" selected>');
  });
});

describe('the ledger as CSV', () => {
  test('has every entry that the filters let through, as the REST interface gives them', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    const records = Array.from({ length: 130 }, (_, at) => usageRecord({ room: at % 2 ? '=odd' : 'even' }));
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
    for (const query of ['', '?room=even', '?kind=top_up', '?room=%3Dodd&kind=usage', '?kind=dispute']) {
      const { status, text, headers } = await getPage(app, `/console/ledger.csv${query}`, cookie);
      const rest = await app.request('GET', `/v1/ledger${query}`, {
        key: of.key,
        headers: { accept: 'text/csv' },
      });
      expect([query, status, text]).toEqual([query, 200, rest.text]);
      expect(headers.get('content-disposition')).toBe('attachment; filename="ledger.csv"');
    }
    const all = (await getPage(app, '/console/ledger.csv', cookie)).text;
    expect(all.trim().split('\r\n')).toHaveLength(1 + 130 + 1);
    const { text } = await getPage(app, '/console/ledger?room=even&kind=&from=', cookie);
    expect(text).toContain('href="/console/ledger.csv?room=even"');
  });

  test.each(['kind=free', 'from=yesterday', `room=${'r'.repeat(300)}`])('%s is refused', async (query) => {
    expect((await getPage(app, `/console/ledger.csv?${query}`, owner.cookie)).status).toBe(400);
  });

  test('goes on after the entries that are read at once', async () => {
    const of = await app.paidTenant({ cents: 1_000_000 });
    const { cookie } = await makeMember(db(), idOf(of));
    for (let batch = 0; batch < 2; batch += 1) {
      const records = Array.from({ length: RECORDS_MAX }, () => usageRecord());
      const answer = await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
      expect(answer.status).toBe(200);
    }
    const { text } = await getPage(app, '/console/ledger.csv', cookie);
    expect(text.trim().split('\r\n')).toHaveLength(1 + 2 * RECORDS_MAX + 1);
  });
});

describe('conflicts', () => {
  test('say what differs, page by page, and no other tenant’s', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of), { role: 'finance' });
    expect((await getPage(app, '/console/conflicts', cookie)).text).toContain('There are none');
    const records = Array.from({ length: 51 }, (_, at) => usageRecord({ id: `twice-${at}`, seconds: 60 }));
    const report = async (seconds: number) => {
      const body = { records: records.map((record) => ({ ...record, seconds })) };
      await app.request('POST', '/v1/usage', { key: of.relayKey, body });
    };
    await report(60);
    await report(61);
    const first = await getPage(app, '/console/conflicts', cookie);
    expect(first.text).toContain('seconds 60, then 61');
    const [, next] = /href="([^"]+)" rel="next"/.exec(first.text)!;
    const second = await getPage(app, next!, cookie);
    const idsOf = (text: string) => [...text.matchAll(/charge\?id=(twice-\d+)/g)].map(([, id]) => id);
    expect([idsOf(first.text).length, idsOf(second.text).length]).toEqual([50, 1]);
    expect(new Set([...idsOf(first.text), ...idsOf(second.text)]).size).toBe(51);
    expect((await getPage(app, '/console/conflicts', owner.cookie)).text).not.toContain('twice-');
    expect((await getPage(app, next!, owner.cookie)).status).toBe(400);
  });
});

describe('payments', () => {
  test('are listed, the newest first, page by page, and no other tenant’s', async () => {
    const of = await app.signUp();
    const ids: string[] = [];
    for (const cents of [1_000, 2_000]) ids.unshift((await app.pay(of, { cents })).payment);
    const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    const { text } = await getPage(app, '/console/payments', cookie);
    expect([...text.matchAll(/<code>(pi_\w+)<\/code>/g)].map(([, id]) => id)).toEqual(ids);
    expect(text).toContain('$20.000000');
    const older = await getPage(app, `/console/payments?after=${ids[0]}`, cookie);
    expect([...older.text.matchAll(/<code>(pi_\w+)<\/code>/g)].map(([, id]) => id)).toEqual([ids[1]]);
    expect((await getPage(app, '/console/payments?after=x', cookie)).status).toBe(400);
    expect((await getPage(app, '/console/payments', owner.cookie)).text).not.toContain(ids[0]);
    expect((await getPage(app, `/console/payments/${ids[0]}/receipt`, owner.cookie)).status).toBe(404);
  });

  test('of a period are listed, page by page, and are in a file that equals that of the REST interface', async () => {
    const of = await app.signUp();
    const ids: string[] = [];
    for (const cents of [1_000, 2_000, 3_000]) ids.unshift((await app.pay(of, { cents })).payment);
    for (const [at, day] of ['2026-10-31', '2026-10-01', '2026-09-30'].entries())
      await app.database.pool.query('update payments set settled_at = $2 where id = $1', [
        ids[at],
        `${day}Z`,
      ]);
    const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    const period = '?from=2026-10-01&to=2026-11-01';
    const { text } = await getPage(app, `/console/payments${period}`, cookie);
    expect([...text.matchAll(/<code>(pi_\w+)<\/code>/g)].map(([, id]) => id)).toEqual(ids.slice(0, 2));
    expect(text).toContain('href="/console/payments.csv?from=2026-10-01&amp;to=2026-11-01"');
    const older = await getPage(app, `/console/payments${period}&after=${ids[0]}`, cookie);
    expect([...older.text.matchAll(/<code>(pi_\w+)<\/code>/g)].map(([, id]) => id)).toEqual([ids[1]]);
    expect(older.text).toContain('href="/console/payments?from=2026-10-01&amp;to=2026-11-01">Newest');
    for (const query of ['', period]) {
      const file = await getPage(app, `/console/payments.csv${query}`, cookie);
      const headers = { accept: 'text/csv' };
      const rest = await app.request('GET', `/v1/payments${query}`, { key: of.key, headers });
      expect([file.status, file.text]).toEqual([200, rest.text]);
      expect(file.headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
    }
    const none = await getPage(app, '/console/payments?to=2026-09-01', cookie);
    expect(none.text).toContain('No payment fits.');
    const wrong = await getPage(app, '/console/payments?from=yesterday', cookie);
    expect([wrong.status, wrong.text.includes('id="from-fault"')]).toEqual([400, true]);
    expect((await getPage(app, '/console/payments.csv?from=yesterday', cookie)).status).toBe(400);
  });

  test('have receipts and invoices of the provider, asked for by the click', async () => {
    const of = await app.signUp();
    const { payment } = await app.pay(of);
    const { cookie } = await makeMember(db(), idOf(of), { role: 'finance' });
    const { json } = await app.request('GET', `/v1/payments/${payment}/receipt`, { key: of.key });
    const receipt = await getPage(app, `/console/payments/${payment}/receipt`, cookie);
    expect([receipt.status, receipt.headers.get('location')]).toEqual([303, json.url]);
    // None is made without `CHECKOUT_INVOICES`.
    expect((await getPage(app, '/console/payments', cookie)).text).not.toContain('/invoice"');
    const invoice = await getPage(app, `/console/payments/${payment}/invoice`, cookie);
    if (json.invoice_url) expect(invoice.headers.get('location')).toBe(json.invoice_url);
    else expect(invoice.text).toContain('There is no invoice');
  });

  test('the portal of the provider is opened once for each form, by those who may pay', async () => {
    const of = await app.paidTenant();
    const finance = await makeMember(db(), idOf(of), { role: 'finance' });
    const form = randomUUID();
    const open = () => sendForm(app, '/console/payments/portal', { form }, { cookie: finance.cookie });
    const [first, second] = [await open(), await open()];
    const target = (text: string) => /http-equiv="refresh" content="0; url=(http[^"]+)"/.exec(text)?.[1];
    expect(target(first.text)).toMatch(/^http/);
    expect(target(second.text)).toBe(target(first.text));
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    expect((await getPage(app, '/console/payments', finance.cookie)).text).toContain(
      '/console/payments/portal',
    );
    expect((await getPage(app, '/console/payments', viewer.cookie)).text).not.toContain('portal');
    const stale = await makeMember(db(), idOf(of), { role: 'finance', minutesAgo: 11 });
    expect((await getPage(app, '/console/payments', stale.cookie)).text).toContain(
      '/console/confirm?next=/console/payments',
    );
  });

  test('a tenant that never paid has no portal', async () => {
    const of = await app.signUp();
    const { cookie } = await makeMember(db(), idOf(of));
    expect((await getPage(app, '/console/payments', cookie)).text).not.toContain('portal');
    const answer = await sendForm(app, '/console/payments/portal', { form: randomUUID() }, { cookie });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/payments']);
  });
});

describe('when a key was last used', () => {
  test('is beside it', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    const made = await app.request('POST', '/v1/device-credentials', {
      key: of.key,
      body: { name: 'door', publish: ['audio'] },
    });
    await app.service.deps.lastUses.write();
    const used = (text: string) =>
      [...text.matchAll(/data-label="Last used">(?:<span>)?(never|<time)/g)].map(([, is]) => is);
    expect(used((await getPage(app, '/console/keys', cookie)).text)).toEqual(['never', '<time']);
    expect(used((await getPage(app, '/console/devices', cookie)).text)).toEqual(['never']);
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [] } });
    await app.request('POST', '/join', { key: made.json.credential, body: {} });
    await app.service.deps.lastUses.write();
    expect(used((await getPage(app, '/console/keys', cookie)).text)).toEqual(['<time', '<time']);
    expect(used((await getPage(app, '/console/devices', cookie)).text)).toEqual(['<time']);
  });
});

describe('the export', () => {
  const exportAll = (cookie: string) => sendForm(app, '/console/export', {}, { cookie });

  test('is everything of the tenant, in the audit trail with its member, and without secrets', async () => {
    const answer = await exportAll(owner.cookie);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${tenant.id}.ndjson"`);
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(lines.map((line) => line.tenant))).toEqual(new Set([tenant.id]));
    expect(new Set(lines.map((line) => line.table))).toContain('postings');
    for (const secret of [tenant.key, tenant.relayKey]) expect(answer.text).not.toContain(secret.slice(21));
    const { json } = await app.request('GET', '/v1/audit?limit=1', { key: tenant.key });
    expect(json.entries[0]).toMatchObject({
      action: 'tenant_exported',
      actor: { kind: 'member', id: owner.id },
      subject: tenant.id,
    });
  });

  test('runs once at a time for a tenant, in however many processes, reads as fast as it is taken, and ends with its reader', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    const other = await app.another();
    await insertRecords(of, 60_000);
    const slow = await startExport(app.url, cookie);
    // It is under way because 15 MB are more than buffers hold: rows that the client does not take are not read.
    for (const url of [app.url, other.url]) {
      const refused = await sendForm({ ...app, url, config: app.config }, '/console/export', {}, { cookie });
      expect([refused.status, refused.text.includes('is under way')]).toEqual([409, true]);
    }
    expect((await exportAll(owner.cookie)).status).toBe(200);
    slow.hangUp();
    await expect.poll(async () => (await exportAll(cookie)).status).toBe(200);
    const whole = (await exportAll(cookie)).text;
    expect(whole.match(/"table":"usage_records"/g)).toHaveLength(60_000);
  });

  test('of tenants that never paid leaves half of the places to the others', async () => {
    const neverPaid = await Promise.all(
      [1, 2, 3].map(async () => {
        const of = await app.paidTenant();
        await db().query(`update tenants set status = 'pending' where id = $1`, [idOf(of)]);
        await insertRecords(of, 60_000);
        return (await makeMember(db(), idOf(of))).cookie;
      }),
    );
    const slow = await Promise.all(neverPaid.slice(0, 2).map((cookie) => startExport(app.url, cookie)));
    expect((await exportAll(neverPaid[2]!)).status).toBe(503);
    expect((await exportAll(owner.cookie)).status).toBe(200);
    for (const each of slow) each.hangUp();
    await expect.poll(async () => (await exportAll(neverPaid[2]!)).status).toBe(200);
  });

  test('needs a log-in of the last minutes', async () => {
    const { cookie } = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
    const answer = await exportAll(cookie);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/console/confirm?next=%2Fconsole%2Fexport',
    ]);
    expect((await getPage(app, '/console/export', cookie)).text).not.toContain('<button class="primary">');
  });

  const formHeaders = (cookie: string) => ({
    cookie,
    origin: new URL(app.config.publicUrl).origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
  });

  /** An export of which the first bytes were read. */
  async function startExport(url: string, cookie: string): Promise<{ hangUp: () => void }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ hangUp: () => void }>();
    const sent = request(
      `${url}/console/export`,
      { method: 'POST', headers: formHeaders(cookie) },
      (answer) => {
        answer.once('readable', () => {
          answer.read(1);
          resolve({ hangUp: () => answer.destroy() });
        });
      },
    );
    sent.on('error', reject).end();
    return promise;
  }

  async function insertRecords(of: TestTenant, count: number): Promise<void> {
    await db().query(
      `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier,
                                  capped, id, room, participant)
       select $1, 1, n, n, 0, 1, n % 5000, 'h', 'a', false, 'r-' || lpad(n::text, 8, '0'), 'lobby', 'p' || n % 50
         from generate_series(1, $2) n`,
      [idOf(of), count],
    );
  }
});
