import { beforeAll, describe, expect, test } from 'vitest';
import { post } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, NOT_INTEGERS, NOT_STRINGS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const put = (body: unknown, { key = tenant.key, headers = {} } = {}) =>
  app.request('PUT', '/v1/alerts', { key, body, headers });
const get = (key = tenant.key) => app.request('GET', '/v1/alerts', { key });
const balance = (below_micros: unknown) => ({ kind: 'balance', below_micros });
const runway = (below_hours: unknown) => ({ kind: 'runway', below_hours });
const unraised = { raised_at: null };

async function auditOf({ id, keyId }: TestTenant) {
  const { rows } = await app.service.deps.db.query(
    `select actor_id, address, action, subject, before, after from audit_entries
      where tenant_id = $1 and action = 'alerts_changed' order by seq`,
    [idOf({ id })],
  );
  for (const row of rows) expect(row).toMatchObject({ actor_id: keyId, address: '127.0.0.1', subject: null });
  return rows.map(({ before, after }) => [before.thresholds, after.thresholds]);
}

describe('/v1/alerts', () => {
  describe('200', () => {
    test('there are none until they are set', async () => {
      expect(expectOk(await get((await app.signUp()).key))).toStrictEqual({ thresholds: [] });
    });

    test('shows those of credit first, then the largest first', async () => {
      const thresholds = [
        runway(24),
        balance(0),
        runway(8_760),
        balance(2 ** 53 - 1),
        runway(1),
        balance(5_000_000),
      ];
      const body = expectOk(await put({ thresholds }));
      expect(body).toStrictEqual({
        thresholds: [
          { ...balance(2 ** 53 - 1), raised_at: expect.stringMatching(TIMESTAMP) },
          { ...balance(5_000_000), ...unraised },
          { ...balance(0), ...unraised },
          { ...runway(8_760), ...unraised },
          { ...runway(24), ...unraised },
          { ...runway(1), ...unraised },
        ],
      });
      expect(expectOk(await get())).toStrictEqual(body);
    });

    test('a threshold that stays keeps its state, a new one is raised at once, and one left out ends', async () => {
      const fresh = await app.paidTenant();
      const set = async (...thresholds: object[]) =>
        expectOk(await put({ thresholds }, { key: fresh.key })).thresholds;
      const [first] = await set(balance(30_000_000));
      expect(first.raised_at).toMatch(TIMESTAMP);
      expect(await set(balance(40_000_000), balance(30_000_000))).toStrictEqual([
        { ...balance(40_000_000), raised_at: expect.stringMatching(TIMESTAMP) },
        first,
      ]);
      expect(await set()).toStrictEqual([]);
      await post(app.service.deps.db, idOf(fresh), { kind: 'adjustment', amount: 50_000_000n });
      expect(await set(balance(30_000_000))).toStrictEqual([{ ...balance(30_000_000), ...unraised }]);
    });

    test('each change is in the audit trail, and what changes nothing is not', async () => {
      const fresh = await app.paidTenant();
      for (const thresholds of [[balance(1), runway(2)], [runway(2), balance(1)], []]) {
        expectOk(await put({ thresholds }, { key: fresh.key }));
      }
      expect(await auditOf(fresh)).toStrictEqual([
        [[], [balance(1), runway(2)]],
        [[balance(1), runway(2)], []],
      ]);
    });

    test('a repeated request with its key gets the first answer, and changes nothing', async () => {
      const fresh = await app.paidTenant();
      const send = (thresholds: object[], idempotencyKey: string) =>
        put({ thresholds }, { key: fresh.key, headers: { 'idempotency-key': idempotencyKey } });
      const first = expectOk(await send([balance(1)], 'a'));
      expectOk(await send([], 'b'));
      expect(expectOk(await send([balance(1)], 'a'))).toStrictEqual(first);
      expect(expectOk(await get(fresh.key))).toStrictEqual({ thresholds: [] });
      expect(await auditOf(fresh)).toHaveLength(2);
      const what = 'invalid request: Idempotency-Key was used for another request';
      expectError(await send([balance(2)], 'a'), 422, what);
    });

    test('twenty at once leave the thresholds of one of them', async () => {
      const fresh = await app.paidTenant();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          put({ thresholds: [balance(at), runway(at + 1)] }, { key: fresh.key }),
        ),
      );
      const bodies = answers.map((answer) => JSON.stringify(expectOk(answer)));
      expect(bodies).toContain(JSON.stringify(expectOk(await get(fresh.key))));
    });
  });

  describe('400', () => {
    const eleven = Array.from({ length: 11 }, (_, at) => balance(at));
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [{}, 'thresholds is required'],
      [{ thresholds: eleven }, 'thresholds must not have more than 10 items'],
      [{ thresholds: [], more: 1 }, 'more is not a known field'],
      [{ thresholds: [{}] }, 'thresholds/0/kind is required'],
      [{ thresholds: [{ ...balance(1), raised_at: null }] }, 'thresholds/0/raised_at is not a known field'],
      [{ thresholds: [balance(-1)] }, 'thresholds/0/below_micros must be >= 0'],
      [{ thresholds: [balance(2 ** 53)] }, `the number ${2 ** 53} of below_micros is out of range`],
      [{ thresholds: [balance(1), runway(0)] }, 'thresholds/1/below_hours must be >= 1'],
      [{ thresholds: [runway(8_761)] }, 'thresholds/0/below_hours must be <= 8760'],
      [{ thresholds: [{ kind: 'balance' }] }, 'thresholds/0/below_micros is required'],
      [{ thresholds: [{ kind: 'runway' }] }, 'thresholds/0/below_hours is required'],
      [{ thresholds: [{ kind: 'balance', below_hours: 1 }] }, 'thresholds/0/below_hours is not of balance'],
      [{ thresholds: [{ ...runway(1), below_micros: 1 }] }, 'thresholds/0/below_micros is not of runway'],
      [{ thresholds: [balance(1), runway(1), balance(1)] }, 'thresholds/2 is there twice'],
    ])('refuses the body %j', async (body, what) => {
      const before = expectOk(await get());
      expectError(await put(body), 400, `invalid request: ${what}`);
      expect(expectOk(await get())).toStrictEqual(before);
    });

    test.each(NOT_INTEGERS)('refuses %j as a number', async (value) => {
      const prefix = 'invalid request: thresholds/0/below_';
      expectError(await put({ thresholds: [balance(value)] }), 400, `${prefix}micros must be integer`);
      expectError(await put({ thresholds: [runway(value)] }), 400, `${prefix}hours must be integer`);
    });

    test.each([...NOT_STRINGS, ['Balance'], ['']])('refuses the kind %j', async (kind) => {
      const answer = await put({ thresholds: [{ kind, below_micros: 1 }] });
      expect([answer.status, answer.json.error]).toEqual([
        400,
        expect.stringMatching(/^invalid request: thresholds\/0\/kind must be /),
      ]);
    });

    test.each([[null], ['x'], [1], [{}]])('refuses thresholds %j', async (thresholds) => {
      expectError(await put({ thresholds }), 400, 'invalid request: thresholds must be array');
    });
  });

  test.each(['PUT', 'GET'])(
    '401: %s without a key, with a wrong one, or with one of a relay',
    async (method) => {
      const options = method === 'PUT' ? { body: { thresholds: [] } } : {};
      const error = 'invalid api key';
      for (const key of [undefined, 'svc_0123456789abcdef_x', tenant.relayKey]) {
        const answer = await app.request(method, '/v1/alerts', { key, ...options });
        expectError(answer, 401, error);
      }
    },
  );

  test.each(['suspended', 'archived', 'deleted'] as const)('403: the tenant is %s', async (status) => {
    const fresh = await app.paidTenant();
    await setStatus(app, fresh, status);
    const billing = await app.request('GET', '/v1/billing', { key: fresh.key });
    expectError(await get(fresh.key), billing.status, billing.json.error);
    expectError(await put({ thresholds: [] }, { key: fresh.key }), billing.status, billing.json.error);
  });

  test('405: other methods', async () => {
    expect((await app.request('POST', '/v1/alerts', { key: tenant.key, body: {} })).status).toBe(405);
  });
});
