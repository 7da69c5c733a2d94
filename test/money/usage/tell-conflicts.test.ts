/** The event `conflicting_duplicates`. */
import { describe, expect, test } from 'vitest';
import type { Db } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { CONFLICT_IDS_MAX } from '../../../src/money/usage/conflict-events.ts';
import { tellConflicts, tellWaitingConflicts } from '../../../src/money/usage/tell-conflicts.ts';
import { eventsOf } from '../../support/events.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ payments: false });
const db = () => app.service.deps.db;
const tell = () => tellWaitingConflicts(app.service.deps);

async function report(tenant: TestTenant, records: readonly Record<string, unknown>[], url = app.url) {
  const answer = await fetch(`${url}/v1/usage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.relayKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

async function told(tenant: TestTenant) {
  const events = await eventsOf(db(), idOf(tenant));
  return events.filter(({ type }) => type === 'conflicting_duplicates').map(({ subject }) => subject);
}

/** Let this many minutes pass for notices. */
async function minutesPass(tenant: TestTenant, minutes: number, on: Db = db()): Promise<void> {
  await on.query(
    `update conflict_notices set told_at = told_at - make_interval(mins => $2),
            first_at = first_at - make_interval(mins => $2) where tenant_id = $1`,
    [idOf(tenant), minutes],
  );
}

/** Reports `count` records, and returns a function that repeats some of them with other values. */
async function charged(count: number) {
  const tenant = await app.signUp();
  const records = Array.from({ length: count }, () => usageRecord());
  await report(tenant, records);
  const ids = records.map(({ id }) => String(id));
  const repeat = (from: number, to: number, seconds: number) =>
    report(
      tenant,
      records.slice(from, to).map((record) => ({ ...record, seconds })),
    );
  return { tenant, records, ids, repeat };
}

describe('conflicting_duplicates', () => {
  test('tells the number and the first ids, with the charge that found them', async () => {
    const { tenant, ids, repeat } = await charged(15);
    expect(await repeat(0, 15, 61)).toMatchObject({ charged: 0, duplicates: 15 });
    expect(await told(tenant)).toStrictEqual([
      { count: 15, ids: ids.slice(0, CONFLICT_IDS_MAX), firstAt: expect.stringMatching(/^\d{4}-.+Z$/) },
    ]);
  });

  test('is not told of duplicates that are equal, and costs them nothing', async () => {
    const { tenant, records } = await charged(3);
    await report(tenant, records);
    expect(await told(tenant)).toEqual([]);
    const { rows } = await db().query('select from conflict_notices where tenant_id = $1', [idOf(tenant)]);
    expect(rows).toEqual([]);
  });

  test('counts each report of a batch, and names each id once', async () => {
    const { tenant, records, ids } = await charged(1);
    await report(tenant, [
      { ...records[0], seconds: 61 },
      { ...records[0], seconds: 62 },
    ]);
    expect(await told(tenant)).toMatchObject([{ count: 2, ids }]);
  });

  test('is told at most once an hour; the next one says how many came since, and when the first', async () => {
    const { tenant, records, ids, repeat } = await charged(30);
    await repeat(0, 1, 61);
    for (let time = 0; time < 5; time += 1) await repeat(1 + time, 4 + time, 62);
    expect(await told(tenant)).toHaveLength(1);
    await minutesPass(tenant, 59);
    await repeat(20, 30, 61);
    await tell();
    expect(await told(tenant)).toHaveLength(1);
    // As a charge does, in one transaction: otherwise the job of the service may tell first.
    await inTransaction(db(), async (tx) => {
      await lockAccount(tx, idOf(tenant));
      await minutesPass(tenant, 1, tx);
      await tellConflicts(tx, idOf(tenant), [records[0] as unknown as UsageRecord]);
    });
    const [, second] = await told(tenant);
    expect(second).toMatchObject({ count: 26, ids: [...ids.slice(1, 8), ...ids.slice(20, 23)] });
    expect(Date.now() - Date.parse(second.firstAt)).toBeGreaterThan(3_590_000);
  });

  test('that nothing follows is told by the background job, once, by several processes', async () => {
    const { service } = await app.another();
    const { tenant, ids, repeat } = await charged(4);
    await repeat(0, 1, 61);
    await repeat(1, 4, 61);
    await minutesPass(tenant, 60);
    await Promise.all([tell(), tellWaitingConflicts(service.deps), tell()]);
    await tell();
    expect(await told(tenant)).toMatchObject([{ count: 1 }, { count: 3, ids: ids.slice(1) }]);
    await minutesPass(tenant, 60);
    await tell();
    expect(await told(tenant)).toHaveLength(2);
  });

  test('is told by the job of a process', async () => {
    const { tenant, repeat } = await charged(2);
    await repeat(0, 1, 61);
    await repeat(0, 2, 62);
    await minutesPass(tenant, 60);
    await app.another();
    await expect.poll(() => told(tenant)).toMatchObject([{ count: 1 }, { count: 2 }]);
  });

  test('loses no report when two processes find conflicts at once', async () => {
    const { url } = await app.another();
    const { tenant, records } = await charged(20);
    const batches = Array.from({ length: 20 }, (_, at) =>
      report(tenant, [{ ...records[at], seconds: 61 }], at % 2 === 0 ? url : app.url),
    );
    await Promise.all(batches);
    await minutesPass(tenant, 60);
    await tell();
    // The job of a service may be the one that tells.
    await expect
      .poll(async () => {
        const counts = (await told(tenant)).map(({ count }) => count);
        return { events: counts.length, sum: counts.reduce((sum, each) => sum + each, 0) };
      })
      .toStrictEqual({ events: 2, sum: 20 });
  });

  test('of each tenant is its own', async () => {
    const [one, other] = [await charged(1), await charged(1)];
    await Promise.all([one.repeat(0, 1, 61), other.repeat(0, 1, 61)]);
    expect(await told(one.tenant)).toMatchObject([{ count: 1, ids: one.ids }]);
    expect(await told(other.tenant)).toMatchObject([{ count: 1, ids: other.ids }]);
  });
});
