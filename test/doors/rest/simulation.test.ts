import { beforeAll, describe, expect, test } from 'vitest';
import { tellingStatements } from '../../../src/money/statements/tell-statements.ts';
import { assignAll } from '../../control/sessions/support.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { amount, expectError, expectOk, NOT_INTEGERS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

const PATH = '/v1/rates/simulate';
const DENOMINATOR = '2013265920000';

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const post = (body: unknown, key = tenant.key) => app.request('POST', PATH, { key, body });
const simulate = (participants: unknown, key = tenant.key) => post({ participants }, key);

function participants(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { role: 'host', tier: 'full_hd', count: 1, seconds: 60, egress_bytes: 30_000_000, ...fields };
}

const exact = (decimal: string, numerator: string) => ({ decimal, numerator, denominator: DENOMINATOR });

/** The records of the example in docs/usage.md. */
const EXAMPLE = [
  participants(),
  participants({ role: 'audience', tier: 'hd', egress_bytes: 90_000_000 }),
  participants({ role: 'audience', tier: 'audio', seconds: 10, egress_bytes: 80_000 }),
];

describe('POST /v1/rates/simulate', () => {
  describe('200', () => {
    test('prices the example of the documentation for a new tenant', async () => {
      expect(expectOk(await simulate(EXAMPLE))).toStrictEqual({
        rate_version: 1,
        rule_version: 1,
        rounding: 'carry',
        lines: [
          {
            participants: 1,
            records: 1,
            fee: exact('558.7935447692871', '1125000000000000'),
            ceiling: exact('3000.000000', '6039797760000000'),
            capped: false,
            price: exact('558.7935447692871', '1125000000000000'),
            amount: amount(559),
          },
          {
            participants: 1,
            records: 1,
            fee: exact('1676.3806343078613', '3375000000000000'),
            ceiling: exact('800.000000', '1610612736000000'),
            capped: true,
            price: exact('800.000000', '1610612736000000'),
            amount: amount(800),
          },
          {
            participants: 1,
            records: 1,
            fee: exact('1.4901161193848', '3000000000000'),
            ceiling: exact('50.000000', '100663296000000'),
            capped: false,
            price: exact('1.4901161193848', '3000000000000'),
            amount: amount(1),
          },
        ],
        participants: 3,
        records: 3,
        price: exact('1360.2836608886719', '2738612736000000'),
        total: amount(1_360),
        carry_before: exact('0.500000', '1006632960000'),
        carry_after: exact('0.7836608886719', '1577717760000'),
        exempt: false,
        balance: amount(20_000_000),
        balance_after: amount(19_998_640),
        covered: true,
      });
    });

    test('counts participants, and the records of a relay that reports intervals', async () => {
      const answer = expectOk(
        await simulate([
          participants({ count: 40, seconds: 3_600, interval_seconds: 30 }),
          participants({ count: 2, seconds: 100, interval_seconds: 30 }),
        ]),
      );
      expect(answer).toMatchObject({ participants: 42, records: 40 * 120 + 2 * 4 });
      expect(answer.lines.map(({ records }: { records: number }) => records)).toEqual([4_800, 8]);
    });

    test('writes nothing, and is charged by a later report just so', async () => {
      const fresh = await app.paidTenant();
      // Jobs of the service would write their first rows of a tenant later.
      await tellingStatements(app.service.deps)();
      await assignAll(app.service.deps.db, idOf(fresh));
      const before = await readTables(fresh);
      const { total } = expectOk(await simulate(EXAMPLE, fresh.key));
      expect(await readTables(fresh)).toEqual(before);

      const records = EXAMPLE.map(({ count: _, ...fields }) => usageRecord(fields));
      const charged = await app.request('POST', '/v1/usage', { key: fresh.relayKey, body: { records } });
      expect(expectOk(charged).total).toEqual(total);
    });

    test('says whether the credit covers it', async () => {
      // A day at the ceiling costs $17.28.
      const host = participants({ tier: '2k_plus', seconds: 86_400, egress_bytes: 2 ** 50 });
      expect(expectOk(await simulate([host]))).toMatchObject({
        total: amount(17_280_000),
        balance_after: amount(2_720_000),
        covered: true,
      });
      expect(expectOk(await simulate([{ ...host, count: 2 }]))).toMatchObject({
        total: amount(34_560_000),
        balance_after: amount(-14_560_000),
        covered: false,
      });
      // To the last micro: nothing is left, and nothing is missing.
      const rest = [host, participants({ seconds: 86_400, egress_bytes: 136 * 2 ** 30 })];
      expect(expectOk(await simulate(rest))).toMatchObject({ balance_after: amount(0), covered: true });
    });

    test('says so for a tenant that never paid', async () => {
      const fresh = await app.signUp();
      expect(expectOk(await simulate(EXAMPLE, fresh.key))).toMatchObject({
        balance: amount(0),
        balance_after: amount(-1_360),
        covered: false,
      });
      const free = [participants({ egress_bytes: 0 })];
      expect(expectOk(await simulate(free, fresh.key))).toMatchObject({ total: amount(0), covered: true });
    });

    test('says that an exempt tenant is not charged', async () => {
      const fresh = await app.signUp();
      await app.service.deps.db.query('update tenants set exempt = true where id = $1', [idOf(fresh)]);
      expect(expectOk(await simulate(EXAMPLE, fresh.key))).toMatchObject({
        total: amount(1_360),
        exempt: true,
        balance_after: amount(0),
        covered: true,
      });
    });

    test('takes the largest room', async () => {
      const largest = participants({
        count: 100_000,
        seconds: 86_400,
        egress_bytes: 2 ** 53 - 1,
        interval_seconds: 1,
      });
      const answer = expectOk(await simulate(Array.from({ length: 50 }, () => largest)));
      expect(answer).toMatchObject({
        participants: 5_000_000,
        records: 432_000_000_000,
        total: amount(21_600_000_000_000),
        covered: false,
      });
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [[], 'body must be object'],
      [{}, 'participants is required'],
      [{ participants: null }, 'participants must be array'],
      [{ participants: {} }, 'participants must be array'],
      [{ participants: [] }, 'participants must not be empty'],
      [{ participants: [null] }, 'participants/0 must be object'],
      [{ participants: [[]] }, 'participants/0 must be object'],
      [{ participants: [participants()], room: 'x' }, 'room is not a known field'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await post(body), 400, `invalid request: ${what}`);
    });

    test.each([
      [{ role: 'Host' }, 'role must be one of host, audience, broadcast_audience'],
      [{ role: undefined }, 'role is required'],
      [{ tier: '4k' }, 'tier must be one of audio, hd, full_hd, 2k, 2k_plus'],
      [{ tier: null }, 'tier must be string'],
      [{ count: 0 }, 'count must be >= 1'],
      [{ count: -1 }, 'count must be >= 1'],
      [{ count: 100_001 }, 'count must be <= 100000'],
      [{ count: undefined }, 'count is required'],
      [{ seconds: -1 }, 'seconds must be >= 0'],
      [{ seconds: 86_401 }, 'seconds must be <= 86400'],
      [{ egress_bytes: -1 }, 'egress_bytes must be >= 0'],
      [{ egress_bytes: undefined }, 'egress_bytes is required'],
      [{ interval_seconds: 0 }, 'interval_seconds must be >= 1'],
      [{ interval_seconds: 86_401 }, 'interval_seconds must be <= 86400'],
      [{ minutes: 1 }, 'minutes is not a known field'],
      [{ ingress_bytes: 1 }, 'ingress_bytes is not a known field'],
    ])('refuses participants with %j', async (fields, what) => {
      const [field] = what.split(' ');
      const answer = await simulate([participants(), participants(fields)]);
      expectError(answer, 400, `invalid request: participants/1/${field}${what.slice(field!.length)}`);
    });

    describe.each(['count', 'seconds', 'egress_bytes', 'interval_seconds'])('%s', (field) => {
      test.each(NOT_INTEGERS)('refuses %j', async (value) => {
        expectError(
          await simulate([participants({ [field]: value })]),
          400,
          `invalid request: participants/0/${field} must be integer`,
        );
      });
    });

    test.each([
      ['9007199254740992', 'the number 9007199254740992 of egress_bytes'],
      ['-9007199254740993', 'the number -9007199254740993 of egress_bytes'],
      ['1.0000000000000000001', 'the number 1.0000000000000000001 of egress_bytes'],
      ['1e300', 'a number'],
    ])('refuses %s bytes', async (bytes, what) => {
      const body = { participants: [participants({ egress_bytes: 7 })] };
      const raw = JSON.stringify(body).replace('"egress_bytes":7', `"egress_bytes":${bytes}`);
      const answer = await app.request('POST', PATH, { key: tenant.key, raw });
      expectError(answer, 400, `invalid request: ${what} is out of range`);
    });

    test('refuses more than 50 lines', async () => {
      const lines = Array.from({ length: 51 }, () => participants());
      expectError(
        await simulate(lines),
        400,
        'invalid request: participants must not have more than 50 items',
      );
    });
  });

  describe('401', () => {
    test('refuses a relay key before it reads the body', async () => {
      const answer = await app.request('POST', PATH, { key: tenant.relayKey, raw: '{' });
      expectError(answer, 401, 'invalid api key');
    });

    test('refuses a request without a key', async () => {
      expectError(await app.request('POST', PATH, { body: {} }), 401, 'invalid api key');
    });
  });

  describe('403', () => {
    test.each(['suspended', 'archived', 'deleted'] as const)(
      'refuses a tenant that is %s',
      async (status) => {
        const fresh = await app.signUp();
        await setStatus(app, fresh, status);
        expectError(await simulate(EXAMPLE, fresh.key), 403, 'tenant is not active');
      },
    );
  });

  test('405 for other methods', async () => {
    const answer = await app.request('GET', PATH, { key: tenant.key });
    expectError(answer, 405, 'method not allowed');
  });
});

/** The number of the tenant's rows in each table but `last_uses`, which any call changes later, and its account. */
async function readTables(of: TestTenant): Promise<unknown> {
  const { db } = app.service.deps;
  const { rows } = await db.query<{ table: string }>(
    `select table_name as table from information_schema.columns
      where table_schema = 'public' and column_name = 'tenant_id' and table_name <> all('{last_uses,key_use_hours}') order by 1`,
  );
  expect(rows.length).toBeGreaterThan(10);
  const counts = await Promise.all(
    rows.map(async ({ table }) => {
      const counted = await db.query(`select count(*) from "${table}" where tenant_id = $1`, [idOf(of)]);
      return [table, counted.rows[0].count];
    }),
  );
  const account = await db.query('select * from accounts where tenant_id = $1', [idOf(of)]);
  return { counts, account: account.rows };
}
