/** What a process that lost its lease, or that a change of the tenant overtook, may still do: log, and nothing else. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, type TenantId, type TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import type { ClaimedWebhook } from '../../../src/outward/webhooks/claimed-webhook.ts';
import { deliverEvents } from '../../../src/outward/webhooks/deliver-events.ts';
import type { Turn } from '../../../src/outward/webhooks/delivery-turn.ts';
import { WEBHOOK_DEFAULTS } from '../../../src/outward/webhooks/webhook.ts';
import {
  claimWebhook,
  failDelivery,
  findDueWebhooks,
  finishDelivery,
  insertCursor,
} from '../../../src/outward/webhooks/webhook-cursors.sql.ts';
import { findWebhook, insertWebhook, updateWebhook } from '../../../src/outward/webhooks/webhooks.sql.ts';
import { depsOn } from '../../control/watchdogs/support.ts';
import { useDatabase } from '../../support/database.ts';
import { FAST_WEBHOOKS } from '../../support/receiver.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });
const id = `wh_${'0'.repeat(32)}`;
const settings = { ...WEBHOOK_DEFAULTS, url: 'https://x.example/' };
let tenant: TenantId;
let claimed: ClaimedWebhook;

const claim = (lease: string, gone: readonly string[] = []) =>
  claimWebhook(database.pool, { tenant, id }, { lease, leaseSeconds: 60, holder: 'pr_1', gone });
const due = (gone: readonly string[] = []) => findDueWebhooks(database.pool, [tenant], { limit: 10, gone });
const endLease = () =>
  database.pool.query(
    `update webhook_cursors set leased_until = now() - interval '1 s' where tenant_id = $1`,
    [tenant],
  );
const show = async () => (await findWebhook(database.pool, tenant, id))!;
const delivery = {
  kind: 'event',
  eventId: 'evt_1',
  seq: 1n,
  type: 'credit_spent',
  attempt: 1,
  signedAt: new Date(),
  skipped: 0n,
  latencyMs: 1,
  status: 204,
  error: null,
  answer: '',
  format: 'boxoffice',
  batchId: null,
} as const;
const finish = (webhook: ClaimedWebhook, from = 0n, standing = 0) =>
  finishDelivery(database.pool, webhook, { from, to: from + 1n, skipped: 0n, leaseSeconds: 60, standing }, [
    delivery,
  ]);
const fail = (webhook: ClaimedWebhook, waitSeconds?: number) =>
  inTransaction(database.pool, (tx) =>
    failDelivery(tx, webhook, { seq: 0n, waitSeconds, pausedBy: 'failing', standing: -10 }, [
      { ...delivery, status: 500 },
    ]),
  );
const logged = async () =>
  (await database.pool.query('select status from webhook_deliveries where tenant_id = $1', [tenant]))
    .rowCount;

beforeEach(async () => {
  tenant = await makeTenant(database.pool, { status: 'active' });
  await inTransaction(database.pool, async (tx) => {
    await insertWebhook(tx, tenant, { id, ...settings });
    await insertCursor(tx, { tenant, id }, 0n);
    const event = { type: 'credit_spent', roomUid: null, subject: {} };
    await appendNumberedEvents(tx, tenant, [event, event, event]);
  });
  claimed = (await claim('le_1'))!;
});

describe('the lease', () => {
  test('has one holder until it ends', async () => {
    expect(await due()).toEqual([]);
    expect(await claim('le_2')).toBeUndefined();
    await endLease();
    expect(await due()).toEqual([{ tenant, id, lane: 'fast', isFailing: false }]);
    expect(await claim('le_2')).toMatchObject({ seq: 0n, lease: 'le_2' });
  });

  test('is free at once if its process is gone', async () => {
    expect(await due(['pr_2'])).toEqual([]);
    expect(await claim('le_2', ['pr_2'])).toBeUndefined();
    expect(await due(['pr_1'])).toHaveLength(1);
    expect(await claim('le_2', ['pr_2', 'pr_1'])).toMatchObject({ lease: 'le_2' });
    expect(await finish(claimed)).toBe(false);
  });

  test('of twenty that take it at once, one gets it', async () => {
    await endLease();
    const claims = await Promise.all(Array.from({ length: 20 }, (_, at) => claim(`le_${at + 2}`)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });
});

test.each([
  ['active', 'fast', 'fast', 'slow'],
  ['suspended', 'fast', 'fast', 'slow'],
  ['pending', 'pending_fast', 'pending_slow', 'pending_slow'],
] as const)(
  'of a tenant that is %s, the standing decides about the lane',
  async (status, proven, fresh, bad) => {
    await endLease();
    await database.pool.query('update tenants set status = $2 where id = $1', [tenant, status]);
    const lanes: unknown[] = [];
    for (const standing of [3, 0, -1]) {
      await database.pool.query('update webhook_cursors set standing = $2 where tenant_id = $1', [
        tenant,
        standing,
      ]);
      lanes.push((await due())[0]?.lane);
    }
    expect(lanes).toEqual([proven, fresh, bad]);
  },
);

test('each lane has a limit of its own; those that do not fail come first, and one of each tenant', async () => {
  await endLease();
  const make = async (status: TenantStatus, standings: readonly number[], failures = 0) => {
    const made = await makeTenant(database.pool, { id: newTenantId(), status });
    for (const [at, standing] of standings.entries()) {
      const name = { tenant: made, id: `wh_${String(at).repeat(32)}` };
      await inTransaction(database.pool, async (tx) => {
        await insertWebhook(tx, made, { id: name.id, ...settings });
        await insertCursor(tx, name, 0n);
      });
      await database.pool.query(
        'update webhook_cursors set standing = $3, failures = $4 where tenant_id = $1 and webhook_id = $2',
        [made, name.id, standing, failures],
      );
    }
    await inTransaction(database.pool, (tx) =>
      appendNumberedEvents(tx, made, [{ type: 'credit_spent', roomUid: null, subject: {} }]),
    );
    return made;
  };
  const [crowd, failing] = [await make('pending', [0, 0, 0, 0, 0]), await make('pending', [-10], 1)];
  const [other, paid] = [await make('pending', [0]), await make('active', [0, -10])];
  const found = await findDueWebhooks(database.pool, [crowd, failing, other, paid], { limit: 3, gone: [] });
  const of = (lane: string) => found.filter((each) => each.lane === lane).map((each) => each.tenant);
  expect([of('fast'), of('slow'), of('pending_fast')]).toEqual([[paid], [paid], []]);
  expect(of('pending_slow').toSorted()).toEqual([crowd, crowd, other].toSorted());
  const all = await findDueWebhooks(database.pool, [failing, crowd], { limit: 9, gone: [] });
  expect(all.at(-1)).toMatchObject({ tenant: failing, isFailing: true });
});

describe('a delivery', () => {
  test('moves the place, is logged, and lets the turn go on', async () => {
    expect(await finish(claimed)).toBe(true);
    expect([(await show()).seq, await logged()]).toEqual([1n, 1]);
  });

  test('notes the standing', async () => {
    await finish(claimed, 0n, 2);
    await endLease();
    expect(await claim('le_2')).toMatchObject({ standing: 2 });
  });

  test('after the lease was lost moves nothing, and is logged', async () => {
    await endLease();
    await claim('le_2');
    expect(await finish(claimed)).toBe(false);
    expect([(await show()).seq, await logged()]).toEqual([0n, 1]);
  });

  test('moves nothing from another place than the one it knows', async () => {
    expect(await finish(claimed, 1n)).toBe(false);
    expect((await show()).seq).toBe(0n);
  });

  test('after a change of the tenant counts, and ends the turn', async () => {
    await inTransaction(database.pool, (tx) =>
      updateWebhook(tx, tenant, id, { ...settings, types: ['moderation'] }),
    );
    expect(await finish(claimed)).toBe(false);
    expect((await show()).seq).toBe(1n);
  });
});

describe('a failure', () => {
  test('puts the next attempt off, and gives the lease back', async () => {
    expect(await fail(claimed, 60)).toBe(false);
    expect(await show()).toMatchObject({ seq: 0n, failures: 1, pausedBy: null, retryAt: expect.any(Date) });
    expect(await claim('le_2')).toBeUndefined();
    await database.pool.query('update webhook_cursors set retry_at = now() where tenant_id = $1', [tenant]);
    expect(await claim('le_2')).toMatchObject({ failures: 1 });
  });

  test('without another attempt pauses', async () => {
    expect(await fail(claimed)).toBe(true);
    expect(await show()).toMatchObject({ failures: 1, pausedBy: 'failing', retryAt: null });
  });

  test('after a change of the tenant neither counts nor pauses, and gives the lease back', async () => {
    await inTransaction(database.pool, (tx) =>
      updateWebhook(tx, tenant, id, { ...settings, url: 'https://y.example/' }),
    );
    expect(await fail(claimed)).toBe(false);
    expect(await show()).toMatchObject({ failures: 0, pausedBy: null, retryAt: null });
    expect(await logged()).toBe(1);
    expect(await claim('le_2')).toMatchObject({ url: 'https://y.example/' });
  });

  test('after the lease was lost changes nothing', async () => {
    await endLease();
    await claim('le_2');
    expect(await fail(claimed)).toBe(false);
    expect(await show()).toMatchObject({ failures: 0, pausedBy: null });
    expect(await claim('le_3')).toBeUndefined();
  });
});

test('a turn whose webhook was changed while it skipped deleted events sends nothing more', async () => {
  await endLease();
  await database.pool.query('delete from events where tenant_id = $1 and seq <= 2', [tenant]);
  const change = () =>
    inTransaction(database.pool, (tx) =>
      updateWebhook(tx, tenant, id, { ...settings, url: 'https://y.example/' }),
    );
  const during = vi.fn();
  const turn: Turn = {
    ...FAST_WEBHOOKS.rules!,
    process: { id: 'pr_1', gone: [], isAlive: () => true },
    place: { during, isAborted: () => false, release: () => {} },
    takePlace: () => undefined,
    left: () => 0,
    leave: () => {},
    isEnding: () => false,
    isWanted: () => false,
    // The first statement claims the webhook.
    inDatabase: vi.fn((work) => work()).mockImplementationOnce(async (work) => work().finally(change)),
  };
  expect(await deliverEvents(depsOn(database.pool), { tenant, id }, turn)).toBe(true);
  expect(during).not.toHaveBeenCalled();
  expect(await show()).toMatchObject({ seq: 2n });
});
