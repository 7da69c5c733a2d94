import { beforeAll, describe, expect, test } from 'vitest';
import { grantCredit, voidGrant } from '../../../src/money/grants/grant-credit.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { expectError, expectOk } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const db = () => app.service.deps.db;
const list = (key: string, query = '') => app.request('GET', `/v1/grants${query}`, { key });

async function grant(to: TestTenant, amount: bigint, expiresAt?: Date): Promise<string> {
  const given = { amount, reason: 'a trial', expiresAt, key: undefined };
  return (await grantCredit(db(), OPERATOR, idOf(to), given)).grant.id;
}

describe('GET /v1/grants', () => {
  test('200: newest first, with what is left of each', async () => {
    expect(expectOk(await list(tenant.key))).toStrictEqual({ grants: [] });
    const first = await grant(tenant, 100n, new Date('2100-01-01'));
    const second = await grant(tenant, 50_000n, new Date('2090-01-01'));
    await voidGrant(db(), OPERATOR, idOf(tenant), { id: await grant(tenant, 5n), reason: 'a slip' });
    // It costs 12,000 micros.
    const records = [usageRecord({ tier: '2k_plus', seconds: 60, egress_bytes: 2 ** 52 })];
    expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } }));
    const amount = (micros: number) => ({ micros, display: expect.stringMatching(/^\$\d+\.\d{6}$/) });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const common = { id: expect.any(String), reason: 'a trial', granted_at: time };
    expect(expectOk(await list(tenant.key))).toStrictEqual({
      grants: [
        {
          ...common,
          state: 'voided',
          amount: amount(5),
          left: amount(0),
          spent: amount(0),
          forfeited: amount(5),
        },
        {
          ...common,
          id: second,
          state: 'active',
          amount: amount(50_000),
          left: amount(38_000),
          spent: amount(12_000),
          forfeited: amount(0),
          expires_at: '2090-01-01T00:00:00.000Z',
        },
        {
          ...common,
          id: first,
          state: 'active',
          amount: amount(100),
          left: amount(100),
          spent: amount(0),
          forfeited: amount(0),
          expires_at: '2100-01-01T00:00:00.000Z',
        },
      ],
    });
  });

  test('200: a page at a time', async () => {
    const other = await app.signUp();
    for (let count = 0; count < 101; count += 1) {
      const id = await grant(other, 1n);
      if (count > 0) await voidGrant(db(), OPERATOR, idOf(other), { id, reason: 'x' });
    }
    const page = expectOk(await list(other.key));
    expect(page.grants).toHaveLength(100);
    const next = expectOk(await list(other.key, `?cursor=${page.next_cursor}`));
    expect(next).toStrictEqual({ grants: [expect.objectContaining({ state: 'active' })] });
  });

  test.each(['x', '', Buffer.from('["gr_x"]').toString('base64url')])('400: cursor %s', async (cursor) => {
    const answer = await list(tenant.key, `?cursor=${cursor}`);
    expectError(answer, 400, 'invalid request: cursor must be one that an answer gave');
  });

  test('401 for a relay key', async () => {
    expectError(await list(tenant.relayKey), 401, 'invalid api key');
  });
});
