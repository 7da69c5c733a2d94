import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { listEvents } from '../../../src/control/streams/list-events.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { limitedCaller } from '../../support/tenants.ts';

const app = useService({ makesUpEvents: true });

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const ask = (
  tenant: TestTenant,
  request: Partial<Parameters<typeof listEvents>[2]>,
  deps = app.service.deps,
) =>
  listEvents(
    deps,
    { ...limitedCaller(parseTenantId(tenant.id)!), keyId: tenant.keyId },
    {
      after: undefined,
      room: undefined,
      limit: 50,
      waitMs: 0,
      signal: new AbortController().signal,
      ...request,
    },
  );

/** A tenant with `count` events, none of them in the room `rare`. */
async function tenantWithEvents(count: number): Promise<TestTenant> {
  const tenant = await app.signUp();
  const { db } = app.service.deps;
  const id = parseTenantId(tenant.id);
  await db.query(
    `insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, 'rare', 1, '{}')`,
    [id, `rm_${tenant.keyId.padEnd(32, '0')}`],
  );
  await db.query(
    `insert into event_streams (tenant_id, last_seq) values ($1, $2)
     on conflict (tenant_id) do update set last_seq = excluded.last_seq`,
    [id, count],
  );
  await db.query(
    `insert into events (tenant_id, seq, type, subject) select $1, n, 'room_created', '{}' from generate_series(1, $2) n`,
    [id, count],
  );
  return tenant;
}

/** Each statement takes `ms` longer. */
function slow(ms: number): Deps {
  const { db } = app.service.deps;
  vi.useFakeTimers({ toFake: ['performance'] });
  const query = async (...args: Parameters<typeof db.query>) => {
    vi.advanceTimersByTime(ms);
    return db.query(...args);
  };
  return { ...app.service.deps, db: Object.assign(Object.create(db), { query }) };
}

describe('a search for rare events', () => {
  test('goes through a long history', async () => {
    const tenant = await tenantWithEvents(35_000);
    expect(await ask(tenant, { room: 'rare' })).toMatchObject({ events: [], reached: { seq: 35_000n } });
  });

  test('ends when it has taken too long, and resumes from there', async () => {
    const tenant = await tenantWithEvents(35_000);
    const page = await ask(tenant, { room: 'rare' }, slow(3_000));
    expect(page.events).toStrictEqual([]);
    expect(page.reached.seq).toBe(10_000n);
    vi.useRealTimers();
    const next = await ask(tenant, { room: 'rare', after: page.reached });
    expect(next).toMatchObject({ isReset: false, events: [], reached: { seq: 35_000n } });
  });

  test('may take as long as a wait', async () => {
    const tenant = await tenantWithEvents(35_000);
    const page = await ask(tenant, { room: 'rare', waitMs: 17_000 }, slow(3_000));
    expect(page.reached.seq).toBe(30_000n);
  });

  test('ends when the client no longer waits', async () => {
    const tenant = await tenantWithEvents(35_000);
    const page = await ask(tenant, { room: 'rare', signal: AbortSignal.abort() });
    expect(page.reached.seq).toBe(10_000n);
  });
});

test('fails with `invalid_api_key` if the key was revoked during the wait', async () => {
  const tenant = await tenantWithEvents(1);
  const { db, events } = app.service.deps;
  const id = parseTenantId(tenant.id)!;
  const waiting = ask(tenant, { after: { seq: 1n, at: null }, waitMs: 30_000 });
  const page = await ask(tenant, {});
  expect(page.reached).toMatchObject({ seq: 1n, at: expect.any(Date) });
  const waits = vi.spyOn(events, 'wait');
  const patient = ask(tenant, { after: page.reached, waitMs: 30_000 });
  expect(await waiting).toMatchObject({ isReset: true });
  // Without a wait, the page of events would be older than the revocation.
  await vi.waitFor(() => expect(waits).toHaveBeenCalled(), { timeout: 60_000 });
  await changeReferenceTable(db, 'update api_keys set revoked_at = now() where id = $1', [tenant.keyId]);
  await db.query(`insert into unnumbered_events (tenant_id, type, subject) values ($1, 'room_ended', '{}')`, [
    id,
  ]);
  events.wake(id);
  await expect(patient).rejects.toMatchObject({ kind: 'invalid_api_key' });
});
