import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../../../src/base/db/pool.ts';
import { parseTenantId } from '../../../../src/base/tenants/tenant.ts';
import { exact } from '../../../../src/doors/consoles/components.ts';
import { BUILT_IN_RATES } from '../../../../src/money/pricing/rate-card.ts';
import { ROLES, TIERS } from '../../../../src/money/pricing/role.ts';
import { withoutTriggers } from '../../../support/append-only.ts';
import { makeMember, sendForm } from '../../../support/console.ts';
import { createCredential } from '../../../support/devices.ts';
import { getOpsPage, makeOperator, sendOpsForm, type TestOperator } from '../../../support/operators.ts';
import { type Answer, type TestTenant, usageRecord, useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let grace: TestOperator;

beforeAll(async () => {
  tenant = await app.paidTenant();
  grace = await makeOperator(db());
});

const get = (path: string) => getOpsPage(app, path, grace.cookie);
const send = (path: string, fields: Record<string, string> = {}) =>
  sendOpsForm(app, path, fields, { cookie: grace.cookie });
const pathOf = ({ id }: TestTenant) => `/console/tenants/${id}`;

async function newestAudit() {
  const { rows } = await db().query(
    `select action, actor_kind as kind, actor_id as id, after from audit_entries order by seq desc limit 1`,
  );
  return rows[0];
}

/** The page that a search leads to; `undefined`: a list. */
async function foundBy(search: string): Promise<string | undefined> {
  const { headers } = await get(`/console/tenants?search=${encodeURIComponent(search)}`);
  return headers.get('location') ?? undefined;
}

const byGrace = { kind: 'operator', id: 'grace' };

async function statusOf({ id }: TestTenant): Promise<string> {
  const { rows } = await db().query('select status from tenants where id = $1', [parseTenantId(id)]);
  return rows[0].status;
}

async function balanceOf({ key }: TestTenant): Promise<number> {
  return (await app.request('GET', '/v1/billing', { key })).json.balance.micros;
}

const faultsOf = ({ text }: Answer) => [...text.matchAll(/id="(\w+)-fault"/g)].map(([, name]) => name);

describe('the overview', () => {
  test('shows the state of the service, the money and the listeners', async () => {
    const { status, text } = await get('/console');
    expect(status).toBe(200);
    for (const shown of [
      'ready',
      'Parked payments',
      'Differences from the provider',
      'Where usage records are',
      'Listeners',
      'up to date',
    ]) {
      expect(text).toContain(shown);
    }
  });

  test('tells the age of the oldest record outside of the archive, or that there is none', async () => {
    const whenNoneWait = (await get('/console')).text;
    expect(whenNoneWait).toContain('No record waits outside of the archive.');
    expect(whenNoneWait).toContain('boxoffice_archived_records_total');
    const tenant = await app.paidTenant();
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [usageRecord()] } });
    expect((await get('/console')).text).toContain('outside of the archive is 0 hours old');
  });
});

