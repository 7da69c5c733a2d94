import { beforeEach, describe, expect, test } from 'vitest';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, setLimits } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, NOT_INTEGERS, NOT_STRINGS } from './support.ts';

const app = useService();
let tenant: TestTenant;
beforeEach(async () => {
  tenant = await app.paidTenant();
});

const put = (id: string, body: unknown) => app.request('PUT', `/v1/budgets/${id}`, { key: tenant.key, body });
const get = (id: string) => app.request('GET', `/v1/budgets/${id}`, { key: tenant.key });
const remove = (id: string) => app.request('DELETE', `/v1/budgets/${id}`, { key: tenant.key });

const body = { period: 'month', limit_micros: 5_000_000, hard: true };
const amount = (micros: number) => ({ micros, display: `$${(micros / 1e6).toFixed(6)}` });

describe('PUT /v1/budgets/{id}', () => {
  test('that waits too long for a lock changes nothing, and can be retried', async () => {
    const holder = await app.database.pool.connect();
    await holder.query('begin');
    await holder.query('select from tenants where id = $1 for update', [idOf(tenant)]);
    // As after `lock_timeout`, which is 8 seconds.
    const failing = put('all', body);
    await expect.poll(() => countLockWaiters(app.database.pool)).toBeGreaterThan(0);
    await holder.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    const answer = await failing;
    await holder.query('rollback');
    holder.release();
    expectError(answer, 503, 'the service is busy: try again');
    expect(answer.headers.get('retry-after')).toBe('2');
    expectError(await get('all'), 404, 'not found');
  });

  test('makes a budget, and shows all of it', async () => {
    const given = {
      ...body,
      key: tenant.keyId,
      room: 'class-*',
      customer: 'acme',
      alert_percents: [100, 50],
    };
    const made = expectOk(await put('acme-monthly', given));
    expect(made).toStrictEqual({
      id: 'acme-monthly',
      ...{ key: tenant.keyId, room: 'class-*', customer: 'acme', period: 'month', hard: true },
      alert_percents: [50, 100],
      uid: expect.stringMatching(/^bu_[0-9a-f]{32}$/),
      limit: amount(5_000_000),
      ...{ spent: amount(0), held: amount(0), free: amount(5_000_000), beyond: amount(0) },
      period_started_at: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
      created_at: expect.stringMatching(TIMESTAMP),
    });
    expect(expectOk(await get('acme-monthly'))).toStrictEqual(made);
  });

  test('changes the amount, the kind and the percents, and nothing else', async () => {
    expectOk(await put('all', body));
    const changed = { ...body, limit_micros: 0, hard: false, alert_percents: [80] };
    expect(expectOk(await put('all', changed))).toMatchObject({ limit: amount(0), hard: false });
    for (const other of [{ period: 'day' }, { room: 'lobby' }, { key: tenant.keyId }, { customer: 'acme' }]) {
      const [field] = Object.keys(other);
      const text = `invalid request: ${field} cannot be changed: delete the budget and make another one`;
      expectError(await put('all', { ...body, ...other }), 400, text);
    }
  });

  test.each([
    [{ ...body, limit_micros: -1 }, 'limit_micros must be >= 0'],
    [{ ...body, limit_micros: 2 ** 53 }, 'the number 9007199254740992 of limit_micros is out of range'],
    [{ ...body, period: 'week' }, 'period must be one of day, month, total'],
    [{ ...body, room: 'no spaces' }, 'room must match'],
    [{ ...body, key: 'x' }, 'key must match'],
    [{ ...body, customer: '' }, 'customer must'],
    [{ ...body, customer: 'x'.repeat(129) }, 'customer must'],
    [{ ...body, customer: 'a\nb' }, 'customer must be one line'],
    [{ ...body, customer: 'a\u202eb' }, 'customer must be one line'],
    [{ ...body, alert_percents: [0] }, 'alert_percents/0 must be >= 1'],
    [{ ...body, alert_percents: [101] }, 'alert_percents/0 must be <= 100'],
    [{ ...body, alert_percents: [50, 50] }, 'alert_percents must'],
    [{ ...body, more: 1 }, 'more'],
    [{ period: 'day', limit_micros: 1 }, 'hard is required'],
  ])('refuses %j', async (wrong, message) => {
    const answer = await put('all', wrong);
    expect(answer.status).toBe(400);
    expect(answer.json.error).toContain(message);
  });

  test('refuses more than int64, and what is no integer', async () => {
    const raw = '{"period":"day","limit_micros":9223372036854775808,"hard":true}';
    const answer = await app.request('PUT', '/v1/budgets/all', { key: tenant.key, raw });
    expect(answer.status).toBe(400);
    for (const limit_micros of NOT_INTEGERS)
      expect((await put('all', { ...body, limit_micros })).status).toBe(400);
    for (const customer of NOT_STRINGS) expect((await put('all', { ...body, customer })).status).toBe(400);
  });

  test('refuses keys that can admit none', async () => {
    const other = await app.paidTenant();
    const create = async (path: string, fields: object) =>
      expectOk(await app.request('POST', path, { key: tenant.key, body: { name: 'any', ...fields } }), 201);
    const relay = await create('/v1/keys', { kind: 'relay' });
    const text = 'invalid request: key must be the id of a backend key or a device credential of the tenant';
    for (const key of ['0000000000000000', other.keyId, relay.key.id])
      expectError(await put('of-key', { ...body, key }), 400, text);
    const { device_credential: credential } = await create('/v1/device-credentials', { publish: ['audio'] });
    expectOk(await put('of-key', { ...body, key: credential.id }));
  });

  test('refuses ids that are none', async () => {
    for (const id of ['A', '-a', 'a'.repeat(65), 'a%20b']) expect((await put(id, body)).status).toBe(400);
  });

  test('refuses more than the limit of the tenant, and one fits again after a deletion', async () => {
    await setLimits(app.service.deps.db, tenant, { budgets: 2 });
    for (const id of ['one', 'two']) expectOk(await put(id, body));
    expectError(await put('three', body), 409, 'limit reached: at most 2 budgets');
    expectOk(await put('two', { ...body, limit_micros: 1 }));
    expect((await remove('one')).status).toBe(204);
    expectOk(await put('three', body));
  });
});

test('GET /v1/budgets lists those of the tenant by id', async () => {
  for (const id of ['b', 'a']) expectOk(await put(id, body));
  const other = await app.paidTenant();
  const ids = async (key: string) =>
    expectOk(await app.request('GET', '/v1/budgets', { key })).budgets.map((each: { id: string }) => each.id);
  expect(await ids(tenant.key)).toEqual(['a', 'b']);
  expect(await ids(other.key)).toEqual([]);
});

test('a budget that is deleted or of another tenant is not there', async () => {
  expectOk(await put('all', body));
  const other = await app.paidTenant();
  for (const method of ['GET', 'DELETE']) {
    expectError(await app.request(method, '/v1/budgets/all', { key: other.key }), 404, 'not found');
  }
  expect((await remove('all')).status).toBe(204);
  expectError(await get('all'), 404, 'not found');
  expectError(await remove('all'), 404, 'not found');
});
