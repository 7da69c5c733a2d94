/** What a key or a session has under way when it ends, makes nothing that outlives it. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { findInvitation } from '../../../src/access/members/memberships.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { lockTenant } from '../../../src/base/tenants/tenants.sql.ts';
import { cookieOf, getPage, joinByLink, makeMailLog, makeMember, sendForm } from '../../support/console.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type Answer, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const mails = makeMailLog();
const app = useService({ log: mails.log, isRestricted: true });
const db = () => app.service.deps.db;

/** Both wait for the lock of the tenant, and get it in this order. */
async function inOrder(
  tenant: { readonly id: string },
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<readonly [Answer, Answer]> {
  const answers: Promise<Answer>[] = [];
  await inTransaction(db(), async (tx) => {
    await lockTenant(tx, idOf(tenant));
    for (const ask of [first, second]) {
      answers.push(ask());
      await expect.poll(() => countLockWaiters(db())).toBe(answers.length);
    }
  });
  return (await Promise.all(answers)) as [Answer, Answer];
}

let clients = 0;
/** Each signup and each question for a link comes from another address. */
function client() {
  clients += 1;
  return { headers: { 'x-forwarded-for': `203.0.113.${clients}` } };
}

const count = async (tenant: { readonly id: string }, table: string) => {
  const { rows } = await db().query(`select count(*)::integer as count from ${table} where tenant_id = $1`, [
    idOf(tenant),
  ]);
  return rows[0].count as number;
};

describe('a key that is revoked', () => {
  let tenant: TestTenant;
  let leaked: { readonly id: string; readonly key: string };

  beforeEach(async () => {
    tenant = await app.paidTenant();
    const { json } = await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'leaked' } });
    leaked = { id: json.key.id, key: json.api_key };
  });

  const post = (path: string, body: unknown) => () => app.request('POST', path, { key: leaked.key, body });
  const WAYS: Readonly<Record<string, { readonly table: string; readonly ask: () => Promise<Answer> }>> = {
    'makes no key': { table: 'api_keys', ask: post('/v1/keys', { name: 'child' }) },
    'replaces no key': { table: 'api_keys', ask: () => post(`/v1/keys/${tenant.keyId}/rotate`, {})() },
    'makes no device credential': {
      table: 'device_credentials',
      ask: post('/v1/device-credentials', { name: 'camera', publish: [] }),
    },
    'makes no webhook': {
      table: 'webhook_endpoints',
      ask: post('/v1/webhooks', { url: 'https://x.example/' }),
    },
  };

  test.each(Object.entries(WAYS))('%s, though it asked before', async (_, { table, ask }) => {
    const before = await count(tenant, table);
    const revoke = () => app.request('DELETE', `/v1/keys/${leaked.id}`, { key: tenant.key });
    const [revoked, made] = await inOrder(tenant, revoke, ask);
    expect([revoked.status, made.status]).toEqual([204, 401]);
    expect(await count(tenant, table)).toBe(before);
  });

  test('logs nobody in by a link from before', async () => {
    const { json } = await app.request('POST', '/console/session', { key: leaked.key });
    await app.request('DELETE', `/v1/keys/${leaked.id}`, { key: tenant.key });
    const answer = await sendForm(app, new URL(json.url).pathname, {});
    expect([answer.status, cookieOf(answer)]).toEqual([404, '']);
  });
});

describe('the session of a stranger who signed up with the address of another person', () => {
  let tenant: { readonly id: string };
  let email: string;
  let stranger: string;
  let link: string;

  beforeEach(async () => {
    email = `victim-${randomUUID()}@example.com`;
    stranger = cookieOf(await sendForm(app, '/console/signup', { name: 'Theatre X', email }, client()));
    const { rows } = await db().query(
      `select 't_' || lpad(to_hex(tenant_id), 16, '0') as id from members where email = $1`,
      [email],
    );
    tenant = rows[0];
    await sendForm(app, '/console/login', { email }, client());
    link = await mails.linkTo(email);
  });

  const sayYes = () => joinByLink(app, link, tenant.id);
  const form = (path: string, fields: Record<string, string>) =>
    sendForm(app, path, { form: randomUUID(), ...fields }, { cookie: stranger });
  const makeKey = () => form('/console/keys', { name: 'mine', kind: 'backend' });
  const makeAgentKey = () =>
    form('/console/agents', { name: 'mine', role: 'viewer', writes: '0', days: '9' });
  const addWebhook = () => form('/console/webhooks', { url: 'https://x.example/', description: '' });
  const invite = () =>
    sendForm(
      app,
      '/console/members',
      { email: 'accomplice@example.com', role: 'owner' },
      { cookie: stranger },
    );

  test.each([
    ['key', 'api_keys', makeKey],
    ['key for agents', 'agent_keys', makeAgentKey],
    ['webhook', 'webhook_endpoints', addWebhook],
    ['member', 'members', invite],
  ])('adds no %s after the yes of that person', async (_, table, add) => {
    const before = await count(tenant, table);
    const [joined, added] = await inOrder(tenant, sayYes, add);
    expect([joined.status, added.status]).toEqual([303, 403]);
    expect(await count(tenant, table)).toBe(before);
    expect((await getPage(app, '/console', cookieOf(joined))).status).toBe(200);
  });

  test.each([
    ['key', makeKey],
    ['key for agents', makeAgentKey],
    ['member', invite],
  ])('cannot hide a %s that it adds at the last moment', async (_, add) => {
    const [, joined] = await inOrder(tenant, add, sayYes);
    const led = await getPage(app, '/console', cookieOf(joined));
    expect(led.headers.get('location')).toBe('/console/review');
  });

  test('"Remove all" removes what is made meanwhile too, and its makers make nothing more', async () => {
    const key = /svc_[0-9a-f]{16}_[\w-]+/.exec((await makeKey()).text)![0];
    const founder = cookieOf(await sayYes());
    const removeAll = () =>
      sendForm(app, '/console/review', { kind: 'all', answer: 'remove' }, { cookie: founder });
    const makeMore = () => app.request('POST', '/v1/keys', { key, body: { name: 'more' } });
    const [more, removed] = await inOrder(tenant, makeMore, removeAll);
    expect([more.status, removed.status]).toEqual([201, 303]);
    for (const each of [key, more.json.api_key]) {
      expect((await app.request('GET', '/v1/billing', { key: each })).status).toBe(401);
    }
    expect((await makeMore()).status).toBe(401);
    expect((await getPage(app, '/console', founder)).status).toBe(200);
  });

  test('the founder still reviews after another owner removed and invited the address again', async () => {
    const other = await makeMember(db(), idOf(tenant), { role: 'owner' });
    await makeKey();
    const { rows } = await db().query('select id from members where tenant_id = $1 and email = $2', [
      idOf(tenant),
      email,
    ]);
    await sendForm(app, `/console/members/${rows[0].id}/remove`, {}, { cookie: other.cookie });
    await sendForm(app, '/console/members', { email, role: 'owner' }, { cookie: other.cookie });
    const signup = await db().query('select created_at as at from tenants where id = $1', [idOf(tenant)]);
    expect((await findInvitation(db(), email, idOf(tenant)))?.foundedAt).toEqual(signup.rows[0].at);
    await sendForm(app, '/console/login', { email }, client());
    const joined = await joinByLink(app, await mails.linkTo(email), tenant.id);
    const led = await getPage(app, '/console', cookieOf(joined));
    expect(led.headers.get('location')).toBe('/console/review');
  });
});