describe('tenants', () => {
  test('are found by name, address, id, key and payment', async () => {
    const other = await app.signUp({ name: '100%_sure <b>', email: 'Odd@Example.com' });
    const { payment } = await app.pay(other);
    for (const search of ['100%_SURE', 'odd@example', other.id, other.keyId, payment]) {
      expect([search, await foundBy(search)]).toEqual([search, pathOf(other)]);
    }
    await app.signUp({ name: '100 % <b>' });
    const { text } = await get('/console/tenants?search=%25');
    expect([text.includes(other.id), text.includes(tenant.id), text.includes('<b>')]).toEqual([
      true,
      false,
      false,
    ]);
    expect((await get('/console/tenants?search=nobody')).text).toContain('No tenant fits');
    expect((await get('/console/tenants?status=suspended')).text).not.toContain(other.id);
    expect((await get('/console/tenants?status=gone')).status).toBe(400);
    expect((await get('/console/tenants/t_0000000000000000')).status).toBe(404);
    expect((await get('/console/tenants/nonsense')).status).toBe(404);
  });

  test('are found by what belongs to them, from every page', async () => {
    const other = await app.signUp();
    const owner = await makeMember(db(), idOf(other), { email: 'stage.door@example.com' });
    const id = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '')}`;
    const [webhook, session, attempt, checkout] = [id('wh'), id('se'), id('tu'), id('co')];
    const insert = (text: string, ...values: string[]) => db().query(text, [idOf(other), ...values]);
    await insert(
      `insert into webhook_endpoints (tenant_id, id, url) values ($1, $2, 'https://x.example/')`,
      webhook,
    );
    await insert(
      `insert into sessions (tenant_id, id, room, room_uid, participant, role, entered_at)
       values ($1, $2, 'r', 'rm_1', 'p', 'host', now())`,
      session,
    );
    await insert(
      `insert into top_up_attempts (id, tenant_id, amount, state, finished_at) values ($2, $1, 5, 'canceled', now())`,
      attempt,
    );
    await insert(
      `insert into checkouts (id, tenant_id, amount, session_id) values ($2, $1, 5, $3)`,
      checkout,
      `cs_${checkout}`,
    );
    const { credential } = { credential: (await createCredential(app, other)).id };
    for (const search of [
      webhook,
      session,
      attempt,
      checkout,
      `cs_${checkout}`,
      credential,
      owner.email.toUpperCase(),
    ]) {
      expect([search, await foundBy(` ${search} `)]).toEqual([search, pathOf(other)]);
      expect(await foundBy(search.slice(0, -1))).toBeUndefined();
    }
    // A person may be a member of several tenants.
    await makeMember(db(), idOf(tenant), { email: owner.email });
    expect(await foundBy(owner.email)).toBeUndefined();
    for (const { id } of [other, tenant])
      expect((await get(`/console/tenants?search=${owner.email}`)).text).toContain(id);
    for (const path of ['/console', '/console/rates', pathOf(other)])
      expect((await get(path)).text).toMatch(
        /<form class="search" role="search" method="get" action="\/console\/tenants">/,
      );
    expect((await getOpsPage(app, '/console/login')).text).not.toContain('role="search"');
  });

  test('are shown without a secret', async () => {
    const { status, text } = await get(pathOf(tenant));
    expect(status).toBe(200);
    expect(text).toContain(tenant.keyId);
    expect(text).toContain('$20.000000');
    expect(text).not.toContain(tenant.key.slice(21));
  });

  test('are shown with their budgets and their time zone', async () => {
    const of = await app.paidTenant();
    expect((await get(pathOf(of))).text).toContain('Budgets: none.');
    const budget = { customer: 'acme', period: 'day', limit_micros: 0, hard: true };
    await app.request('PUT', '/v1/budgets/acme', { key: of.key, body: budget });
    const zone = { time_zone: 'Asia/Kathmandu' };
    await app.request('PUT', '/v1/billing/time-zone', { key: of.key, body: zone });
    const { text } = await get(pathOf(of));
    for (const shown of ['acme', '$0.000000 a day', 'reached', 'Asia/Kathmandu'])
      expect(text).toContain(shown);
    expect(text).not.toContain('/console/budgets');
  });

  test('change their status with a reason, and are deleted by a typed id only', async () => {
    const of = await app.paidTenant();
    const path = `${pathOf(of)}/status`;
    const without = await send(path, { status: 'suspended', reason: ' ', confirm: '' });
    expect([without.status, faultsOf(without)]).toEqual([400, ['reason']]);
    expect(await statusOf(of)).toBe('active');

    const reason = '<script>alert(1)</script>';
    expect((await send(path, { status: 'suspended', reason, confirm: '' })).status).toBe(303);
    expect(await statusOf(of)).toBe('suspended');
    expect(await newestAudit()).toMatchObject({ action: 'tenant_status_changed', ...byGrace });
    expect((await get(pathOf(of))).text).not.toContain('<script>alert');

    const all = await send(path, { status: 'deleted', reason: '', told: 't'.repeat(501), confirm: 't_1' });
    expect([all.status, faultsOf(all)]).toEqual([400, ['reason', 'told', 'confirm']]);
    expect(all.text).toMatch(/id="reason"[^>]* autofocus/);
    const typo = await send(path, { status: 'deleted', reason: 'asked for', confirm: 't_1' });
    expect([typo.status, faultsOf(typo)]).toEqual([400, ['confirm']]);
    expect((await send(path, { status: 'pending', reason: 'back', confirm: '' })).status).toBe(409);
    expect((await send(path, { status: 'deleted', reason: 'asked for', confirm: of.id })).status).toBe(303);
    expect(await statusOf(of)).toBe('deleted');
    expect((await get(path)).text).toContain('No other status follows');
  });

  test('get credit once for a form that is sent ten times', async () => {
    const before = await balanceOf(tenant);
    const path = `${pathOf(tenant)}/credit`;
    const fields = { form: randomUUID(), dollars: '-1.250001', reason: 'a mistake', reviewed: 'yes' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(path, fields)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await balanceOf(tenant)).toBe(before - 1_250_001);
    expect(await newestAudit()).toMatchObject({ action: 'credit_adjusted', ...byGrace });

    const wrong = await send(path, { form: randomUUID(), dollars: '0', reason: '' });
    expect([wrong.status, faultsOf(wrong)]).toEqual([400, ['dollars', 'reason']]);
    expect((await send(path, { form: 'x', dollars: '1', reason: 'a' })).status).toBe(400);
    expect(await balanceOf(tenant)).toBe(before - 1_250_001);
  });

  test('get a grant once for a form that is sent ten times, and lose what is left of it', async () => {
    const of = await app.signUp();
    const path = `${pathOf(of)}/grants`;
    const fields = { form: randomUUID(), dollars: '12.5', reason: 'a trial', expires: '2100-01-31' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(path, fields)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.filter(({ text }) => text.includes('Granted $12.50'))).toHaveLength(1);
    expect(await balanceOf(of)).toBe(12_500_000);
    expect(await newestAudit()).toMatchObject({ action: 'credit_granted', ...byGrace });
    const { text } = await get(path);
    expect(text).toContain('2100-01-31');
    const [grant] = /gr_[0-9a-f]{32}/.exec(text)!;
    const unreasoned = await send(`${path}/void`, { grant, why: '' });
    expect([unreasoned.status, faultsOf(unreasoned)]).toEqual([400, ['why']]);
    expect((await send(`${path}/void`, { grant, why: 'a slip' })).text).toContain('Took back $12.50');
    expect(await balanceOf(of)).toBe(0);
    expect(await newestAudit()).toMatchObject({ action: 'grant_voided', ...byGrace });
  });

  test('get no grant that is wrong, in the past, or large and typed once', async () => {
    const of = await app.signUp();
    const path = `${pathOf(of)}/grants`;
    const grant = (fields: Record<string, string>) =>
      send(path, { form: randomUUID(), reason: 'a trial', ...fields });
    const wrong = await grant({ dollars: '-1', reason: '', expires: '2026-02-30' });
    expect([wrong.status, faultsOf(wrong)]).toEqual([400, ['dollars', 'reason', 'expires']]);
    const past = await grant({ dollars: '1', expires: '2020-01-01' });
    expect([past.status, faultsOf(past)]).toEqual([400, ['expires']]);
    const both = await grant({ dollars: '2000', reason: '', expires: 'soon' });
    expect(faultsOf(both)).toEqual(['reason', 'expires', 'confirm']);
    expect(past.text).toContain('Must be 60 seconds ahead or more.');
    const large = await grant({ dollars: '2000' });
    expect([large.status, faultsOf(large)]).toEqual([400, ['confirm']]);
    expect(await balanceOf(of)).toBe(0);
    expect((await grant({ dollars: '2000', confirm: '$2000' })).status).toBe(200);
  });

  test('get no credit beyond nine digits, and the field says so', async () => {
    const fields = { form: randomUUID(), dollars: '99999999999', reason: 'a slip' };
    const answer = await send(`${pathOf(tenant)}/credit`, fields);
    expect([answer.status, faultsOf(answer)]).toEqual([400, ['dollars']]);
    expect(answer.text).toMatch(/id="dollars-fault">[^<]*at most 9 digits before the point/);
  });

  test('get no credit before somebody saw what it changes', async () => {
    const of = await app.paidTenant();
    const answer = await send(`${pathOf(of)}/credit`, { form: randomUUID(), dollars: '-20', reason: 'back' });
    expect(answer.status).toBe(200);
    for (const shown of ['$20.000000', '-$20.000000', '$0.000000', 'loses admission']) {
      expect(answer.text).toContain(shown);
    }
    expect(answer.text).not.toMatch(/name="(confirm|negative)"/);
    expect(await balanceOf(of)).toBe(20_000_000);
    const fields = Object.fromEntries(
      [...answer.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<string, string>;
    expect((await send(`${pathOf(of)}/credit`, fields)).text).toContain(
      'The balance was $20.000000, and is $0.000000.',
    );
    expect(await balanceOf(of)).toBe(0);
    expect((await send(`${pathOf(of)}/credit`, fields)).text).toContain('Nothing posted');
  });

  test('lose a large amount, or more than they have, only if the operator confirms it', async () => {
    const of = await app.paidTenant();
    const path = `${pathOf(of)}/credit`;
    const fields = { form: randomUUID(), dollars: '-1000000', reason: 'a slip', reviewed: 'yes' };
    for (const [confirmed, faults] of [
      [{}, ['confirm', 'negative']],
      [{ confirm: '-1000000' }, ['negative']],
      [{ confirm: '1000000', negative: 'on' }, ['confirm']],
      [{ negative: 'on' }, ['confirm']],
    ] as const) {
      const refused = await send(path, { ...fields, ...confirmed });
      expect([refused.status, faultsOf(refused)]).toEqual([400, faults]);
      expect(refused.text).toContain('-$999,980.000000');
    }
    expect(await balanceOf(of)).toBe(20_000_000);
    const posted = await send(path, { ...fields, confirm: '-1000000.00', negative: 'on' });
    expect(posted.status).toBe(200);
    expect(await balanceOf(of)).toBe(-999_980_000_000);

    const gift = { form: randomUUID(), dollars: '1000.01', reason: 'a gift', reviewed: 'yes' };
    expect(faultsOf(await send(path, gift))).toEqual(['confirm']);
    const small = { ...gift, dollars: '1000' };
    expect((await send(path, small)).status).toBe(200);
    const { rows } = await db().query(
      `select before, after from audit_entries where tenant_id = $1 and action = 'credit_adjusted' order by seq limit 1`,
      [idOf(of)],
    );
    expect(rows[0]).toMatchObject({
      before: { balance_micros: 20_000_000 },
      after: { balance_micros: -999_980_000_000, amount_micros: -1_000_000_000_000 },
    });
  });

  test('have limits of their own, until the field is empty', async () => {
    const path = `${pathOf(tenant)}/limits`;
    const wrong = await send(path, { rooms: '0', bans: 'many', reason: 'a' });
    expect([wrong.status, faultsOf(wrong)]).toEqual([400, ['rooms', 'bans']]);
    expect((await send(path, { rooms: '77', reason: 'large' })).status).toBe(303);
    const limits = async () =>
      (await db().query('select limits from tenants where id = $1', [idOf(tenant)])).rows[0].limits;
    expect(await limits()).toEqual({ rooms: 77 });
    expect((await get(path)).text).toMatch(/id="rooms"[^>]*value="77"/);
    expect((await send(path, { rooms: '', reason: 'small again' })).status).toBe(303);
    expect(await limits()).toBeNull();
  });

  test('are exempt, and charged again', async () => {
    const exempt = async () =>
      (await db().query('select exempt from tenants where id = $1', [idOf(tenant)])).rows[0].exempt;
    const badges = async () =>
      (await get('/console/tenants?status=active')).text.match(/>exempt<\/span>/g)?.length ?? 0;
    expect(await badges()).toBe(0);
    expect((await send(`${pathOf(tenant)}/exempt`, { exempt: 'yes' })).status).toBe(303);
    expect([await exempt(), await badges()]).toEqual([true, 1]);
    expect((await send(`${pathOf(tenant)}/exempt`, { exempt: 'perhaps' })).status).toBe(400);
    expect((await send(`${pathOf(tenant)}/exempt`, { exempt: 'no' })).status).toBe(303);
    expect(await exempt()).toBe(false);
  });

  test('have a console that an operator gets a link to', async () => {
    const { text } = await send(`${pathOf(tenant)}/console-link`);
    const [, path] = /http:\/\/service\.test(\/console\/login\/[\w-]{43})/.exec(text) ?? [];
    expect((await app.request('GET', path!)).text).toContain(tenant.id);
    expect(await newestAudit()).toMatchObject({ action: 'console_link_made', ...byGrace });
  });
});

describe('payments', () => {
  test('show top-ups, disputes and warnings, by tenant and by state', async () => {
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount, state, finished_at, decline_code)
       values ($1, $2, 5000000, 'declined', now(), '<i>card_declined')`,
      [`tu_${'a'.repeat(32)}`, idOf(tenant)],
    );
    await db().query(`insert into disputes (id, payment_id, amount) values ('du_1', 'pi_unknown', 100)`);
    const { text } = await get(`/console/payments?tenant=${tenant.id}`);
    expect(text).toContain('&lt;i&gt;card_declined');
    expect(text).not.toContain('du_1');
    expect((await get('/console/payments')).text).toContain('du_1');
    expect((await get('/console/payments?state=succeeded')).text).not.toContain('card_declined');
    expect((await get('/console/payments?state=lost')).status).toBe(400);
    expect((await get('/console/payments?tenant=me')).status).toBe(400);
  });

  test('that are parked are listed, a hundred of them', async () => {
    await db().query(
      `insert into provider_events (id, type, outcome, reason, payment_id)
       select 'evt_listed_' || n, 'charge.updated', 'parked', 'why', 'pi_listed_' || n from generate_series(1, 101) n`,
    );
    const { text } = await get('/console/payments');
    expect(text.match(/<code>pi_listed_\d+<\/code>/g)).toHaveLength(100);
    await db().query(`update provider_events set outcome = 'ignored' where id like 'evt_listed_%'`);
  });

  test('that are parked are dismissed with a reason, or settled if the provider knows them', async () => {
    await db().query(
      `insert into provider_events (id, type, outcome, reason) values ('evt_parked', 'charge.updated', 'parked', '<b>why')`,
    );
    expect((await get('/console')).text).toMatch(/Parked payments<\/p><p class="figure">1/);
    expect((await get('/console/payments/evt_parked')).text).toContain('&lt;b&gt;why');
    expect((await send('/console/payments/evt_parked/settle')).status).toBe(400);
    const without = await send('/console/payments/evt_parked/dismiss', { reason: '' });
    expect([without.status, faultsOf(without)]).toEqual([400, ['reason']]);
    expect((await send('/console/payments/evt_parked/dismiss', { reason: 'refunded' })).status).toBe(303);
    expect(await newestAudit()).toMatchObject({
      action: 'parked_payment_dismissed',
      ...byGrace,
      after: { state: 'ignored' },
    });
    expect((await get('/console/payments/evt_parked')).status).toBe(404);
    expect((await send('/console/payments/evt_none/settle')).status).toBe(404);
  });
});

