/** Sums by room, role and tier of any period, put together from months, weeks, days and hours, equal the records. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import type { Month } from '../../../src/money/month.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { findDueDay, findRolledUntil, rollUp } from '../../../src/money/usage/roll-up-usage.sql.ts';
import { rollUpUsage } from '../../../src/money/usage/roll-up-usage.ts';
import { DETAIL_SUMS, ROOM_SUMS } from '../../../src/money/usage/rolled-up-sums.ts';
import { summarizeUsage } from '../../../src/money/usage/summarize-usage.ts';
import { GROUPINGS, type Grouping } from '../../../src/money/usage/usage-summary.ts';
import { manyRecords, report, setExempt } from '../../doors/rest/ledger-routes.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { moveInTime } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.database.pool;
const FIRST = Date.parse('2026-09-29T00:00:00Z');
const HOUR_MS = 3_600_000;
const HOURS = 24 * 35;
/** At the edges of hours, days and weeks, and within them. 2026-10-05 and 2026-10-12 are Mondays. */
const TIMES = [
  '2026-09-29T00:00:00Z',
  '2026-10-04T23:59:59.999Z',
  '2026-10-05T00:00:00Z',
  '2026-10-05T00:59:59.999Z',
  '2026-10-07T12:30:00Z',
  '2026-10-11T23:00:00Z',
  '2026-10-12T00:00:00Z',
  '2026-10-12T01:00:00Z',
  '2026-10-20T23:59:59.999Z',
  '2026-10-21T00:00:00Z',
  '2026-10-28T09:10:00Z',
  '2026-11-02T00:00:00Z',
];

/** In Kathmandu, a day begins at 18:15 UTC. */
const ZONED_TIMES = [
  ...TIMES.slice(0, 5),
  '2026-10-08T18:14:59.999Z',
  '2026-10-08T18:15:00Z',
  '2026-10-08T18:30:00Z',
  ...TIMES.slice(6, 10),
  '2026-10-21T18:00:00Z',
  '2026-10-31T18:14:59.999Z',
  '2026-10-31T18:15:00Z',
];
const ZONE = 'Asia/Kathmandu';

let tenant: TestTenant;
let zoned: TestTenant;

async function makeTenant(times: readonly string[]): Promise<TestTenant> {
  const made = await app.signUp();
  for (let count = 1; count <= times.length; count += 1) {
    await setExempt(app, made, count % 4 === 0);
    await report(app, made, manyRecords(count * 3));
  }
  return made;
}

beforeAll(async () => {
  [tenant, zoned] = [await makeTenant(TIMES), await makeTenant(ZONED_TIMES)];
  // The service would roll up days as soon as they are over.
  await app.service.stop();
  await inTransaction(db(), (tx) => insertTimeZone(tx, idOf(zoned), ZONE, '2026-08' as Month));
  await moveInTime(db(), idOf(tenant), TIMES);
  await moveInTime(db(), idOf(zoned), ZONED_TIMES);
});

/** `columns`: those of the groups. */
async function sumRecords(
  columns: readonly string[],
  from: Date,
  to: Date,
  rooms: readonly string[] | undefined,
  { of, zone } = { of: tenant, zone: 'UTC' },
) {
  const names: Record<string, string> = {
    room: `coalesce(r.room, '') as room`,
    role: `case r.role when 'h' then 'host' when 'a' then 'audience' else 'broadcast_audience' end as role`,
    tier: `case r.tier when 'a' then 'audio' when 'h' then 'hd' when 'f' then 'full_hd' when 'k' then '2k_plus' else '2k' end as tier`,
    day: `date_trunc('day', p.at, '${zone}') as time`,
    month: `date_trunc('month', p.at, '${zone}') as time`,
    hour: `date_bin('1 hour', p.at, $2) as time`,
  };
  const { rows } = await db().query(
    `select ${columns.map((each) => `${names[each]}, `).join('')} count(*) as records, sum(r.seconds)::bigint as seconds,
            sum(r.egress_bytes)::bigint as "egressBytes", sum(r.ingress_bytes)::bigint as "ingressBytes",
            coalesce(sum(r.amount) filter (where p.kind = 'usage'), 0)::bigint as amount,
            coalesce(sum(r.amount) filter (where p.kind = 'unbilled'), 0)::bigint as unbilled
       from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
      where r.tenant_id = $1 and p.at >= $2 and p.at < $3 and ($4::text[] is null or coalesce(r.room, '') = any($4))
      ${columns.length > 0 ? `group by ${columns.map((_, at) => at + 1).join(', ')}` : 'having count(*) > 0'}`,
    [idOf(of), from, to, rooms],
  );
  return rows;
}

const QUESTIONS: readonly { groupBy: readonly Grouping[]; rooms?: readonly string[] }[] = [
  { groupBy: ['room'] },
  { groupBy: ['day', 'room'] },
  { groupBy: ['hour', 'room'] },
  { groupBy: ['month', 'room'] },
  { groupBy: ['month'] },
  { groupBy: ['month', 'room', 'role', 'tier'] },
  { groupBy: ['room', 'role', 'tier'] },
  { groupBy: ['room', 'role', 'tier'], rooms: ['stage', ''] },
  { groupBy: ['room', 'tier'] },
  { groupBy: ['day', 'room', 'role'] },
  { groupBy: ['role', 'tier'], rooms: ['lobby', 'stage'] },
  { groupBy: ['hour', 'room', 'role', 'tier'] },
  { groupBy: [], rooms: ['stage'] },
  { groupBy: ['room'], rooms: ['stage', ''] },
  { groupBy: ['day', 'room'], rooms: ['lobby', 'stage', 'no such room'] },
  { groupBy: ['hour', 'room'], rooms: ['lobby', 'stage'] },
];

