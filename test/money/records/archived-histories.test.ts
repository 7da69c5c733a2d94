/**
 * Random histories, each with archiving in between and without: everything that is answered is the same.
 *
 * Three processes charge: one has filters of known ids, one has none, and one has filters that it did not keep up itself.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import type { Pool } from '../../../src/base/db/pool.ts';
import { withSnapshot } from '../../../src/base/db/snapshot.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { requestErasure } from '../../../src/control/people/request-erasure.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { beginningOf, readStretch } from '../../../src/money/ledger/walk-ledger.ts';
import { BUILT_IN_RATES } from '../../../src/money/pricing/rate-card.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { KnownFilters } from '../../../src/money/records/known-ids/known-filters.ts';
import { readRecords } from '../../../src/money/records/read-records.ts';
import { sumByParticipant } from '../../../src/money/records/sum-by-participant.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import type { Batch, ChargeOutcome } from '../../../src/money/usage/bill.ts';
import { chargeFreeBatches, chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { explainCharge } from '../../../src/money/usage/explain-charge.ts';
import { filterRecords } from '../../../src/money/usage/list-records.ts';
import { lookUpRecords } from '../../../src/money/usage/lookup-records.ts';
import { nextPostings } from '../../../src/money/usage/posted-usage.sql.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { readRecordLines } from '../../../src/outward/export/record-lines.ts';
import { eraseAll } from '../../control/people/support.ts';
import { depsOn } from '../../control/watchdogs/support.ts';
import { anyCharacter } from '../../support/characters.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';

const TENANTS = 3;
const PEOPLE = ['ann', 'Ann', 'bob', '(erased)', 'Zoë 🎥', ''];
const ROOMS = ['stage', 'Raum "ü", 1', ''];

const archiving = useDatabase();
const plain = useDatabase();

const stored = anyCharacter.filter((character) => character !== '\0');
const id = fc.oneof(
  { weight: 6, arbitrary: fc.nat(60).map((n) => `relay-room-${String(n).padStart(4, '0')}`) },
  { weight: 2, arbitrary: fc.nat(30).map((n) => `r${n}`) },
  fc.constantFrom('0', '00', '1', '9007199254740993', 'a', ' ', '"', '000000000000000000001'),
  fc.constantFrom('x'.repeat(200), '9'.repeat(200), '𝄞'.repeat(50)),
  fc.constantFrom('6f1c2d3e-0000-4000-8000-00000000000a', '6F1C2D3E-0000-4000-8000-00000000000A'),
  fc.string({ unit: stored, minLength: 1, maxLength: 20 }),
);
const name = (names: string[]) => fc.constantFrom(undefined, ...names.filter((each) => each !== ''));
const record: fc.Arbitrary<UsageRecord> = fc.record({
  id,
  room: name(ROOMS),
  participant: name(PEOPLE),
  role: fc.constantFrom('host', 'audience', 'broadcast_audience'),
  tier: fc.constantFrom('audio', 'hd', 'full_hd', '2k', '2k_plus'),
  seconds: fc.constantFrom(0, 1, 59, 86_400),
  egressBytes: fc.constantFrom(0n, 1n, 77_777n, 50_000_000n, (2n ** 53n - 1n) >> 12n),
  ingressBytes: fc.constantFrom(0n, 12_345n, 2n ** 40n),
});
const batch = fc.record({
  tenant: fc.nat(TENANTS - 1),
  records: fc.array(record, { minLength: 0, maxLength: 90, size: 'max' }),
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ charge: fc.array(batch, { minLength: 1, maxLength: 3 }), by: fc.nat(2) }),
  },
  { weight: 5, arbitrary: fc.record({ archiveBy: fc.nat(1) }) },
  fc.record({ erase: fc.constantFrom('ann', 'bob', 'Zoë 🎥'), tenant: fc.nat(TENANTS - 1) }),
  fc.record({ exempt: fc.boolean(), tenant: fc.nat(TENANTS - 1) }),
  fc.record({ fee: fc.constantFrom('0.005', '0.02', '0.033') }),
  fc.record({ large: fc.nat(1_000), tenant: fc.nat(TENANTS - 1), by: fc.nat(2) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function changeRates(db: Pool, fee: string): Promise<void> {
  const card = { ...BUILT_IN_RATES, platform_fee_per_gib: fee };
  await db.query(
    'insert into rate_cards (version, card) select coalesce(max(version), 0) + 1, $1 from rate_cards',
    [card],
  );
}

/** Three processes on one database. */
function processesOn(db: Pool): Deps[] {
  return [64e6, 0, 64e6].map((bytesMax) => ({ ...depsOn(db), knownFilters: new KnownFilters({ bytesMax }) }));
}

/** Shared at first, as the queue does; what that leaves out goes alone. A transaction with several tenants needs one server. */
async function charge(deps: Deps, batches: readonly Batch[]): Promise<(ChargeOutcome | undefined)[]> {
  const outcomes = new Map(isDistributed() ? [] : (await chargeFreeBatches(deps, batches)).outcomes);
  for (const [tenant, own] of Map.groupBy(batches, (each) => each.tenant)) {
    const left = own.filter((each) => !outcomes.has(each));
    if (left.length > 0)
      for (const [each, outcome] of await chargeTenant(deps, tenant, left)) outcomes.set(each, outcome);
  }
  return batches.map((each) => outcomes.get(each));
}