describe('conflicts', () => {
  test('name the tenants, and what differs', async () => {
    expect((await get('/console/conflicts')).text).toContain('There are none');
    const record = usageRecord({ id: 'twice', room: 'r', participant: 'p' });
    const report = (seconds: number) =>
      app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [{ ...record, seconds }] } });
    await report(60);
    await report(61);
    expect((await get('/console/conflicts')).text).toContain(`/console/conflicts?tenant=${tenant.id}`);
    expect((await get(`/console/conflicts?tenant=${tenant.id}`)).text).toContain('seconds 60, then 61');
  });
});

describe('rates', () => {
  const fields = (changes: Record<string, string> = {}): Record<string, string> => ({
    egress_cost_per_gib: BUILT_IN_RATES.egress_cost_per_gib,
    markup_basis_points: String(BUILT_IN_RATES.markup_basis_points),
    platform_fee_per_gib: BUILT_IN_RATES.platform_fee_per_gib,
    ...Object.fromEntries(
      ROLES.flatMap((role) =>
        TIERS.map((tier) => [
          `${role}_${tier}`,
          BUILT_IN_RATES.ceiling_per_1000_participant_minutes[role][tier],
        ]),
      ),
    ),
    ...changes,
  });
  const version = async () =>
    (await db().query('select max(version) as version from rate_cards')).rows[0].version;

  test('of a draft are simulated to the micro, and change nothing', async () => {
    const of = await app.paidTenant();
    const records = [usageRecord({ seconds: 3600, egress_bytes: 1024 ** 3 })];
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
    const period = { from: '2020-01-01', to: '2100-01-01', tenant: of.id };
    const before = await version();
    const { status, text } = await send('/console/rates/simulate', {
      ...fields({ platform_fee_per_gib: '0.03' }),
      ...period,
    });
    expect(status).toBe(200);
    // The fee of one GiB, of 0.02 and 0.03 dollars; the ceiling of an hour is higher.
    for (const shown of ['$0.020000', '$0.030000', '$0.010000']) expect(text).toContain(shown);
    expect(await version()).toBe(before);
  });

  test.each([
    [{ platform_fee_per_gib: 'cheap' }, ['platform_fee_per_gib'], 'such as 0.60'],
    [{ markup_basis_points: '1.5' }, ['markup_basis_points'], 'such as 1500 for 15%'],
    [{ markup_basis_points: '1000001' }, ['markup_basis_points'], 'such as 1500 for 15%'],
    [{ audience_2k_plus: '', host_audio: '1e3' }, ['host_audio', 'audience_2k_plus'], 'such as 0.60'],
    [{ from: '' }, ['from'], 'such as 2026-11-01'],
    [{ from: 'yesterday' }, ['from'], 'such as 2026-11-01'],
    [{ to: '2019-01-01' }, ['from'], 'before the other one'],
    [{ tenant: 'me' }, ['tenant'], 't_ and 16 hex digits'],
    [{ tenant: 't_0123456789abcdef' }, ['tenant'], 'No tenant has this id'],
  ])('%j are refused in words at the field, and what was typed stays', async (changes, fields_, words) => {
    const answer = await send('/console/rates/simulate', {
      ...fields(),
      from: '2020-01-01',
      to: '2100-01-01',
      tenant: '',
      host_hd: '1.23',
      ...changes,
    });
    expect([answer.status, faultsOf(answer)]).toEqual([400, fields_]);
    expect(answer.text).toMatch(new RegExp(`class="wrong" id="${fields_[0]}-fault">[^<]*${words}`));
    expect(answer.text).not.toMatch(/pattern|\[0-9\]|must be (string|integer)/);
    expect(answer.text).toMatch(/id="host_hd"[^>]*value="1\.23"/);
    for (const [name, value] of Object.entries(changes)) {
      expect(answer.text).toContain(`id="${name}" name="${name}" value="${value}"`);
    }
  });

  test('are not simulated over more than a million records', async () => {
    const of = await app.paidTenant();
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [usageRecord()] } });
    const owner = openPool(app.ownerUrl, { max: 1 });
    const simulateMany = async (count: number) => {
      await withoutTriggers(owner, ['postings'], (tx) =>
        tx.query('update postings set records = $2 where tenant_id = $1 and records > 0', [idOf(of), count]),
      );
      const period = { from: '2020-01-01', to: '2100-01-01', tenant: of.id };
      return send('/console/rates/simulate', { ...fields(), ...period });
    };
    const refused = await simulateMany(1_000_001);
    expect([refused.status, (await simulateMany(1_000_000)).status]).toEqual([400, 200]);
    expect(refused.text).toContain('the period has 1000001 records, more than 1000000: choose a shorter one');
    await simulateMany(1);
    await owner.end();
  });

  test('are shown before they are loaded, beside those that they replace', async () => {
    const draft = { ...fields({ host_hd: '1.23' }), from: '2020-01-01', to: '2100-01-01', tenant: '' };
    const pages = [
      await send('/console/rates/simulate', draft),
      await send('/console/rates/load', { ...fields({ host_hd: '1.23' }), confirm: '' }),
    ];
    const now = BUILT_IN_RATES.ceiling_per_1000_participant_minutes.host.hd;
    for (const { text } of pages) {
      const [row] = /<tr><td[^>]*>At most for 1,000 minutes: host, HD.*?<\/tr>/s.exec(text)!;
      expect(row).toContain(`>${now}<`);
      expect(row).toContain('<strong>1.23</strong>');
      expect(text.match(/<strong>[\d.]+<\/strong> <span class="badge warn">new/g)).toHaveLength(1);
    }
  });

  test('of a draft that was changed on the way are not loaded', async () => {
    const before = await version();
    const answer = await send('/console/rates/load', { ...fields({ host_hd: 'x' }), confirm: 'load' });
    expect([answer.status, faultsOf(answer), await version()]).toEqual([400, ['host_hd'], before]);
  });

  test('are loaded by a typed word, with an entry of the audit trail', async () => {
    const before = await version();
    const draft = fields({ platform_fee_per_gib: '0.05' });
    const untyped = await send('/console/rates/load', { ...draft, confirm: '' });
    expect([untyped.status, faultsOf(untyped)]).toEqual([400, ['confirm']]);
    expect(await version()).toBe(before);
    expect((await send('/console/rates/load', { ...draft, confirm: 'load' })).status).toBe(303);
    expect(await version()).toBe(before + 1);
    expect(await newestAudit()).toMatchObject({ action: 'rates_loaded', ...byGrace });
    const old = await send('/console/rates/load', { ...fields(), confirm: 'load' });
    expect([old.status, await version()]).toEqual([400, before + 1]);
  });
});

