import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { ALL, shareOf } from '../../../src/base/tenants/shares.ts';
import { insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import type { Month } from '../../../src/money/month.ts';
import { addSums, takeDeltas } from '../../../src/money/usage/fold-usage.sql.ts';
import { addUp, foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { manyRecords, ROLES, ROOMS, report, setExempt, TIERS } from '../../doors/rest/ledger-routes.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { moveInTime } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();

test('sums equal the ledger at any time, whatever is charged and whenever it is added up', async () => {
  const { db } = app.service.deps;
  const records = fc.array(
    fc.record({
      room: fc.constantFrom(...ROOMS, undefined),
      role: fc.constantFrom(...ROLES),
      tier: fc.constantFrom(...TIERS),
      seconds: fc.integer({ min: 0, max: 86_400 }),
      egress_bytes: fc.oneof(
        fc.integer({ min: 0, max: 500_000 }),
        fc.maxSafeNat().map((each) => each % 1e12),
      ),
      ingress_bytes: fc.nat(),
    }),
    { maxLength: 60 },
  );
  const step = fc.oneof(
    { weight: 5, arbitrary: records },
    { weight: 2, arbitrary: fc.constant('fold' as const) },
    { weight: 1, arbitrary: fc.constant('exempt' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const of = await app.signUp();
      let exempt = false;
      let charged = 0;
      let free = 0;
      await Promise.all(
        steps.map(async (each) => {
          if (each === 'fold') await foldUsage({ db });
          else if (each === 'exempt') {
            exempt = !exempt;
            await setExempt(app, of, exempt);
          } else {
            const sent = each.map((record) => manyRecords(1, record)[0]!);
            // The same records twice: the second time they are duplicates.
            const outcomes = [await report(app, of, sent), await report(app, of, sent)];
            charged += outcomes.reduce((sum, { total }) => sum + total.micros, 0);
            free += outcomes.reduce((sum, { unbilled }) => sum + unbilled, 0);
          }
        }),
      );
      const { rows } = await db.query<{ sum: bigint; free: bigint }>(
        `select coalesce(-sum(amount), 0)::bigint as sum,
                coalesce(sum(records) filter (where kind = 'unbilled'), 0)::bigint as free
           from postings where tenant_id = $1`,
        [idOf(of)],
      );
      const ledger = Number(rows[0]!.sum);
      const { sum } = expectOk(await app.request('GET', '/v1/usage/summary', { key: of.key }));
      const byRoom = expectOk(await app.request('GET', '/v1/usage/summary?group_by=room', { key: of.key }));
      expect([sum.total.micros, byRoom.sum.total.micros, charged, free]).toStrictEqual([
        ledger,
        ledger,
        ledger,
        Number(rows[0]!.free),
      ]);
    }),
    { numRuns: 25 },
  );
  expect(await checkLedger(db)).toStrictEqual([]);
});

test('deltas are added once, though several processes add them up', async () => {
  const { db } = app.service.deps;
  const tenants = await Promise.all(Array.from({ length: 4 }, () => app.signUp()));
  await Promise.all(
    tenants.flatMap((tenant) =>
      Array.from({ length: 30 }, async () => {
        await report(app, tenant, manyRecords(4));
        await foldUsage({ db });
      }),
    ),
  );
  await foldUsage({ db });
  const { rows } = await db.query(
    `select (select count(*) from usage_deltas)::int as deltas,
            (select sum(records) from usage_hours where tenant_id = any($1))::int as records`,
    [tenants.map(idOf)],
  );
  expect(rows).toStrictEqual([{ deltas: 0, records: 4 * 30 * 4 }]);
  expect(await checkLedger(db)).toStrictEqual([]);
});

test('a transaction that adds up and dies leaves the deltas', async () => {
  const { db } = app.service.deps;
  const tenant = await app.signUp();
  await report(app, tenant, manyRecords(9));
  const client = await db.connect();
  await client.query('begin');
  const share = isDistributed() ? shareOf(idOf(tenant)) : ALL;
  await addSums(client, addUp(await takeDeltas(client, 1_000, share), new Set()), share);
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const lost = new Promise((resolve) => client.once('error', resolve));
  await db.query('select pg_terminate_backend($1::integer)', [rows[0].pid]);
  await lost;
  client.release(true);
  const { sum } = expectOk(await app.request('GET', '/v1/usage/summary', { key: tenant.key }));
  expect(sum.records).toBe(9);
  await foldUsage({ db });
  expect(await checkLedger(db)).toStrictEqual([]);
});

test('once a tenant has set a time zone, quarter-hours have sums of their own', async () => {
  const { db } = app.service.deps;
  const of = await app.signUp();
  const starts = async () => {
    await foldUsage({ db });
    const { rows } = await db.query(
      'select distinct hour from usage_room_hours where tenant_id = $1 order by hour',
      [idOf(of)],
    );
    return rows.map(({ hour }) => hour.toISOString().slice(11, 16));
  };
  for (let count = 0; count < 3; count += 1) await report(app, of, manyRecords(2));
  const times = ['2026-10-31T18:14:59.999Z', '2026-10-31T18:15:00Z', '2026-10-31T18:59:59Z'];
  await moveInTime(db, idOf(of), times);
  expect(await starts()).toEqual(['18:00']);
  await inTransaction(db, (tx) => insertTimeZone(tx, idOf(of), 'Asia/Kathmandu', '2026-10' as Month));
  await moveInTime(db, idOf(of), times);
  expect(await starts()).toEqual(['18:00', '18:15', '18:45']);
  expect(await checkLedger(db)).toStrictEqual([]);
});

test('takes only as many deltas at once as a process can add up between other requests', async () => {
  const { db } = app.service.deps;
  const of = await app.signUp();
  const client = await db.connect();
  onTestFinished(() => client.release());
  await client.query('begin');
  for (const batch of [1, 2, 3, 4, 5, 6]) {
    const rooms = Array.from({ length: 5_000 }, (_, at) => [
      `room-${batch}-${at}`,
      'a',
      'a',
      1,
      60,
      at,
      0,
      5,
      0,
    ]);
    await client.query('insert into usage_deltas (tenant_id, seq, at, sums) values ($1, $2, now(), $3)', [
      idOf(of),
      batch,
      JSON.stringify(rooms),
    ]);
  }
  const share = isDistributed() ? shareOf(idOf(of)) : ALL;
  const taken: number[] = [];
  for (;;) {
    const deltas = await takeDeltas(client, 1_000, share);
    if (deltas.length === 0) break;
    taken.push(deltas.length);
  }
  await client.query('rollback');
  expect(Math.max(...taken)).toBeLessThan(4);
  expect(taken.reduce((sum, each) => sum + each)).toBeGreaterThanOrEqual(6);
});
