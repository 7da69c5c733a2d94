import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { inSnapshot } from '../../../src/base/db/transaction.ts';
import { renderTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import type { Rounding } from '../../../src/money/pricing/carry.ts';
import { BUILT_IN_RATES, parseRateCard, type RateCardFile } from '../../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import type { Usage } from '../../../src/money/pricing/usage-price.ts';
import { readRecords } from '../../../src/money/records/read-records.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { addUp, CardSimulation, type ComparedTenant } from '../../../src/money/simulation/simulate-card.ts';
import { countRecords, type Period } from '../../../src/money/simulation/usage-of-period.sql.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { add, exactPrice, type Fraction, roundHalfUp, ZERO } from '../../support/check-ledger.ts';
import { useService } from '../../support/service.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { anyUsage } from '../pricing/support.ts';

const app = useService();
const db = () => app.service.deps.db;

const DEAR: RateCardFile = { ...BUILT_IN_RATES, platform_fee_per_gib: '0.031337' };
const ALWAYS: Period = { from: new Date('2000-01-01'), to: new Date('2999-01-01'), tenant: undefined };

let tenant: TenantId;
let made = 0;

beforeEach(async () => {
  tenant = await makeTenant(db(), { status: 'active' });
});

/** Records of odd prices: between 0.2 and 8 micros. */
function oddUsages(count: number): Usage[] {
  return Array.from({ length: count }, (_, at) => ({
    role: 'audience',
    tier: 'hd',
    seconds: 1 + at,
    egressBytes: 12_345n * BigInt(1 + (at % 35)),
  }));
}

/** Charge in one posting. Returns what it cost. */
async function charge(
  usages: readonly Usage[],
  { of = tenant, billingRounding = 'carry' }: { of?: TenantId; billingRounding?: Rounding } = {},
): Promise<bigint> {
  const { deps } = app.service;
  const records = usages.map((usage) => {
    made += 1;
    return { ...usage, id: `odd-${made}`, room: undefined, participant: undefined, ingressBytes: 0n };
  });
  const batch = { tenant: of, records: UsageRecords.from(records) };
  const outcomes = await chargeTenant({ ...deps, config: { ...deps.config, billingRounding } }, of, [batch]);
  return outcomes.get(batch)!.total;
}

async function simulate(
  card: RateCardFile,
  period: Partial<Period> = {},
  assumed: Rounding = 'carry',
): Promise<readonly ComparedTenant[]> {
  return inSnapshot(db(), async (tx) => {
    const simulation = new CardSimulation(tx, parseRateCard(card), assumed);
    for await (const records of readRecords(tx, { ...ALWAYS, ...period })) await simulation.add(records);
    return simulation.tenants;
  });
}

/** What is simulated of one tenant. */
async function simulateOne(card: RateCardFile, period: Partial<Period> = {}, assumed?: Rounding) {
  const [only, ...others] = await simulate(card, { tenant, ...period }, assumed);
  expect(others).toEqual([]);
  return only!;
}

function exactSum(card: RateCardFile, usages: readonly Usage[]): Fraction {
  return usages.reduce<Fraction>((sum, { role, tier, seconds, egressBytes }) => {
    const { price } = exactPrice(card, { role, tier, seconds: BigInt(seconds), bytes: egressBytes });
    return add(sum, price);
  }, ZERO);
}

async function setExempt(exempt: boolean): Promise<void> {
  await db().query('update tenants set exempt = $2 where id = $1', [tenant, exempt]);
}

/** As only the owner of the tables can. */
async function changePosting(seq: number, change: string): Promise<void> {
  await withoutTriggers(db(), ['postings'], (tx) =>
    tx.query(`update postings set ${change} where tenant_id = $1 and seq = $2`, [tenant, seq]),
  );
}

const at = (seq: number) => new Date(Date.UTC(2026, 0, seq));

describe('the card in effect', () => {
  it('gives exactly what was charged, by tenant and in all', async () => {
    const other = await makeTenant(db(), { status: 'active' });
    const expected = new Map<string, bigint>();
    for (const count of [1, 60, 7, 3]) {
      for (const of of [tenant, other]) {
        const name = renderTenantId(of);
        expected.set(name, (expected.get(name) ?? 0n) + (await charge(oddUsages(count), { of })));
      }
    }
    const tenants = await simulate(BUILT_IN_RATES);
    for (const [name, total] of expected) {
      const found = tenants.find((each) => renderTenantId(each.tenant) === name);
      expect(found?.charged).toEqual({ records: 71, actual: total, simulated: total });
    }
    const all = addUp(tenants.map(({ charged }) => charged));
    expect(all.simulated).toBe(all.actual);
  });

  it('gives it for a part of the time too, from the carry that the tenant had then', async () => {
    const totals: bigint[] = [];
    for (let seq = 1; seq <= 6; seq += 1) totals.push(await charge(oddUsages(seq)));
    for (let seq = 1; seq <= 6; seq += 1) await changePosting(seq, `at = '${at(seq).toISOString()}'`);
    for (let from = 1; from <= 6; from += 1) {
      for (let to = from + 1; to <= 7; to += 1) {
        const actual = totals.slice(from - 1, to - 1).reduce((sum, total) => sum + total, 0n);
        const { charged } = await simulateOne(BUILT_IN_RATES, { from: at(from), to: at(to) });
        expect(charged).toMatchObject({ actual, simulated: actual });
      }
    }
  });

  it('gives it for postings of both roundings', async () => {
    const total =
      (await charge(oddUsages(60))) +
      (await charge(oddUsages(60), { billingRounding: 'per_record' })) +
      (await charge(oddUsages(60)));
    for (const assumed of ['carry', 'per_record'] as const) {
      const { charged } = await simulateOne(BUILT_IN_RATES, {}, assumed);
      expect(charged).toEqual({ records: 180, actual: total, simulated: total });
    }
  });

  it('takes the rounding of old postings, which do not name theirs, from the setting', async () => {
    // Each is half a micro, which becomes 1 if rounded by itself.
    const halves = oddUsages(60).map((usage) => ({ ...usage, egressBytes: 26_844n }));
    const total = await charge(halves, { billingRounding: 'per_record' });
    await changePosting(1, `rounding = 'u'`);
    const perRecord = await simulateOne(BUILT_IN_RATES, {}, 'per_record');
    expect(perRecord.charged).toEqual({ records: 60, actual: 60n, simulated: total });
    const carried = await simulateOne(BUILT_IN_RATES, {}, 'carry');
    expect(carried.charged).toEqual({ records: 60, actual: 60n, simulated: 30n });
  });
});

describe('another card', () => {
  it('gives the rounded exact sum of any usage, however it was cut into postings', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyUsage, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 999_999 }),
        async (postings, fee) => {
          tenant = await makeTenant(db(), { status: 'active' });
          for (const usages of postings) await charge(usages);
          const draft = { ...BUILT_IN_RATES, platform_fee_per_gib: `0.${String(fee).padStart(6, '0')}` };
          const usages = postings.flat();
          expect((await simulateOne(draft)).charged).toEqual({
            records: usages.length,
            actual: roundHalfUp(exactSum(BUILT_IN_RATES, usages)),
            simulated: roundHalfUp(exactSum(draft, usages)),
          });
        },
      ),
      { numRuns: 30 },
    );
  });

  it('replaces all cards of a period in which the card changed', async () => {
    const before = await charge(oddUsages(60));
    await loadRates(db(), OPERATOR, DEAR);
    const after = await charge(oddUsages(45));
    await changePosting(1, `at = '${at(1).toISOString()}'`);
    await changePosting(2, `at = '${at(2).toISOString()}'`);
    const both = [...oddUsages(60), ...oddUsages(45)];

    for (const card of [DEAR, BUILT_IN_RATES]) {
      expect((await simulateOne(card)).charged).toEqual({
        records: 105,
        actual: before + after,
        simulated: roundHalfUp(exactSum(card, both)),
      });
    }
    // The card that was in effect in a part of the period gives what was charged then.
    const first = await simulateOne(BUILT_IN_RATES, { to: at(2) });
    expect(first.charged).toEqual({ records: 60, actual: before, simulated: before });
    const second = await simulateOne(DEAR, { from: at(2) });
    expect(second.charged).toEqual({ records: 45, actual: after, simulated: after });
    await loadRates(db(), OPERATOR, BUILT_IN_RATES, { again: true });
  });

  it('charges nothing for the time when a tenant was exempt, and prices it apart', async () => {
    const total = await charge(oddUsages(20));
    await setExempt(true);
    await charge(oddUsages(30));
    await charge(oddUsages(31));
    await setExempt(false);
    const later = await charge(oddUsages(40));

    // Each posting without a charge begins with half a micro.
    const priced = (card: RateCardFile) =>
      roundHalfUp(exactSum(card, oddUsages(30))) + roundHalfUp(exactSum(card, oddUsages(31)));
    expect(await simulateOne(BUILT_IN_RATES)).toEqual({
      tenant,
      charged: { records: 60, actual: total + later, simulated: total + later },
      unbilled: { records: 61, actual: priced(BUILT_IN_RATES), simulated: priced(BUILT_IN_RATES) },
    });
    expect(await simulateOne(DEAR)).toEqual({
      tenant,
      charged: {
        records: 60,
        actual: total + later,
        simulated: roundHalfUp(exactSum(DEAR, [...oddUsages(20), ...oddUsages(40)])),
      },
      unbilled: { records: 61, actual: priced(BUILT_IN_RATES), simulated: priced(DEAR) },
    });
  });
});