describe('signing keys', () => {
  const states = async () => {
    const { rows } = await db().query(`select state from signing_keys order by published_at desc`);
    return rows.map(({ state }) => state);
  };

  test('turn, and are replaced by a typed word', async () => {
    expect(await states()).toEqual(['active']);
    expect((await send('/console/signing-keys/rotate')).status).toBe(303);
    expect(await states()).toEqual(['pending', 'active']);
    expect(await newestAudit()).toMatchObject({ action: 'signing_key_published', ...byGrace });
    expect((await send('/console/signing-keys/rotate')).status).toBe(400);
    const early = await send('/console/signing-keys/activate');
    expect([early.status, early.text.includes('less than an hour')]).toEqual([400, true]);
    const untyped = await send('/console/signing-keys/replace', { confirm: 'yes' });
    expect([untyped.status, faultsOf(untyped)]).toEqual([400, ['confirm']]);
    expect(await states()).toEqual(['pending', 'active']);
    expect((await send('/console/signing-keys/replace', { confirm: 'replace' })).status).toBe(303);
    expect(await states()).toEqual(['active', 'removed', 'removed']);
    expect((await send(`/console/signing-keys/${'A'.repeat(43)}/remove`)).status).toBe(400);
    expect((await get('/console/signing-keys')).status).toBe(200);
  });
});

