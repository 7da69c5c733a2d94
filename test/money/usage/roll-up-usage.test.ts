/** Days and weeks are added up when they are over, whatever is folded meanwhile or later. */
import { expect, test, vi } from 'vitest';
import { TenantTurns } from '../../../src/base/tenants/tenant-turns.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { findDueDay } from '../../../src/money/usage/roll-up-usage.sql.ts';
import { rollUpUsage } from '../../../src/money/usage/roll-up-usage.ts';
import { ALL_SUMS } from '../../../src/money/usage/rolled-up-sums.ts';
import { summarizeUsage } from '../../../src/money/usage/summarize-usage.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { moveInTime } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
/** The end of one week, the next one, and half of a third. */
const TIMES = Array.from({ length: 12 }, (_, at) => new Date(Date.UTC(2026, 9, 4 + at, 23)).toISOString());

async function makeUsage(tenant?: TestTenant): Promise<TestTenant> {
  tenant ??= await app.signUp();
  for (const _ of TIMES) await report(app, tenant, manyRecords(6));
  await moveInTime(db(), idOf(tenant), TIMES);
  return tenant;
}

async function recordsByRoom(tenant: TestTenant): Promise<bigint> {
  const [from, to] = [new Date('2026-10-01T00:00:00Z'), new Date('2026-10-31T00:00:00Z')];
  const query = { groupBy: ['room'], from, to, rooms: undefined, limit: 10, skip: 0 } as const;
  return (await summarizeUsage(db(), idOf(tenant), query)).total.records;
}

async function rolledUp(tenant: TestTenant) {
  const { rows } = await db().query(
    `select until, details_until as "detailsUntil",
            (select coalesce(sum(records), 0) from usage_detail_days where tenant_id = $1)::int as "detailDays",
            (select coalesce(sum(records), 0) from usage_detail_weeks where tenant_id = $1)::int as "detailWeeks",
            (select coalesce(sum(records), 0) from usage_detail_months where tenant_id = $1)::int as months, (select coalesce(sum(records), 0) from usage_room_days where tenant_id = $1)::int as days,
            (select coalesce(sum(records), 0) from usage_room_weeks where tenant_id = $1)::int as weeks
       from usage_rollups where tenant_id = $1`,
    [idOf(tenant)],
  );
  return rows[0];
}

const UNTIL = new Date('2026-10-16T00:00:00Z');
const ALL = {
  until: UNTIL,
  days: 12 * 6,
  weeks: 8 * 6,
  detailsUntil: UNTIL,
  detailDays: 12 * 6,
  detailWeeks: 8 * 6,
  months: 0,
};

test('a delta that is folded after its day was rolled up is in the day and in its week', async () => {
  const tenant = await makeUsage();
  const client = await db().connect();
  await client.query('begin');
  // Folding passes over what is locked: the delta of the first day, and one of the week that is not over.
  const { rowCount } = await client.query(
    'select from usage_deltas where tenant_id = $1 and seq in (1, 12) for update',
    [idOf(tenant)],
  );
  expect(rowCount).toBe(2);
  await foldUsage({ db: db() });
  await rollUpUsage(app.service.deps);
  expect(await recordsByRoom(tenant)).toBe(72n);
  await client.query('rollback');
  client.release();
  await foldUsage({ db: db() });
  expect(await recordsByRoom(tenant)).toBe(72n);
  expect(await checkLedger(db())).toEqual([]);
  await rollUpUsage(app.service.deps);
  expect(await recordsByRoom(tenant)).toBe(72n);
  expect(await rolledUp(tenant)).toEqual(ALL);
  expect(await checkLedger(db())).toEqual([]);
});

test('several processes fold and roll up at once', async () => {
  const tenants = await Promise.all(Array.from({ length: 5 }, () => makeUsage()));
  let reading = true;
  const sums = (async () => {
    const seen = new Set<bigint>();
    while (reading) for (const tenant of tenants) seen.add(await recordsByRoom(tenant));
    return seen;
  })();
  await Promise.all(
    Array.from({ length: 8 }, (_, at) => (at % 2 ? rollUpUsage(app.service.deps) : foldUsage({ db: db() }))),
  );
  await foldUsage({ db: db() });
  await rollUpUsage(app.service.deps);
  reading = false;
  expect([...(await sums)]).toEqual([72n]);
  for (const tenant of tenants) expect(await rolledUp(tenant)).toEqual(ALL);
  expect(await checkLedger(db())).toEqual([]);
});

test('a day that is not over is not rolled up', async () => {
  const tenant = await app.signUp();
  await report(app, tenant, manyRecords(6));
  await foldUsage({ db: db() });
  await rollUpUsage(app.service.deps);
  expect(await rolledUp(tenant)).toBeUndefined();
});

test('a tenant whose day cannot be added up does not keep others from it', async () => {
  const broken = await app.signUp();
  // Before there is anything to add up, for the service's own job may run at any time.
  await app.database.pool.query(
    `alter table usage_room_days add constraint too_many check (tenant_id <> ${idOf(broken)}) not valid`,
  );
  const fine = await makeUsage();
  await makeUsage(broken);
  await foldUsage({ db: db() });
  const turns = new TenantTurns(app.service.deps.log.child({}, { level: 'silent' }), 'rolling up');
  await rollUpUsage(app.service.deps, turns);
  expect(turns.leftOut()).toEqual([idOf(broken)]);
  expect(await rolledUp(fine)).toEqual(ALL);
  await app.database.pool.query('alter table usage_room_days drop constraint too_many');
  await rollUpUsage(app.service.deps);
  expect(await rolledUp(broken)).toEqual(ALL);
});

test('the day of a tenant is looked for in tables that name the tenant by parameter', async () => {
  const tenant = await makeUsage();
  await foldUsage({ db: db() });
  const query = vi.spyOn(db(), 'query');
  for (const sums of ALL_SUMS) {
    expect(await findDueDay(db(), sums, idOf(tenant))).toMatchObject({
      day: new Date('2026-10-04T00:00:00Z'),
    });
  }
  const texts = query.mock.calls.map(([asked]) => (asked as unknown as { readonly text: string }).text);
  query.mockRestore();
  // Citus looks in all shards for a tenant that is a column of another table.
  expect(texts.map((text) => /from usage_hours h\s+where h\.tenant_id = (\S+)/.exec(text)?.[1])).toEqual([
    '$1',
    '$1',
  ]);
});
