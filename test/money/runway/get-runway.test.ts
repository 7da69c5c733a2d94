/** The rooms of a runway, whose sums are of hours, days and weeks, equal the records. */
import { beforeAll, expect, test } from 'vitest';
import { getRunway } from '../../../src/money/runway/get-runway.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { moveInTime } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const HOUR_MS = 3_600_000;
let tenant: TestTenant;

/** A posting of each seventh hour of nine days, the last one now. */
beforeAll(async () => {
  tenant = await app.signUp();
  const now = Date.now();
  const times = Array.from({ length: 31 }, (_, at) => new Date(now - (30 - at) * 7 * HOUR_MS).toISOString());
  for (const _ of times) await report(app, tenant, manyRecords(5));
  await moveInTime(app.service.deps.db, idOf(tenant), times);
});

test.each([
  ['7d', 'as deltas'],
  ['24h', 'as deltas'],
  ['7d', 'added up'],
  ['24h', 'added up'],
] as const)('rooms of %s, %s', async (window, state) => {
  const { db } = app.service.deps;
  if (state === 'added up') await foldUsage({ db });
  const { rooms } = await getRunway(db, idOf(tenant), window);
  const { rows } = await db.query(
    `select coalesce(r.room, '') as room, sum(r.amount)::bigint as amount
       from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
      where r.tenant_id = $1 and p.at >= $2 group by 1 having sum(r.amount) > 0 order by 2 desc, coalesce(r.room, '') collate "C"`,
    [idOf(tenant), rooms.from],
  );
  expect(rows.length).toBeGreaterThan(2);
  expect(rooms.top.map(({ room, amount }) => ({ room, amount }))).toEqual(rows);
  expect(rooms.spent).toBe(rows.reduce((sum, { amount }) => sum + amount, 0n));
});