describe('a verification', () => {
  const newest = async () =>
    (await db().query('select * from verifications order by started_at desc limit 1')).rows[0];
  const ended = () => expect.poll(async () => (await newest()).finished_at).not.toBeNull();

  test('runs in the background, one at a time, and says that nothing differs', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => send('/console/verify')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    await ended();
    const { rows } = await db().query('select operator, differences, error from verifications');
    for (const row of rows) expect(row).toEqual({ operator: 'grace', differences: 0, error: null });
    expect((await get('/console/verify')).text).toContain('Nothing differs');
  });

  test('shows how many records it checked, however short it was', async () => {
    const records = Array.from({ length: 7 }, (_, at) => usageRecord({ id: `verified-${at}` }));
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    const { rows } = await db().query('select count(*)::int as count from usage_records');
    expect(rows[0].count).toBeGreaterThanOrEqual(7);
    await send('/console/verify');
    await ended();
    const { text } = await get('/console/verify');
    expect(text).toContain(`Nothing differs in ${rows[0].count} records`);
    expect(text).toMatch(new RegExp(`<td[^>]*>${rows[0].count}</td>\\s*<td[^>]*><span class="badge good">`));
  });

  test('shows what differs', async () => {
    const of = await app.paidTenant();
    await db().query('update accounts set carry = carry + 7 where tenant_id = $1', [idOf(of)]);
    await send('/console/verify');
    await ended();
    const { text } = await get('/console/verify');
    expect(text).toContain(of.id);
    expect(text).toMatch(/\d+ differences?/);
    await db().query('update accounts set carry = carry - 7 where tenant_id = $1', [idOf(of)]);
  });

  test('whose process died makes room for another one', async () => {
    await db().query(
      `insert into verifications (id, operator, seen_at) values ($1, 'ann', now() - interval '31 seconds')`,
      [`vf_${'b'.repeat(32)}`],
    );
    await send('/console/verify');
    await ended();
    const { rows } = await db().query('select error from verifications where operator = $1', ['ann']);
    expect(rows).toEqual([{ error: 'its process ended' }]);
    expect((await newest()).operator).toBe('grace');
  });

  test('that goes on shows how far it is, and is not started again', async () => {
    const id = `vf_${'c'.repeat(32)}`;
    await db().query(
      `insert into verifications (id, operator, step, done, total, started_at)
       values ($1, 'ann', 'computing', 3, 9, now() + interval '1 minute')`,
      [id],
    );
    await send('/console/verify');
    const { text } = await get('/console/verify');
    expect(text).toMatch(/max="9" value="3"/);
    expect(text).toContain('data-again="/console/verify"');
    expect(text).toContain('http-equiv="refresh"');
    expect(text).toContain('>goes on</span>');
    await db().query('delete from verifications where id = $1', [id]);
  });
});

