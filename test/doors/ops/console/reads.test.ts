/** What operators read of a tenant, and what the tenant learns of that. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { OPS_ROUTES } from '../../../../src/doors/ops/console/routes.ts';
import { getPage, makeMember } from '../../../support/console.ts';
import { getOpsPage, makeOperator, sendOpsForm, type TestOperator } from '../../../support/operators.ts';
import { type Answer, type TestTenant, usageRecord, useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
const SECRET_PATH = 'very-secret-path';
let tenant: TestTenant;
let grace: TestOperator;
let webhook: string;

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 5000 });
  grace = await makeOperator(db());
  const records = Array.from({ length: 60 }, (_, at) =>
    usageRecord({ id: `r-${at}`, room: `<b>room ${at}` }),
  );
  await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  const url = `https://hooks.example/${SECRET_PATH}`;
  const body = { url, types: ['credit_spent'], description: 'the <i>first' };
  const made = await app.request('POST', '/v1/webhooks', { key: tenant.key, body });
  webhook = made.json.webhook.id;
  await db().query(
    `insert into webhook_deliveries (tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, status, error, answer)
     select $1, $2, 'event', 'evt_' || n, n, 'credit_spent', 1, 7, case when n % 2 = 0 then 500 end,
            case when n % 2 = 1 then 'said: whisper' end, case when n % 2 = 0 then 'body: whisper' end
       from generate_series(1, 30) n`,
    [idOf(tenant), webhook],
  );
  await db().query(
    `update webhook_cursors set paused_by = 'failing', paused_at = now(), failures = 17 where tenant_id = $1`,
    [idOf(tenant)],
  );
  await db().query(
    `insert into sessions (tenant_id, id, room, room_uid, participant, role, entered_at)
     select $1, 'se_' || md5(n::text), 'room-' || n, 'rm_1', 'p', 'host', now() - n * interval '1 minute'
       from generate_series(1, 60) n`,
    [idOf(tenant)],
  );
});

const get = (path: string, { cookie } = grace) =>
  getOpsPage(app, `/console/tenants/${tenant.id}/${path}`, cookie);
/** How many rows its lists have; tables of facts do not count. */
const rowsOf = ({ text }: Answer) =>
  [...text.matchAll(/<table class="rows.*?<tbody>(.*?)<\/tbody>/gs)].flatMap(
    ([, rows]) => rows!.match(/<tr>/g)!,
  ).length;
const older = ({ text }: Answer) =>
  /\/console\/tenants\/t_\w+\/([^"]+)" rel="next"/.exec(text)![1]!.replaceAll('&amp;', '&');

async function readsOf(of: TestTenant): Promise<{ actor: object; subject: string }[]> {
  const answer = await app.request('GET', '/v1/audit?action=operator_read', { key: of.key });
  return answer.json.entries.reverse();
}

describe('of a tenant, operators read', () => {
  test('the ledger, filtered and a page at a time, with links of their own console', async () => {
    const first = await get('ledger');
    expect([first.status, rowsOf(first)]).toEqual([200, 50]);
    const rest = await get(older(first));
    expect(rowsOf(rest)).toBe(11);
    expect(rest.text).toContain(`href="/console/payments?tenant=${tenant.id}"`);
    expect(first.text + rest.text).not.toMatch(/\/console\/(charge|ledger)|<b>/);
    expect(rowsOf(await get('ledger?kind=top_up'))).toBe(1);
    expect((await get('ledger?from=yesterday')).status).toBe(400);
    const stranger = await app.paidTenant();
    const { status } = await getOpsPage(app, `/console/tenants/${stranger.id}/${older(first)}`, grace.cookie);
    expect(status).toBe(400);
  });

  test('the members, without a form', async () => {
    const { email } = await makeMember(db(), idOf(tenant), { role: 'finance' });
    const { text } = await get('members');
    expect(text).toContain(email);
    expect(text).toContain('finance');
    expect(text).not.toContain('/console/members');
  });

  test('sessions in rooms, filtered and a page at a time', async () => {
    const first = await get('room-sessions');
    expect([rowsOf(first), rowsOf(await get(older(first)))]).toEqual([50, 10]);
    expect(rowsOf(await get('room-sessions?room=room-7'))).toBe(1);
    expect(first.text).not.toMatch(/"\/console\/room-(sessions|cost)/);
  });

  test('webhooks and deliveries: the host alone, and nothing that a receiver said', async () => {
    const list = await get('webhooks');
    expect(list.text).toContain(`href="/console/tenants/${tenant.id}/webhooks/${webhook}"`);
    const first = await get(`webhooks/${webhook}`);
    const rest = await get(older(first));
    expect([rowsOf(first), rowsOf(rest)]).toEqual([25, 5]);
    for (const shown of [
      'hooks.example',
      'the &lt;i&gt;first',
      'paused: deliveries failed',
      '>17<',
      'no answer',
    ])
      expect(first.text).toContain(shown);
    for (const { text } of [list, first, rest])
      expect(text).not.toMatch(/very-secret|whisper|"\/console\/webhooks/);
    expect((await get(`webhooks/wh_${'0'.repeat(32)}`)).status).toBe(404);
  });
});

describe('a look', () => {
  const PAGES = [
    ['ledger', 'ledger'],
    ['members', 'members'],
    ['room-sessions', 'room_sessions'],
    ['webhooks', 'webhooks'],
    ['details', 'billing_details'],
  ] as const;

  test('is told to the tenant once an hour for each operator and kind of page', async () => {
    tenant = await app.paidTenant();
    const ada = await makeOperator(db(), { name: 'ada' });
    for (const [page] of PAGES) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => get(page)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const subjects = PAGES.map(([, subject]) => subject);
    const told = await readsOf(tenant);
    expect(told.map(({ subject }) => subject)).toEqual(subjects);
    expect(told[0]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      actor: { kind: 'operator' },
      action: 'operator_read',
      subject: 'ledger',
    });
    await get('ledger', ada);
    const { rows } = await db().query(
      `select actor_id as id from audit_entries where action = 'operator_read' and subject = 'ledger' and tenant_id = $1 order by seq`,
      [idOf(tenant)],
    );
    expect(rows.map(({ id }) => id)).toEqual(['grace', 'ada']);
    const owner = await makeMember(db(), idOf(tenant));
    const { text } = await getPage(app, '/console/audit', owner.cookie);
    expect(text).toContain('operator read');
    expect(text).not.toContain('grace');
  });

  test('of the next hour is told again', async () => {
    const of = await app.paidTenant();
    const earlier = (hours: number) =>
      db().query(
        `insert into audit_entries (id, tenant_id, at, actor_kind, actor_id, action, subject)
         values ($1, $2, now() - make_interval(hours => $3), 'operator', 'grace', 'operator_read', 'ledger')`,
        [randomUUID(), idOf(of), hours],
      );
    await earlier(2);
    await earlier(1);
    await expect(earlier(1)).rejects.toThrow('operator_reads_once');
    await getOpsPage(app, `/console/tenants/${of.id}/ledger`, grace.cookie);
    expect(await readsOf(of)).toHaveLength(3);
  });

  test('that shows nothing is not told', async () => {
    tenant = await app.paidTenant();
    for (const path of ['ledger?from=yesterday', 'room-sessions?key=x', `webhooks/wh_${'0'.repeat(32)}`])
      expect((await get(path)).status).toBeGreaterThanOrEqual(400);
    expect(await readsOf(tenant)).toEqual([]);
  });

  test('every page of what a tenant has says what it reads', () => {
    const told = OPS_ROUTES.filter((each) => 'reads' in each).map(({ path }) => path.split('/')[4]);
    expect([...new Set(told)].sort()).toEqual(PAGES.map(([page]) => page).toSorted());
  });
});

describe('name and billing details', () => {
  const path = () => `/console/tenants/${tenant.id}/details`;
  const send = (fields: Record<string, string>) => sendOpsForm(app, path(), fields, { cookie: grace.cookie });
  const faultsOf = ({ text }: Answer) => [...text.matchAll(/id="(\w+)-fault"/g)].map(([, name]) => name);
  const DETAILS = { name: 'Ada <Video> Ltd', line1: '1 Example Street', line3: 'Exampletown', tax_id: 'DE1' };

  test('are those of the form from then on, by the operation of the tenant’s own, with a reason', async () => {
    tenant = await app.paidTenant();
    const fields = { tenant_name: ' Ada & Grace ', ...DETAILS, reason: 'a merger' };
    expect((await send(fields)).status).toBe(303);
    const details = await app.request('GET', '/v1/billing/details', { key: tenant.key });
    const address = ['1 Example Street', 'Exampletown'];
    expect(details.json).toEqual({ name: 'Ada <Video> Ltd', address, tax_id: 'DE1' });
    expect((await get('details')).text).toMatch(/id="tenant_name"[^>]* value="Ada &amp; Grace"/);
    const { rows } = await db().query(
      `select action, actor_id as by, before, after from audit_entries where tenant_id = $1 and actor_id = 'grace' order by seq limit 2`,
      [idOf(tenant)],
    );
    expect(rows).toEqual([
      {
        action: 'tenant_renamed',
        by: 'grace',
        before: { name: expect.any(String) },
        after: { name: 'Ada & Grace', reason: 'a merger' },
      },
      {
        action: 'billing_details_changed',
        by: 'grace',
        before: { name: null, address: [], tax_id: null },
        after: { name: 'Ada <Video> Ltd', address, tax_id: 'DE1', reason: 'a merger' },
      },
    ]);
    // The same again changes nothing, and leaves no entry.
    const count = async () => (await db().query('select count(*) from audit_entries')).rows[0];
    const before = await count();
    expect((await send({ ...fields, reason: 'again' })).status).toBe(303);
    expect(await count()).toEqual(before);
  });

  test('a refused form shows what was typed alone: it leaves no entry of a reading', async () => {
    const refused = await send({ reason: '' });
    expect([refused.status, refused.text.includes('1 Example Street')]).toEqual([400, false]);
    expect((await get('details')).text).toContain('1 Example Street');
  });

  test('that are wrong are told beside the fields, and nothing of them is saved', async () => {
    tenant = await app.paidTenant();
    const wrong = await send({ tenant_name: '', name: 'a\u0007', line1: '1', reason: ' ' });
    expect([wrong.status, faultsOf(wrong)]).toEqual([400, ['tenant_name', 'name', 'reason']]);
    const second = await send({ tenant_name: 'Ada', line4: 'x'.repeat(101), tax_id: 'kept', reason: 'a' });
    expect([second.status, faultsOf(second)]).toEqual([400, ['line4']]);
    expect(second.text).toMatch(/id="tax_id"[^>]* value="kept"/);
    expect((await app.request('GET', '/v1/billing/details', { key: tenant.key })).json).toEqual({});
    const { rows } = await db().query('select name from tenants where id = $1', [idOf(tenant)]);
    expect(rows[0].name).not.toBe('Ada');
  });
});
