/** Postings and sums by hour beside the records, slice by slice. */
import { beforeAll, expect, test } from 'vitest';
import { withSnapshot } from '../../../src/base/db/snapshot.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { compareRecords } from '../../../src/money/verification/compare-records.ts';
import { RecordSums } from '../../../src/money/verification/record-sums.ts';
import { moveInTime } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { makeTenants } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

/** Times of postings: two of one hour, one at each end of the next, and one of another day. */
const TIMES = ['10:59:59', '10:59:59.999', '11:00:00', '11:59:59.999'].map((time) => `2026-01-05T${time}Z`);
TIMES.push('2026-01-07T08:30:00Z');

const SLICES = [1, 2, 3, 5, 8, 1_000];

let tenants: readonly TenantId[];
let made = 0;

async function charge(tenant: TenantId): Promise<void> {
  const records = ['a', 'b', undefined].map((room, at) => ({
    id: `made-${++made}`,
    room,
    participant: 'ann',
    role: 'audience' as const,
    tier: at === 0 ? ('hd' as const) : ('audio' as const),
    seconds: 60,
    egressBytes: 5_000_000n,
    ingressBytes: 1n,
  }));
  await chargeTenant(app.service.deps, tenant, [{ tenant, records: UsageRecords.from(records) }]);
}

/** What differs, by slices of this size. */
async function compared(max: number) {
  const [, postings, hours, charges] = await withSnapshot(db(), (snapshot) =>
    compareRecords(snapshot, { sums: new RecordSums(max) }),
  );
  const named = (found: typeof postings) =>
    found!
      .map((each) => `${tenants.indexOf(each.tenant)}: ${each.what}: ${each.expected} / ${each.found}`)
      .sort();
  return { postings: named(postings), hours: named(hours), charges: named(charges) };
}

beforeAll(async () => {
  tenants = (await makeTenants(db(), 7)).toSorted((one, other) => (one < other ? -1 : 1));
  for (const tenant of [tenants[1]!, tenants[3]!, tenants[5]!]) {
    for (const _ of TIMES) await charge(tenant);
    await moveInTime(db(), tenant, TIMES);
  }
  await foldUsage({ db: db() });
  // Deltas.
  await charge(tenants[3]!);
});

test.each(SLICES)('slices of %i find nothing in a ledger in order', async (max) => {
  expect(await compared(max)).toEqual({ postings: [], hours: [], charges: [] });
});

test('slices of any size find what has no records: before the first tenant, after the last, and in between', async () => {
  const strays = [0, 2, 4, 6];
  for (const at of strays) {
    await db().query(
      `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version, rule_version, rounding, carry,
                             records, newest_ids)
       values ($1, 1, 'unbilled', 0, 0, 0, 1, 1, 'c', 0, 4, '{x}')`,
      [tenants[at]],
    );
  }
  // The hours before the first, between two, and after the last of a tenant, and those of tenants without records.
  const ofThird = ['2025-12-31 23:00', '2026-01-06 00:00', '2026-01-07 09:00'].map(
    (hour) => [3, hour] as const,
  );
  const hours = [...strays.map((at) => [at, '2026-01-05 10:00'] as const), ...ofThird];
  for (const [at, hour] of hours) {
    const sums = '1, 2, 3, 4, 5, 6';
    const names = 'records, seconds, egress_bytes, ingress_bytes, amount, unbilled';
    const values = [tenants[at], `${hour}Z`];
    await db().query(
      `insert into usage_hours (tenant_id, hour, role, tier, ${names}) values ($1, $2, 'h', 'k', ${sums})`,
      values,
    );
    await db().query(
      `insert into usage_room_hours (tenant_id, hour, room, role, tier, ${names}) values ($1, $2, 'x', 'h', 'k', ${sums})`,
      values,
    );
  }
  const expected = {
    postings: strays.map((at) => `${at}: records of posting 1: 0 records, 0 micros / 4 records, 0 micros`),
    hours: hours
      .flatMap(([at, hour]) =>
        ['in all rooms', "in room 'x'"].map(
          (where) => `${at}: sums of ${hour} h k ${where}: none / 1, 2, 3, 4, 5, 6`,
        ),
      )
      .sort(),
    charges: [],
  };
  for (const max of SLICES) expect([max, await compared(max)]).toEqual([max, expected]);
});
