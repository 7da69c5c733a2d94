/** In which states of its tenant each route with a key is refused. Source: specification 3.1 and 7.1. */
import { beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../../src/doors/rest/server.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const STATES = ['active', 'suspended', 'archived', 'deleted'] as const;
const ONLY_DELETED = ['deleted'];
const NOT_ACTIVE = ['suspended', 'archived', 'deleted'];
const credential = { name: 'x', publish: ['audio'] };
const simulated = { participants: [{ role: 'host', tier: 'hd', count: 1, seconds: 60, egress_bytes: 1 }] };

/** The states in which a route is refused, and the smallest body that it takes. */
const EXPECTED: Readonly<Record<string, readonly [refusedIn: readonly string[], body?: object]>> = {
  'POST /v1/rates/simulate': [NOT_ACTIVE, simulated],
  'GET /v1/billing': [NOT_ACTIVE],
  'POST /v1/billing/checkout': [['archived', 'deleted'], { amount_cents: 2_000 }],
  'POST /v1/billing/portal': [NOT_ACTIVE],
  'PUT /v1/billing/auto-top-up': [NOT_ACTIVE, { enabled: false }],
  'GET /v1/billing/runway': [NOT_ACTIVE],
  'GET /v1/alerts': [NOT_ACTIVE],
  'PUT /v1/alerts': [NOT_ACTIVE, { thresholds: [] }],
  'GET /v1/budgets': [NOT_ACTIVE],
  'GET /v1/budgets/:id': [NOT_ACTIVE],
  'PUT /v1/budgets/:id': [NOT_ACTIVE, { period: 'day', limit_micros: 1, hard: false }],
  'DELETE /v1/budgets/:id': [NOT_ACTIVE],
  'GET /v1/grants': [NOT_ACTIVE],
  'GET /v1/payments': [NOT_ACTIVE],
  'GET /v1/payments/:id/receipt': [NOT_ACTIVE],
  'GET /v1/keys': [ONLY_DELETED],
  'POST /v1/keys': [ONLY_DELETED, { name: 'x' }],
  'DELETE /v1/keys/:id': [ONLY_DELETED],
  'POST /v1/keys/:id/rotate': [ONLY_DELETED, {}],
  'GET /v1/device-credentials': [ONLY_DELETED],
  'POST /v1/device-credentials': [ONLY_DELETED, credential],
  'DELETE /v1/device-credentials/:id': [ONLY_DELETED],
  'POST /v1/device-credentials/:id/rotate': [ONLY_DELETED, {}],
  'GET /v1/webhooks': [ONLY_DELETED],
  'GET /v1/webhooks/:id': [ONLY_DELETED],
  'POST /v1/webhooks': [ONLY_DELETED, { url: 'https://x.example/' }],
  'PATCH /v1/webhooks/:id': [ONLY_DELETED, { description: 'x' }],
  'DELETE /v1/webhooks/:id': [ONLY_DELETED],
  'POST /v1/webhooks/:id/rotate': [ONLY_DELETED, {}],
  'GET /v1/webhooks/:id/deliveries': [ONLY_DELETED],
  'GET /v1/webhooks/:id/dead-letters': [ONLY_DELETED],
  'POST /v1/webhooks/:id/test': [ONLY_DELETED],
  'POST /v1/webhooks/:id/resend': [ONLY_DELETED, { seq: 1 }],
  'GET /v1/events': [ONLY_DELETED],
  'POST /v1/usage': [[], { records: [] }],
  'GET /v1/usage/summary': [NOT_ACTIVE],
  'GET /v1/usage/records': [NOT_ACTIVE],
  'GET /v1/sessions': [NOT_ACTIVE],
  'GET /v1/sessions/:id': [NOT_ACTIVE],
  'GET /v1/rooms/:uid/cost': [NOT_ACTIVE],
  'GET /v1/usage/:id/explain': [NOT_ACTIVE],
  'POST /v1/usage/lookup': [[], { ids: [] }],
  'GET /v1/usage/conflicts': [NOT_ACTIVE],
  'GET /v1/ledger': [NOT_ACTIVE],
  'GET /v1/billing/details': [NOT_ACTIVE],
  'PUT /v1/billing/details': [NOT_ACTIVE, { name: 'Ada Video GmbH' }],
  'GET /v1/billing/time-zone': [NOT_ACTIVE],
  'PUT /v1/billing/time-zone': [NOT_ACTIVE, { time_zone: 'Europe/Berlin' }],
  'GET /v1/mail': [NOT_ACTIVE],
  'PUT /v1/mail': [NOT_ACTIVE, { addresses: [], alerts: true, receipts: true }],
  'GET /v1/audit': [ONLY_DELETED],
  'POST /v1/participants/erase': [ONLY_DELETED, { participant: 'x' }],
  'GET /v1/erasures/:id': [ONLY_DELETED],
  'GET /v1/statements': [NOT_ACTIVE],
  'GET /v1/statements/:month': [NOT_ACTIVE],
};

test('the table names every route with a key', () => {
  const keyed = ROUTES.filter(({ row }) => row.key !== undefined).map(({ row }) => row.path);
  expect(keyed.sort()).toEqual(Object.keys(EXPECTED).sort());
});

test.each(STATES)('a tenant that is %s', async (state) => {
  await setStatus(app, tenant, state);
  const refused = [];
  for (const [path, [, body]] of Object.entries(EXPECTED)) {
    const [method, url] = path.split(' ') as [string, string];
    const key = path.startsWith('POST /v1/usage') ? tenant.relayKey : tenant.key;
    const place = url.replace(':month', '2020-01').replace(':id', 'x');
    const answer = await app.request(method, place, { key, ...(body && { body }) });
    if (answer.json?.error === 'tenant is not active') refused.push(path);
  }
  const expected = Object.keys(EXPECTED).filter((path) => EXPECTED[path]![0].includes(state));
  expect(refused).toEqual(expected);
});
