/** What a process that lost its lease, or that a change of the tenant overtook, may still do: log, and nothing else. */
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import {
  type ClaimedWebhook,
  claimWebhook,
  failDelivery,
  findDueWebhooks,
  finishDelivery,
  insertCursor,
} from '../../../src/outward/webhooks/webhook-cursors.sql.ts';
import { findWebhook, insertWebhook, updateWebhook } from '../../../src/outward/webhooks/webhooks.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const id = `wh_${'0'.repeat(32)}`;
const settings = { url: 'https://x.example/', types: [], description: '' };
let tenant: TenantId;
let claimed: ClaimedWebhook;

const claim = (lease: string) => claimWebhook(database.pool, { tenant, id }, { lease, leaseSeconds: 60 });
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
  latencyMs: 1,
  status: 204,
  error: null,
  answer: '',
} as const;
const finish = (webhook: ClaimedWebhook, from = 0n) =>
  finishDelivery(database.pool, webhook, { from, to: from + 1n, skipped: 0n, leaseSeconds: 60 }, delivery);
const fail = (webhook: ClaimedWebhook, waitSeconds?: number) =>
  inTransaction(database.pool, (tx) =>
    failDelivery(tx, webhook, { seq: 0n, waitSeconds, pausedBy: 'failing' }, { ...delivery, status: 500 }),
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
    expect(await findDueWebhooks(database.pool, [tenant], 10)).toEqual([]);
    expect(await claim('le_2')).toBeUndefined();
    await endLease();
    expect(await findDueWebhooks(database.pool, [tenant], 10)).toEqual([{ tenant, id }]);
    expect(await claim('le_2')).toMatchObject({ seq: 0n, lease: 'le_2' });
  });

  test('of twenty that take it at once, one gets it', async () => {
    await endLease();
    const claims = await Promise.all(Array.from({ length: 20 }, (_, at) => claim(`le_${at + 2}`)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });
});

describe('a delivery', () => {
  test('moves the place, is logged, and lets the turn go on', async () => {
    expect(await finish(claimed)).toBe(true);
    expect([(await show()).seq, await logged()]).toEqual([1n, 1]);
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
