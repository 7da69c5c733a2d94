import { beforeEach, describe, expect, it } from 'vitest';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import type { Rounding } from '../../../src/money/pricing/carry.ts';
import { CURRENT_RULE, type PricingRule } from '../../../src/money/pricing/pricing-rule.ts';
import { PRICE_DENOMINATOR } from '../../../src/money/pricing/usage-price.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import {
  PARTS,
  RECOMPUTE_RULES,
  type RecomputeRules,
} from '../../../src/money/verification/recompute-rules.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { recomputeCharges } from '../../support/recompute.ts';
import { useService } from '../../support/service.ts';

const app = useService();
const db = () => app.service.deps.db;

/** Twice the price, never capped, each record rounded up, and the carry unchanged. */
const RULE_2: PricingRule = {
  ...CURRENT_RULE,
  version: 2,
  price: (usage, rates) => ({
    numerator: 2n * CURRENT_RULE.price(usage, rates).numerator,
    capped: false,
  }),
  settle: (numerator, carry) => ({
    amount: (numerator + PRICE_DENOMINATOR - 1n) / PRICE_DENOMINATOR,
    carry,
  }),
};
const RULES: RecomputeRules = {
  ...RECOMPUTE_RULES,
  2: {
    price: (usage, rates) => ({ parts: 2n * RECOMPUTE_RULES[1]!.price(usage, rates).parts, capped: false }),
    charge: (before, parts) => ({ amount: (parts + PARTS - 1n) / PARTS, after: before }),
  },
};

let tenant: TenantId;
let made = 0;

/** Charge 60 records with odd prices in one posting. */
async function charge(rule?: PricingRule, billingRounding: Rounding = 'carry'): Promise<void> {
  const { deps } = app.service;
  const records = Array.from({ length: 60 }, (_, index) => ({
    id: `odd-${++made}`,
    room: undefined,
    participant: undefined,
    role: 'audience' as const,
    tier: 'hd' as const,
    seconds: 1 + index,
    egressBytes: 12_345n * BigInt(1 + index),
    ingressBytes: 0n,
  }));
  const rounded = { ...deps, config: { ...deps.config, billingRounding } };
  await chargeTenant(rounded, tenant, [{ tenant, records: UsageRecords.from(records) }], { rule });
}

/** Changes a posting by hand, as only the table owner can. */
async function changePosting(seq: number, change: string): Promise<void> {
  await withoutTriggers(db(), ['postings'], (tx) =>
    tx.query(`update postings set ${change} where tenant_id = $1 and seq = $2`, [tenant, seq]),
  );
}

async function findDifferences(rules = RULES) {
  const differences = await recomputeCharges(db(), rules);
  return differences.filter((each) => each.tenant === tenant);
}

/** Posting 1 is the payment. */
beforeEach(async () => {
  tenant = parseTenantId((await app.paidTenant()).id)!;
});

describe('a ledger charged by two pricing rules', () => {
  beforeEach(async () => {
    await charge();
    await charge(RULE_2);
    await db().query('update tenants set exempt = true where id = $1', [tenant]);
    await charge(RULE_2);
    await db().query('update tenants set exempt = false where id = $1', [tenant]);
    await charge();
  });

  it('names the rule in each posting of usage', async () => {
    const { rows } = await db().query(
      'select kind, rule_version from postings where tenant_id = $1 order by seq',
      [tenant],
    );
    expect(rows).toEqual([
      { kind: 'top_up', rule_version: null },
      { kind: 'usage', rule_version: 1 },
      { kind: 'usage', rule_version: 2 },
      { kind: 'unbilled', rule_version: 2 },
      { kind: 'usage', rule_version: 1 },
    ]);
  });

  it('is recomputed with the rule of each posting', async () => {
    expect(await findDifferences()).toEqual([]);
  });

  it.each([
    ['an older rule', 3, 1],
    ['a newer rule', 2, 2],
  ])('reports a posting that names %s than the one that charged it', async (_, seq, version) => {
    await changePosting(seq, `rule_version = ${version}`);
    expect(await findDifferences()).toEqual([
      {
        tenant,
        what: expect.stringMatching(`^record odd-\\d+ of posting ${seq}$`),
        expected: expect.any(String),
        found: expect.any(String),
      },
    ]);
  });

  it('reports postings of an unknown rule, and continues with the others', async () => {
    expect(await findDifferences(RECOMPUTE_RULES)).toEqual([
      { tenant, what: 'pricing rule of posting 3', expected: 'version 2', found: 'none' },
      { tenant, what: 'pricing rule of posting 4', expected: 'version 2', found: 'none' },
    ]);
  });
});

describe('a ledger charged with two roundings', () => {
  beforeEach(async () => {
    await charge(undefined, 'carry');
    await charge(undefined, 'per_record');
    await charge(undefined, 'carry');
  });

  it('is recomputed with the rounding of each posting', async () => {
    expect(await findDifferences()).toEqual([]);
  });

  it.each([
    [2, 'r'],
    [3, 'c'],
  ])('reports a posting %i that names the other rounding', async (seq, rounding) => {
    await changePosting(seq, `rounding = '${rounding}'`);
    expect(await findDifferences()).toMatchObject([
      { what: expect.stringMatching(`^record odd-\\d+ of posting ${seq}$`) },
    ]);
  });

  it('passes if the rounding was not stored yet', async () => {
    for (const seq of [2, 3, 4]) await changePosting(seq, `rounding = 'u'`);
    expect(await findDifferences()).toEqual([]);
  });
});
