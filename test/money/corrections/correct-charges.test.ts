import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { renderTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { correctCharges } from '../../../src/money/corrections/correct-charges.ts';
import { owedBy, textOfPeriod } from '../../../src/money/corrections/correction.ts';
import { recomputePeriod } from '../../../src/money/corrections/recompute-period.ts';
import { BUILT_IN_RATES, type RateCardFile } from '../../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import type { Usage } from '../../../src/money/pricing/usage-price.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { add, exactPrice, type Fraction, roundHalfUp, ZERO } from '../../support/check-ledger.ts';
import { nextInstant } from '../../support/instant.ts';
import { useService } from '../../support/service.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { anyUsage } from '../pricing/support.ts';

const app = useService();
const db = () => app.service.deps.db;

const WRONG: RateCardFile = { ...BUILT_IN_RATES, platform_fee_per_gib: '0.08' };
const START = new Date('2000-01-01');

let right: number;
let made = 0;
let tenant: TenantId;

/** The wrong card is in effect throughout. */
beforeAll(async () => {
  right = (await loadRates(db(), OPERATOR, { ...BUILT_IN_RATES, markup_basis_points: 1 })).version;
  await loadRates(db(), OPERATOR, WRONG);
});
beforeEach(async () => {
  tenant = await makeTenant(db(), { status: 'active' });
});

/** An hour each with so many GiB, so that the fee is the price. */
const gib = (count: number): Usage => ({
  role: 'audience',
  tier: '2k_plus',
  seconds: 3_600,
  egressBytes: BigInt(count) * 2n ** 30n,
});

async function charge(usages: readonly Usage[], of = tenant): Promise<bigint> {
  const records = usages.map((usage) => {
    made += 1;
    return { ...usage, id: `usage-${made}`, room: 'stage', participant: undefined, ingressBytes: 0n };
  });
  const batch = { tenant: of, records: UsageRecords.from(records) };
  return (await chargeTenant(app.service.deps, of, [batch])).get(batch)!.total;
}

interface Asked {
  readonly from?: Date;
  readonly to?: Date;
  readonly of?: TenantId | 'all';
  readonly card?: number;
  readonly pool?: Pool;
}

/** End the connections of that name that are in a transaction. Returns how many. */
async function kill(name: string): Promise<number> {
  const { rowCount } = await db().query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and xact_start is not null`,
    [name],
  );
  return rowCount!;
}

async function countCorrections({ from }: { from: Date }): Promise<number> {
  const { rows } = await db().query<{ count: number }>(
    'select count(*)::integer as count from corrections where from_at = $1',
    [from],
  );
  return rows[0]!.count;
}

async function recompute({ from = START, to, of = tenant, card = right, pool = db() }: Asked = {}) {
  const period = { from, to: to ?? (await nextInstant(db())), tenant: of === 'all' ? undefined : of };
  const options = {
    period,
    rateVersion: card,
    rounding: 'carry',
    recordsMax: undefined,
    instead: '',
  } as const;
  return { period, found: await recomputePeriod(pool, options) };
}

async function correct(asked: Asked & { mayTake?: boolean } = {}) {
  const { period, found } = await recompute(asked);
  const { card: rateVersion = right, mayTake = false, pool = db() } = asked;
  const options = { period, rateVersion, mayTake, reason: 'the wrong card' };
  return { period, posted: await correctCharges(pool, OPERATOR, found, options) };
}

async function postingsOf(of = tenant) {
  const { rows } = await db().query<{ kind: string; amount: bigint; reference: string; detail: string }>(
    `select kind, amount, reference, detail from postings where tenant_id = $1 order by seq`,
    [of],
  );
  return rows;
}

async function corrected(of = tenant): Promise<bigint[]> {
  return (await postingsOf(of)).filter(({ kind }) => kind === 'correction').map(({ amount }) => amount);
}

async function setTime(seq: number, at: Date, of = tenant): Promise<void> {
  await withoutTriggers(db(), ['postings'], (tx) =>
    tx.query('update postings set at = $3 where tenant_id = $1 and seq = $2', [of, seq, at]),
  );
}

describe('recomputePeriod', () => {
  it('tells what usage cost, what the other card makes of it, and changes nothing', async () => {
    await charge([gib(1), gib(1)]);
    const before = await postingsOf();
    const { found } = await recompute();
    expect(found).toEqual([
      {
        tenant,
        records: 2,
        reported: 160_000n,
        charged: 160_000n,
        recomputed: 40_000n,
        overlapped: undefined,
      },
    ]);
    expect(await postingsOf()).toEqual(before);
  });

  it('leaves out usage that was not charged', async () => {
    await db().query('update tenants set exempt = true where id = $1', [tenant]);
    await charge([gib(1)]);
    expect((await recompute()).found).toEqual([]);
  });

  it('refuses a period that goes on, and a card that there is not', async () => {
    await expect(recompute({ to: new Date(Date.now() + 60_000) })).rejects.toThrow('the period must be over');
    await expect(recompute({ card: 4_711 })).rejects.toThrow('there is no rate card of version 4711');
  });
});

describe('correctCharges', () => {
  it('posts the difference, which says why and what it corrects', async () => {
    const cost = await charge([gib(1), gib(1)]);
    const { period, posted } = await correct();
    expect(posted).toBe(1);
    expect(await postingsOf()).toEqual([
      { kind: 'usage', amount: -cost, reference: null, detail: null },
      { kind: 'correction', amount: 120_000n, reference: textOfPeriod(period), detail: 'the wrong card' },
    ]);
    expect((await findDifferences(db(), { at: () => {} })).differences).toEqual([]);
  });

  it('is done once, however often it runs', async () => {
    await charge([gib(1)]);
    const { period } = await correct();
    for (let again = 0; again < 3; again += 1) expect((await correct(period)).posted).toBe(0);
    expect(await corrected()).toEqual([60_000n]);
  });

  it('is done once by runs at the same time', async () => {
    await charge([gib(1)]);
    const { period, found } = await recompute();
    const options = { period, rateVersion: right, mayTake: false, reason: 'at once' };
    const runs = Array.from({ length: 8 }, () => correctCharges(db(), OPERATOR, found, options));
    expect((await Promise.all(runs)).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
    expect(await corrected()).toEqual([60_000n]);
  });

  it('is whole after any number of kills', async () => {
    const tenants: TenantId[] = [];
    for (let at = 0; at < 12; at += 1) tenants.push(await makeTenant(db(), { status: 'active' }));
    // A time of their own, without the tenants of other tests.
    const period = { from: new Date('2026-03-01'), to: new Date('2026-04-01') };
    for (const each of tenants) {
      await charge([gib(1), gib(2)], each);
      await setTime(1, new Date('2026-03-15'), each);
    }
    const url = db().options.connectionString!;
    const pool = openPool(url, { max: 2, applicationName: 'correcting' });
    onTestFinished(() => pool.end());
    let kills = 0;
    for (let round = 0; kills < 40; round += 1) {
      // Every other run undoes what the one before it has done.
      const card = right + (round % 2);
      let isOver = false;
      const run = correct({ ...period, card, mayTake: true, of: 'all', pool })
        .catch(() => {})
        .finally(() => {
          isOver = true;
        });
      // After as many corrections, at some place of the next one.
      const enough = (await countCorrections(period)) + (round % tenants.length);
      while (!isOver) if ((await countCorrections(period)) >= enough) kills += await kill('correcting');
      await run;
    }
    expect(await countCorrections(period)).toBeGreaterThan(40);
    await correct({ ...period, mayTake: true, of: 'all' });
    for (const each of tenants) {
      expect((await corrected(each)).reduce((sum, amount) => sum + amount, 0n)).toBe(180_000n);
    }
  });

  it('corrects the same period again from where it is', async () => {
    await charge([gib(1)]);
    const { period } = await correct();
    expect((await recompute({ ...period, card: right + 1 })).found).toMatchObject([
      { reported: 80_000n, charged: 20_000n, recomputed: 80_000n },
    ]);
    await correct({ ...period, card: right + 1, mayTake: true });
    await correct(period);
    expect(await corrected()).toEqual([60_000n, -60_000n, 60_000n]);
  });

  it('refuses a period that overlaps a corrected one, before it posts anything', async () => {
    const first = await makeTenant(db(), { status: 'active' });
    await charge([gib(1)], first);
    await charge([gib(1)]);
    for (const each of [first, tenant]) await setTime(1, new Date('2026-05-15'), each);
    const { period } = await correct({ from: new Date('2026-05-01'), to: new Date('2026-06-01') });
    const wider = { from: new Date('2026-05-01'), to: new Date('2026-06-02') };
    const words = `the charges of ${renderTenantId(tenant)} were corrected for ${textOfPeriod(period)}`;
    await expect(correct({ ...wider, of: 'all' })).rejects.toThrow(words);
    expect(await corrected(first)).toEqual([]);
  });

  it('takes periods side by side', async () => {
    await charge([gib(1)]);
    await charge([gib(2)]);
    await setTime(1, new Date('2026-01-01T00:00:00Z'));
    await setTime(2, new Date('2026-01-02T00:00:00Z'));
    await correct({ from: new Date('2026-01-01'), to: new Date('2026-01-02') });
    await correct({ from: new Date('2026-01-02'), to: new Date('2026-01-03') });
    expect(await corrected()).toEqual([60_000n, 120_000n]);
  });

  it('takes from a tenant that paid too little only when asked to', async () => {
    await charge([gib(1)]);
    const { period } = await correct();
    const dearer = { ...period, card: right + 1 };
    await expect(correct(dearer)).rejects.toThrow('1 of the tenants would pay $0.060000 more');
    expect(await corrected()).toEqual([60_000n]);
    await correct({ ...dearer, mayTake: true });
    expect(await corrected()).toEqual([60_000n, -60_000n]);
  });

  it('refuses a period in which more was charged since it was recomputed', async () => {
    await charge([gib(1)]);
    const { period, found } = await recompute();
    await charge([gib(1)]);
    await setTime(2, new Date(period.to.getTime() - 1));
    const options = { period, rateVersion: right, mayTake: false, reason: 'late' };
    await expect(correctCharges(db(), OPERATOR, found, options)).rejects.toThrow('run it again');
    expect(await corrected()).toEqual([]);
  });

  it('gives back exactly what any usage cost too much', async () => {
    const sumOf = (card: RateCardFile, usages: readonly Usage[]) =>
      roundHalfUp(
        usages.reduce<Fraction>((sum, { seconds, egressBytes, ...usage }) => {
          const { price } = exactPrice(card, { ...usage, seconds: BigInt(seconds), bytes: egressBytes });
          return add(sum, price);
        }, ZERO),
      );
    const anyPostings = fc.array(fc.array(anyUsage, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(anyPostings, async (postings) => {
        tenant = await makeTenant(db(), { status: 'active' });
        for (const usages of postings) await charge(usages);
        await correct({ mayTake: true });
        const usages = postings.flat();
        const sum = (await postingsOf()).reduce((total, { amount }) => total + amount, 0n);
        expect(sum).toBe(-sumOf(BUILT_IN_RATES, usages));
        const owed = sumOf(WRONG, usages) - sumOf(BUILT_IN_RATES, usages);
        expect(await corrected()).toEqual(owed === 0n ? [] : [owed]);
      }),
      { numRuns: 20 },
    );
  });

  it('is what verify compares', async () => {
    await charge([gib(1)]);
    await correct();
    await withoutTriggers(db(), ['corrections'], (tx) =>
      tx.query('update corrections set charged = charged + 1, amount = amount + 1 where tenant_id = $1', [
        tenant,
      ]),
    );
    const { differences } = await findDifferences(db(), { at: () => {} });
    expect(differences.filter(({ what }) => what.startsWith('correction'))).toEqual([
      { tenant, what: 'correction of posting 2', expected: '60001', found: '60000' },
    ]);
  });
});

it('owes what was charged too much', () => {
  expect(owedBy({ charged: 5n, recomputed: 7n })).toBe(-2n);
});