describe('the audit trail', () => {
  const actionsIn = (text: string) => [
    ...new Set([...text.matchAll(/data-label="Action">([^<]+)</g)].map(([, action]) => action)),
  ];
  const aboutOf = async (action: string) => {
    const { text } = await get(`/console/audit?tenant=${tenant.id}&action=${action}`);
    return /data-label="Of">(.*?)<\/td>/s.exec(text)![1]!.replace(/\s+/g, ' ');
  };

  test('names what each entry is about, with its page, but no people', async () => {
    const made = await app.request('POST', '/v1/keys', {
      key: tenant.key,
      body: { name: 'of relays', kind: 'relay' },
    });
    const { id } = made.json.key;
    expect(await aboutOf('key_created')).toContain(`<bdi>of relays (${id})</bdi>`);
    const url = 'https://hooks.example/secret';
    const hook = await app.request('POST', '/v1/webhooks', { key: tenant.key, body: { url } });
    const path = `${pathOf(tenant)}/webhooks/${hook.json.webhook.id}`;
    expect(await aboutOf('webhook_created')).toContain(`<a href="${path}"><bdi>hooks.example</bdi></a>`);
    const { text } = await get(`/console/audit?tenant=${tenant.id}&action=webhook_created`);
    expect(text).toMatch(/<span>key <bdi>default \(\w+\)<\/bdi>/);
    const boss = await makeMember(db(), idOf(tenant), { email: 'boss@example.com' });
    const member = await makeMember(db(), idOf(tenant), { email: 'someone@example.com', role: 'viewer' });
    await sendForm(app, `/console/members/${member.id}/role`, { role: 'finance' }, boss);
    const changed = await get(`/console/audit?tenant=${tenant.id}&action=member_role_changed`);
    expect(changed.text).toContain(`<a href="${pathOf(tenant)}/members">member</a>`);
    expect(changed.text).not.toContain('someone@example.com');
  });

  test('is filtered by tenant, action, subject and day', async () => {
    const { text } = await get(`/console/audit?tenant=${tenant.id}&action=credit_adjusted`);
    expect(text).toContain('operator <bdi>grace</bdi>');
    expect(actionsIn(text)).toEqual(['credit adjusted']);
    expect(text).toContain('<option value="credit_adjusted" selected>Credit adjusted</option>');
    expect(text).toContain('<option value="signing_key_published">');
    expect((await get('/console/audit?from=2100-01-01')).text).toContain('No entry fits');
    expect(actionsIn((await get('/console/audit?action=Credit+adjusted')).text)).toEqual(['credit adjusted']);
    const unknown = await get('/console/audit?action=of_a_later_release');
    expect(unknown.text).toContain('<option value="of_a_later_release" selected>');
    expect((await get('/console/audit?action=not-one')).status).toBe(400);
    expect((await get('/console/audit?from=2026-02-30')).status).toBe(400);
  });
});