describe('a period', () => {
  it('includes its start, and not its end', async () => {
    for (const seq of [1, 2, 3]) await charge(oddUsages(seq));
    for (const seq of [1, 2, 3]) await changePosting(seq, `at = '${at(seq).toISOString()}'`);
    const records = async (from: Date, to: Date) => {
      const [found] = await simulate(BUILT_IN_RATES, { tenant, from, to });
      expect(await countRecords(db(), { tenant, from, to })).toBe(BigInt(found?.charged.records ?? 0));
      return found?.charged.records;
    };
    expect(await records(at(1), at(3))).toBe(3);
    expect(await records(new Date(at(1).getTime() + 1), at(3))).toBe(2);
    expect(await records(at(1), new Date(at(3).getTime() + 1))).toBe(6);
    expect(await records(at(4), at(5))).toBeUndefined();
  });

  it('leaves out other tenants, and postings of other kinds', async () => {
    await charge(oddUsages(5));
    const paid = await app.paidTenant();
    const tenants = await simulate(BUILT_IN_RATES, { tenant });
    expect(tenants.map((each) => each.tenant)).toEqual([tenant]);
    const ids = (await simulate(BUILT_IN_RATES)).map((each) => renderTenantId(each.tenant));
    expect(ids).toContain(renderTenantId(tenant));
    expect(ids).not.toContain(paid.id);
  });
});

it('refuses usage that was charged by a rule of a newer release', async () => {
  await charge(oddUsages(1));
  await changePosting(1, 'rule_version = 9');
  await expect(simulateOne(BUILT_IN_RATES)).rejects.toThrow(
    `posting 1 of ${renderTenantId(tenant)} was charged by pricing rule 9, which is not known here`,
  );
  await changePosting(1, 'rule_version = 1');
});
