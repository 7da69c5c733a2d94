import { afterAll, describe, expect, it } from 'vitest';
import { CURRENT_RULE } from '../../../src/money/pricing/pricing-rule.ts';
import { BUILT_IN_RATES } from '../../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';

async function charge(app: ReturnType<typeof useService>, tenant: TestTenant, records: unknown[]) {
  const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

const tiny = () => usageRecord({ role: 'audience', tier: 'audio', seconds: 10, egress_bytes: 26_844 });

describe('a rate card that changes between batches', () => {
  const app = useService();
  // Nothing in the ledger is ever changed, so one check at the end sees every mistake.
  afterAll(async () => expect(await checkLedger(app.service.deps.db)).toEqual([]));

  it('prices later usage, and every charge names its card', async () => {
    const { db } = app.service.deps;
    const tenant = await app.paidTenant();
    const gib = () => usageRecord({ egress_bytes: 2 ** 30, seconds: 3600 });
    expect((await charge(app, tenant, [gib()])).total.micros).toBe(20_000);
    const first = gib();
    await loadRates(db, OPERATOR, { ...BUILT_IN_RATES, platform_fee_per_gib: '0.07' });
    expect((await charge(app, tenant, [first])).total.micros).toBe(70_000);
    expect(await charge(app, tenant, [first])).toMatchObject({ duplicates: 1, total: { micros: 0 } });
    const { rows } = await db.query(
      `select rate_version, rule_version, rounding from postings where kind = 'usage' order by seq`,
    );
    expect(rows).toEqual([
      { rate_version: 1, rule_version: CURRENT_RULE.version, rounding: 'c' },
      { rate_version: 2, rule_version: CURRENT_RULE.version, rounding: 'c' },
    ]);
  });

  it('neither loses nor gains a fraction of a micro during concurrent batches', async () => {
    const { db } = app.service.deps;
    const tenant = await app.paidTenant();
    const changes = (async () => {
      for (const fee of ['0.03', '0.000001', '999999.999999', '0.02']) {
        await loadRates(db, OPERATOR, { ...BUILT_IN_RATES, platform_fee_per_gib: fee });
      }
    })();
    await Promise.all(
      Array.from({ length: 20 }, () => charge(app, tenant, Array.from({ length: 40 }, tiny))),
    );
    await changes;
  });
});

describe('rounding with a carry', () => {
  const app = useService();

  it('adds up to the exact price of records that are each half a micro', async () => {
    const tenant = await app.paidTenant();
    const batch = Array.from({ length: 10 }, tiny);
    expect((await charge(app, tenant, batch)).total.micros).toBe(5);
    expect(await checkLedger(app.service.deps.db)).toEqual([]);
  });
});

describe('rounding per record', () => {
  const app = useService({ billingRounding: 'per_record' });

  it('rounds each record half-up on its own', async () => {
    const tenant = await app.paidTenant();
    const batch = Array.from({ length: 10 }, tiny);
    expect((await charge(app, tenant, batch)).total.micros).toBe(10);
    const less = Array.from({ length: 10 }, () => ({ ...tiny(), egress_bytes: 26_843 }));
    expect((await charge(app, tenant, less)).total.micros).toBe(0);
    const { rows } = await app.service.deps.db.query('select distinct carry from accounts');
    expect(rows).toEqual([{ carry: 1_006_632_960_000n }]);
    const postings = await app.service.deps.db.query(
      `select distinct rounding from postings where kind = 'usage'`,
    );
    expect(postings.rows).toEqual([{ rounding: 'r' }]);
    expect(await checkLedger(app.service.deps.db, 'per_record')).toEqual([]);
  });
});