test.each([
  ['/console/audit', 'tenant=me&action=not-one&from=2026-02-30&to=never', ['tenant', 'action', 'from', 'to']],
  ['/console/tenants', `search=${'s'.repeat(301)}&status=odd`, ['search', 'status']],
  ['/console/revenue', 'month=never', ['month']],
])('mistakes in the filters of %s, %s, are told at once, beside them', async (path, query, wrong) => {
  const answer = await get(`${path}?${query}`);
  expect([answer.status, faultsOf(answer)]).toEqual([400, wrong]);
});

describe('revenue', () => {
  test('of a month adds up, from the credit at its start to that at its end', async () => {
    const { status, text } = await get('/console/revenue');
    expect(status).toBe(200);
    const { rows } = await db().query('select sum(balance)::text as sum from accounts where balance > 0');
    expect(text).toContain(exact(BigInt(rows[0].sum)));
  });

  test.each(['2026-13', 'october', '9999-01'])('of %s is refused', async (month) => {
    expect((await get(`/console/revenue?month=${month}`)).status).toBe(400);
  });
});

test('an error keeps the navigation, and leads to the section', async () => {
  for (const [path, status, section] of [
    ['/console/tenants/t_0123456789abcdef', 404, '/console/tenants'],
    ['/console/payments/evt_1', 404, '/console/payments'],
    ['/console/signing-keys/k/remove', 405, '/console/signing-keys'],
    ['/console/nowhere', 404, '/console'],
  ] as const) {
    const answer = await get(path);
    expect([path, answer.status]).toEqual([path, status]);
    expect(answer.text).toContain('<nav aria-label="Operators">');
    expect(answer.text).toContain(`<a href="${section}">Go to `);
  }
});