const inOrder = (rows: readonly object[]) =>
  rows.map((row) => JSON.stringify(row, (_, each) => (typeof each === 'bigint' ? `${each}` : each))).sort();

async function expectEqual() {
  await expectSums({ of: tenant, zone: 'UTC' }, FIRST);
  await expectSums({ of: zoned, zone: ZONE }, FIRST - 5.75 * HOUR_MS);
}

/** `first`: the start of a day in the zone. */
async function expectSums(whose: { of: TestTenant; zone: string }, first: number) {
  const hour = fc.integer({ min: 0, max: HOURS });
  // Ends that are midnight are rare among all hours.
  const edge = fc.oneof(
    hour,
    hour.map((each) => each - (each % 24)),
  );
  await fc.assert(
    fc.asyncProperty(edge, edge, fc.constantFrom(...QUESTIONS), async (one, other, { groupBy, rooms }) => {
      const from = new Date(first + Math.min(one, other) * HOUR_MS);
      const to = new Date(first + Math.max(one, other) * HOUR_MS);
      const query = { groupBy, from, to, rooms, limit: 1_000, skip: 0 };
      const { rows, total } = await summarizeUsage(db(), idOf(whose.of), query);
      const columns = GROUPINGS.filter((each) => groupBy.includes(each));
      const expected = await sumRecords(columns, from, to, rooms, whose);
      expect(inOrder(rows)).toEqual(inOrder(expected));
      expect(total.amount).toBe(expected.reduce((sum, { amount }) => sum + amount, 0n));
    }),
    { numRuns: 100 },
  );
}

describe('sums by room equal the records', () => {
  test('while they are deltas', expectEqual);

  test('when they are sums of hours', async () => {
    await foldUsage({ db: db() });
    await expectEqual();
  });

  test('when details are rolled up to the middle of the period only', async () => {
    await foldUsage({ db: db() });
    for (let days = 0; days < 5; days += 1) {
      const due = await findDueDay(db(), DETAIL_SUMS, idOf(tenant));
      await inTransaction(db(), (tx) => rollUp(tx, DETAIL_SUMS, idOf(tenant), due!));
    }
    const until = await findRolledUntil(db(), idOf(tenant), DETAIL_SUMS);
    expect([until, await findRolledUntil(db(), idOf(tenant), ROOM_SUMS)]).toEqual([
      new Date('2026-10-12T00:00:00Z'),
      new Date(0),
    ]);
    await expectEqual();
    expect(await checkLedger(db())).toEqual([]);
  });

  test('when they are rolled up', async () => {
    await rollUpUsage({ db: db(), log: app.service.deps.log });
    const { rows } = await db().query(
      `select (select count(*) from usage_deltas where tenant_id = $1)::int as deltas, until,
              (select count(distinct day) from usage_room_days where tenant_id = $1)::int as days,
              (select count(distinct week) from usage_room_weeks where tenant_id = $1)::int as weeks,
              details_until as "detailsUntil",
              (select count(distinct day) from usage_detail_days where tenant_id = $1)::int as "detailDays",
              (select count(distinct week) from usage_detail_weeks where tenant_id = $1)::int as "detailWeeks",
              (select array_agg(distinct month) from usage_detail_months where tenant_id = $1) as months
         from usage_rollups where tenant_id = $1`,
      [idOf(tenant)],
    );
    // The last week goes on after its only day with usage.
    const until = new Date('2026-11-03T00:00:00Z');
    const months = [new Date('2026-09-01T00:00:00Z'), new Date('2026-10-01T00:00:00Z')];
    expect(rows).toEqual([
      { deltas: 0, until, days: 10, weeks: 5, detailsUntil: until, detailDays: 10, detailWeeks: 5, months },
    ]);
    await expectEqual();
    expect(await checkLedger(db())).toEqual([]);
  });

  test('of days and weeks alone, where a period begins and ends at midnight', async () => {
    const query = { groupBy: ['room'], rooms: undefined, limit: 100, skip: 0 } as const;
    const [from, to] = [new Date('2026-09-29T00:00:00Z'), new Date('2026-11-03T00:00:00Z')];
    const before = await summarizeUsage(db(), idOf(tenant), { ...query, from, to });
    await db().query('delete from usage_room_hours where tenant_id = $1', [idOf(tenant)]);
    expect(await summarizeUsage(db(), idOf(tenant), { ...query, from, to })).toEqual(before);
    // An hour of the first day is asked for, so days do not have it.
    const fromOne = new Date(from.getTime() + HOUR_MS);
    const later = await summarizeUsage(db(), idOf(tenant), { ...query, from: fromOne, to });
    expect(later.total.records).toBeLessThan(before.total.records);
  });

  test('of a month by room, role and tier, from the sums of the month alone', async () => {
    const [from, to] = [new Date('2026-10-01T00:00:00Z'), new Date('2026-11-01T00:00:00Z')];
    const groupBy = ['room', 'role', 'tier'] as const;
    const query = { groupBy, rooms: undefined, limit: 100, skip: 0, from, to };
    await db().query('delete from usage_detail_days where tenant_id = $1', [idOf(tenant)]);
    await db().query('delete from usage_detail_weeks where tenant_id = $1', [idOf(tenant)]);
    const { rows, total } = await summarizeUsage(db(), idOf(tenant), query);
    expect(inOrder(rows)).toEqual(inOrder(await sumRecords(groupBy, from, to, undefined)));
    expect(total.records).toBeGreaterThan(0n);
  });
});