/** What the step answers. */
async function take(all: Deps[], tenants: readonly TenantId[], given: Step, archives: boolean) {
  const { db } = all[0]!;
  if ('charge' in given) {
    const batches = given.charge.map(({ tenant, records }) => ({
      tenant: tenants[tenant]!,
      records: UsageRecords.from(records),
    }));
    return charge(all[given.by]!, batches);
  }
  if ('large' in given) {
    const records = Array.from({ length: 5_000 }, (_, n): UsageRecord => {
      const one = {
        room: 'stage',
        participant: `p${n % 40}`,
        role: 'host',
        tier: 'hd',
        seconds: n % 61,
      } as const;
      return { id: `${given.large}-${n}`, ...one, egressBytes: BigInt(n) * 777n, ingressBytes: BigInt(n) };
    });
    return charge(all[given.by]!, [{ tenant: tenants[given.tenant]!, records: UsageRecords.from(records) }]);
  }
  if ('archiveBy' in given && archives) {
    await archiveRecords({ ...all[given.archiveBy]!, config: { archiveAfterSeconds: 0 } });
  } else if ('erase' in given) {
    await inTransaction(db, (tx) => requestErasure(tx, OPERATOR, tenants[given.tenant]!, given.erase));
    await eraseAll(all[0]!);
  } else if ('fee' in given) {
    await changeRates(db, given.fee);
  } else if ('exempt' in given) {
    const values = [tenants[given.tenant], given.exempt];
    await db.query('update tenants set exempt = $2 where id = $1', values);
  }
  return undefined;
}

async function sumAll(db: Pool, tenant: TenantId): Promise<string[]> {
  const sums = await inTransaction(db, async (tx) => {
    const [postings] = await runTogether(tx, [{ ...nextPostings(tenant, '0', 1_000_000), name: '' }]);
    return sumByParticipant(tx, tenant, postings);
  });
  return sums
    .map(({ seq, room, participant, tier, ...measures }) => {
      const { records, seconds, longest, egressBytes, ingressBytes, amount } = measures;
      return [
        seq,
        room,
        participant,
        tier,
        records,
        seconds,
        longest,
        egressBytes,
        ingressBytes,
        amount,
      ].join();
    })
    .sort();
}

/** Everything that can be read of a tenant, without times. */
async function readAll({ db, rates }: Deps, tenant: TenantId) {
  const records: unknown[] = [];
  const lines: string[] = [];
  const ids: string[] = [];
  await withSnapshot(db, async (snapshot) => {
    for await (const page of readRecords(snapshot, { tenant })) {
      for (const { at, ...each } of page) records.push(each);
      ids.push(...page.map((each) => each.id));
    }
    for await (const page of readRecordLines(snapshot, tenant)) lines.push(...page);
  });
  const found = await lookUpRecords(db, tenant, [...ids, 'never', '\u{10ffff}']);
  const explained = [];
  for (const each of ids.filter((_, at) => at % 211 === 0)) {
    const { record: of, explanation } = (await explainCharge({ db, rates }, tenant, each))!;
    explained.push([of.id, of.amount, explanation]);
  }
  const walked = [];
  const any = { room: undefined, participant: undefined, role: undefined, tier: undefined };
  for (const [filter, limit] of [
    [{}, 900],
    [{ room: 'stage' }, 1_000],
    [{ participant: '(erased)' }, 40],
    [{ role: 'audience', tier: '2k' }, 7],
  ] as const) {
    const whole = await filterRecords(db, tenant, { ...any, from: undefined, to: undefined, ...filter });
    let place = beginningOf(whole);
    for (;;) {
      const stretch = await readStretch(db, tenant, whole, place, limit);
      if (!stretch) break;
      walked.push(
        ...stretch.lines.map(({ posting, record: of }) => [
          posting.seq,
          posting.amount,
          { ...of, archivedSeq: undefined },
        ]),
      );
      place = stretch.place;
    }
  }
  const { rows: conflicts } = await db.query(
    'select id, times, reported from usage_conflicts where tenant_id = $1 order by id',
    [tenant],
  );
  return {
    conflicts,
    sums: await sumAll(db, tenant),
    records,
    lines,
    explained,
    walked,
    found: found.map((each) => ({ ...each, found: { ...each.found, at: null } })),
  };
}

test('archiving changes nothing that is answered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 25, size: 'max' }), async (steps) => {
      const tenants = Array.from({ length: TENANTS }, newTenantId);
      const [one, other] = [processesOn(archiving.pool), processesOn(plain.pool)];
      for (const tenant of tenants) {
        await makeTenant(archiving.pool, { id: tenant, status: 'active' });
        await makeTenant(plain.pool, { id: tenant, status: 'active' });
      }
      for (const each of [archiving, plain]) await changeRates(each.pool, '0.02');
      for (const given of steps) {
        expect(await take(one, tenants, given, true)).toEqual(await take(other, tenants, given, false));
      }
      for (const tenant of tenants) {
        const expected = await readAll(other[0]!, tenant);
        expect(await readAll(one[0]!, tenant)).toEqual(expected);
        await take(one, tenants, { archiveBy: 0 }, true);
        expect(await readAll(one[0]!, tenant)).toEqual(expected);
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 5), seed: Number(process.env.SEED ?? 33), endOnFailure: true },
  );
  const { differences } = await findDifferences(archiving.pool, { at: () => {} });
  expect(differences).toEqual([]);
});
