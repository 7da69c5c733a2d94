/** What a tenant has, asked for with the key of another one: no route finds it, tells of it or changes it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../../src/doors/rest/server.ts';
import { mint, newStage } from '../../control/moderation/support.ts';
import { assignAll } from '../../control/sessions/support.ts';
import { useControl } from '../../support/grpc.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { report } from './ledger-routes.ts';
import { expectOk } from './support.ts';

const app = useService();
const controlOf = useControl(app);

/** In each text that the owner may choose. */
const MARK = 'marked-by-its-owner';

let owner: TestTenant;
let stranger: TestTenant;
/** Each id that the owner reads in any answer. */
let ids: readonly string[];

const KEYED = ROUTES.filter(({ row }) => row.key === 'backend').map(({ row }) => {
  const [method = '', path = ''] = row.path.split(' ');
  const { properties = {} } = (row.query ?? {}) as { properties?: object };
  return { name: row.path, method, path, query: Object.keys(properties) };
});
/** The tenant chooses the ids of budgets, so that two tenants may have the same, and months are for all. */
const OF_ITS_OWN = ['PUT /v1/budgets/:id', 'GET /v1/statements/:month'];
const WITH_ID = KEYED.filter(({ name, path }) => path.includes(':') && !OF_ITS_OWN.includes(name));
const LISTS = KEYED.filter(({ method, path }) => method === 'GET' && !path.includes(':'));

/** The smallest bodies that these routes take. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /v1/webhooks/:id': { description: 'taken over' },
  'POST /v1/webhooks/:id/resend': { seq: 1 },
};

const ID = /^(?:[a-z]{2,3}_\w{8,}|[0-9a-f]{16})$/;

function idsIn(json: unknown): string[] {
  if (typeof json === 'string') return ID.test(json) || json.includes(MARK) ? [json] : [];
  return typeof json === 'object' && json !== null ? Object.values(json).flatMap(idsIn) : [];
}

const read = async (path: string, of: TestTenant) =>
  expectOk(await app.request('GET', path, { key: of.key }));

function askFor({ name, method, path }: (typeof WITH_ID)[number], id: string, { key }: TestTenant) {
  const body = BODIES[name];
  return app.request(method, path.replace(/:\w+/, encodeURIComponent(id)), { key, ...(body && { body }) });
}

/** All changes by a tenant are here. */
const auditOf = async (of: TestTenant) => (await read('/v1/audit?limit=500', of)).entries;

async function fill(of: TestTenant): Promise<void> {
  const make = async (method: string, path: string, body: object) => {
    const answer = await app.request(method, path, { key: of.key, body });
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  await make('POST', '/v1/keys', { name: MARK });
  await make('POST', '/v1/device-credentials', { name: MARK, publish: ['audio'], rooms: [MARK] });
  await make('POST', '/v1/webhooks', {
    url: 'http://127.0.0.1:1/',
    description: MARK,
    types: ['balance_low'],
  });
  await make('PUT', `/v1/budgets/${MARK}`, { period: 'day', limit_micros: 1_000_000, hard: false });
  await make('PUT', '/v1/billing/details', { name: MARK });
  await make('PUT', '/v1/mail', { addresses: [`${MARK}@example.com`], alerts: true, receipts: true });
  await make('POST', '/v1/participants/erase', { participant: `${MARK}-gone` });
  const record = { id: MARK, room: 'lobby', participant: MARK, tier: 'hd', seconds: 60, egress_bytes: 1 };
  await report(app, of, [usageRecord(record)]);
  await report(app, of, [usageRecord({ ...record, seconds: 30 })]);
}

beforeAll(async () => {
  const stage = await newStage(app, controlOf);
  owner = stage.tenant;
  stranger = await app.paidTenant();
  await mint(stage, MARK);
  await fill(owner);
  await assignAll(app.service.deps.db, idOf(owner));
  const answers = await Promise.all(LISTS.map(({ path }) => read(path, owner)));
  ids = [...new Set([owner.id, owner.keyId, owner.relayKeyId, MARK, ...answers.flatMap(idsIn)])];
});

test('the owner has ids and texts of its own in each list but those that have figures alone', async () => {
  const empty = [];
  for (const { path } of LISTS) if (idsIn(await read(path, owner)).length === 0) empty.push(path);
  expect(empty).toEqual([
    '/v1/billing/time-zone',
    '/v1/billing/runway',
    '/v1/alerts',
    '/v1/grants',
    '/v1/usage/summary',
    '/v1/statements',
  ]);
});

describe.each(WITH_ID.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  test('does not find what another tenant has, and changes nothing of it', async () => {
    const before = await auditOf(owner);
    const statuses = [];
    for (const id of ids) statuses.push((await askFor(route, id, stranger)).status);
    expect(new Set(statuses).difference(new Set([400, 404]))).toEqual(new Set());
    expect(statuses).toContain(404);
    expect(await auditOf(owner)).toEqual(before);
  });
});

test.each(WITH_ID.filter(({ method }) => method === 'GET').map((route) => [route.name, route] as const))(
  '%s finds what the owner has',
  async (_name, route) => {
    const answers = await Promise.all(ids.map((id) => askFor(route, id, owner)));
    expect(answers.map(({ status }) => status)).toContain(200);
  },
);

describe.each(LISTS.map((route) => [route.name, route] as const))('%s', (_name, { path, query }) => {
  test('tells nothing of another tenant, whatever is asked for', async () => {
    const filters = query.flatMap((name) => ids.map((id) => `?${name}=${encodeURIComponent(id)}`));
    for (const filter of ['', ...filters]) {
      const answer = await app.request('GET', path + filter, { key: stranger.key });
      expect([200, 400], `${filter}: ${answer.text}`).toContain(answer.status);
      if (answer.status === 400) continue;
      const told = idsIn(answer.json).filter((id) => ids.includes(id));
      expect(told, filter).toEqual([]);
    }
  });
});

test('a look-up of ids knows none of another tenant', async () => {
  const body = { ids: [MARK] };
  const askAs = async ({ relayKey: key }: TestTenant) =>
    expectOk(await app.request('POST', '/v1/usage/lookup', { key, body }));
  expect(await askAs(owner)).toMatchObject({ records: [{ outcome: 'charged' }] });
  expect(await askAs(stranger)).toEqual({ records: [{ id: MARK, outcome: 'unknown' }] });
});
