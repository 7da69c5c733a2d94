import { describe, expect, test } from 'vitest';
import { parseTenantId } from '../../src/base/tenants/tenant.ts';
import { deleteOldEvents } from '../../src/events/events.sql.ts';
import { sweep } from '../../src/run/sweep.ts';
import { moved } from '../support/append-only.ts';
import { useService } from '../support/service.ts';

const app = useService({ makesUpEvents: true });

/** Events 1 to `count`, each a second older than the next; the newest is `newestAge` old. */
async function tenantWithEvents(count: number, newestAge: string): Promise<bigint> {
  const tenant = parseTenantId((await app.signUp()).id)!;
  const { db } = app.service.deps;
  await db.query(
    `insert into event_streams (tenant_id, last_seq) values ($1, $2)
     on conflict (tenant_id) do update set last_seq = excluded.last_seq`,
    [tenant, count],
  );
  await db.query(
    `insert into events (tenant_id, seq, type, subject, at)
     select $1, n, 'room_created', '{}', now() - $3::interval - ($2 - n) * interval '1 second'
       from generate_series(1, $2) n`,
    [tenant, count, newestAge],
  );
  return tenant;
}

async function kept(tenant: bigint): Promise<bigint[]> {
  const { rows } = await app.service.deps.db.query(
    'select seq from events where tenant_id = $1 order by seq',
    [tenant],
  );
  return rows.map(({ seq }) => seq);
}

describe('events', () => {
  test('are deleted after 7 days, in as many batches as necessary', async () => {
    const old = await tenantWithEvents(12_000, '7 days 1 minute');
    const young = await tenantWithEvents(3, '6 days 23 hours');
    await sweep(app.service.deps);
    // The service sweeps, too: of two that delete the same batch, the second one ends, and the first one goes on.
    await expect.poll(() => kept(old)).toStrictEqual([]);
    expect(await kept(young)).toStrictEqual([1n, 2n, 3n]);
  });

  test('are deleted from the oldest on, even if the clock was turned back', async () => {
    const { db } = app.service.deps;
    const tenant = await tenantWithEvents(10, '1 hour');
    await db.query(
      `update events set at = ${moved('at', '-8 days')} where tenant_id = $1 and seq in (3, 5)`,
      [tenant],
    );
    expect(await deleteOldEvents(db, { days: 7, limit: 1 })).toBe(3);
    expect(await kept(tenant)).toStrictEqual([4n, 5n, 6n, 7n, 8n, 9n, 10n]);
    expect(await deleteOldEvents(db, { days: 7, limit: 1 })).toBe(2);
    expect(await deleteOldEvents(db, { days: 7, limit: 1 })).toBe(0);
  });

  test('concurrent sweeps leave no hole', async () => {
    const { db } = app.service.deps;
    const tenant = await tenantWithEvents(2_000, '6 days 23 hours 45 minutes');
    const sweeps = Promise.all(
      Array.from({ length: 4 }, async () => {
        while ((await deleteOldEvents(db, { days: 7, limit: 100 })) > 0);
      }),
    );
    let sweeping = true;
    const done = sweeps.finally(() => {
      sweeping = false;
    });
    while (sweeping) {
      const seqs = await kept(tenant);
      expect(seqs).toStrictEqual(seqs.map((_, at) => seqs[0]! + BigInt(at)));
    }
    await done;
    // A sweep of the service may go on where these have ended.
    await expect.poll(async () => (await kept(tenant)).length).toBeLessThan(1_000);
  });
});
