/** Events that are put aside: what a turn, a late request and a change of the tenant do to them at the same time. */
import { beforeEach, describe, expect, test } from 'vitest';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import type { ClaimedWebhook } from '../../../src/outward/webhooks/claimed-webhook.ts';
import type { NewDelivery } from '../../../src/outward/webhooks/delivery.ts';
import { giveUp } from '../../../src/outward/webhooks/give-up.ts';
import { WEBHOOK_DEFAULTS, type WebhookOrder } from '../../../src/outward/webhooks/webhook.ts';
import {
  claimWebhook,
  findDueWebhooks,
  insertCursor,
  noteDeliveries,
  pauseWebhook,
  resumeWebhook,
} from '../../../src/outward/webhooks/webhook-cursors.sql.ts';
import {
  type AsideOutcomes,
  findDueWaiting,
  findWaiting,
  lockCursor,
  noteAside,
  releaseWaiting,
} from '../../../src/outward/webhooks/webhook-waiting.sql.ts';
import { findWebhook, insertWebhook, updateWebhook } from '../../../src/outward/webhooks/webhooks.sql.ts';
import { depsOn } from '../../control/watchdogs/support.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });
const id = `wh_${'0'.repeat(32)}`;
const ROOMS = ['a', 'a', 'b', 'a', null, null] as const;
let tenant: TenantId;
let claimed: ClaimedWebhook;

const settings = (order: WebhookOrder) => ({ ...WEBHOOK_DEFAULTS, url: 'https://x.example/', order });
const delivery = (seq: number, more: Partial<NewDelivery> = {}): NewDelivery => ({
  kind: 'aside',
  format: 'boxoffice',
  batchId: null,
  eventId: `evt_${seq}`,
  seq: BigInt(seq),
  type: 'credit_spent',
  attempt: 1,
  signedAt: new Date(),
  skipped: 0n,
  latencyMs: 1,
  status: 204,
  error: null,
  answer: 'a "quoted", {odd} \\ answer',
  ...more,
});

async function start(order: WebhookOrder): Promise<void> {
  tenant = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
  await inTransaction(database.pool, async (tx) => {
    await insertWebhook(tx, tenant, { id, ...settings(order) });
    await insertCursor(tx, { tenant, id }, 0n);
    const made = ROOMS.map((roomUid) => ({ type: 'credit_spent', roomUid, subject: {} }));
    await appendNumberedEvents(tx, tenant, made);
  });
  claimed = (await claim())!;
}

const claim = (gone: readonly string[] = []) =>
  claimWebhook(
    database.pool,
    { tenant, id },
    { lease: `le_${Math.random()}`, leaseSeconds: 60, holder: 'pr_1', gone },
  );
/** All are put aside: those of these waits, and those behind them. */
const putAll = (waits: readonly (number | null)[], failures = 1) =>
  noteDeliveries(database.pool, claimed, {
    from: 0n,
    to: 6n,
    skipped: 0n,
    leaseSeconds: 60,
    standing: 0,
    failures: 1,
    hasDelivered: false,
    deliveries: [delivery(1, { status: 500 }), delivery(2, { status: null, error: 'none', answer: null })],
    put: ROOMS.map((room, at) => ({
      seq: BigInt(at + 1),
      room: room ?? '',
      failures: waits[at] === null ? 0 : failures,
      waitSeconds: waits[at] ?? null,
    })),
  });
const note = (outcomes: Partial<AsideOutcomes>, webhook = claimed) =>
  inTransaction(
    database.pool,
    (tx) =>
      noteAside(tx, webhook, {
        ended: [],
        failed: [],
        deliveries: [],
        skipped: 0n,
        hasDelivered: false,
        failures: 0,
        standing: 0,
        leaseSeconds: 60,
        ...outcomes,
      }),
    { first: [lockCursor(webhook)] },
  );
const release = (rest?: Parameters<typeof releaseWaiting>[1]) =>
  inTransaction(database.pool, (tx) => runTogether(tx, releaseWaiting(claimed, rest)));
const due = async () =>
  (await findDueWaiting(database.pool, { tenant, id }, { underWay: [], limit: 100 })).map(({ seq }) =>
    Number(seq),
  );
const rows = async () => {
  const { rows: found } = await database.pool.query(
    `select seq::integer, failures, retry_at is null as behind from webhook_waiting where tenant_id = $1 order by seq`,
    [tenant],
  );
  return found.map(({ seq, failures, behind }) => [seq, failures, behind]);
};
const isFound = async (gone: readonly string[] = []) =>
  (await findDueWebhooks(database.pool, [tenant], { limit: 10, gone })).length === 1;
const show = async () => (await findWebhook(database.pool, tenant, id))!;

describe('by room', () => {
  beforeEach(async () => {
    await start('room');
    expect(await putAll([0, null, 3_600, null, 0, null])).toBe(true);
  });

  test('the first of each room is due, and the next one once it has ended', async () => {
    expect(await due()).toEqual([1, 5]);
    expect(
      await note({ ended: [1n, 5n], deliveries: [delivery(1), delivery(5)], hasDelivered: true }),
    ).toEqual({
      isSame: true,
      free: [],
    });
    expect(await due()).toEqual([2, 6]);
    expect(await note({ ended: [6n] })).toEqual({ isSame: true, free: [''] });
    expect(await findWaiting(database.pool, { tenant, id })).toEqual({ count: 3, rooms: ['a', 'b'] });
  });

  test('a failure counts once, and an attempt that another one overtook does not', async () => {
    const failed = [{ seq: 1n, failures: 1, waitSeconds: 60, isUnderWay: false }];
    await note({ failed });
    await note({ failed });
    expect((await rows())[0]).toEqual([1, 2, false]);
    expect(await due()).toEqual([5]);
  });

  test('the look finds the webhook when the first one is due, and not before', async () => {
    await note({ ended: [1n, 2n, 4n, 5n, 6n] });
    await release();
    expect(await isFound()).toBe(false);
    await database.pool.query(`update webhook_waiting set retry_at = now() where tenant_id = $1`, [tenant]);
    expect(await isFound()).toBe(false);
    await inTransaction(database.pool, (tx) => resumeWebhook(tx, { tenant, id }));
    expect(await isFound()).toBe(true);
  });

  test('resuming makes those due that wait for a time, and none of those behind', async () => {
    await inTransaction(database.pool, (tx) => pauseWebhook(tx, { tenant, id }));
    await release();
    expect(await isFound()).toBe(false);
    await inTransaction(database.pool, (tx) => resumeWebhook(tx, { tenant, id }));
    expect(await due()).toEqual([1, 3, 5]);
    expect(await isFound()).toBe(true);
  });

  test('after another order, the end of a turn makes all due', async () => {
    claimed = { ...claimed, order: 'none' };
    await release();
    expect(await due()).toEqual([1, 2, 4, 5, 6]);
  });

  test('one that lost the one before it without being told is due at the end of the turn', async () => {
    await database.pool.query('delete from webhook_waiting where tenant_id = $1 and seq = 1', [tenant]);
    expect(await due()).toEqual([5]);
    await release();
    expect(await due()).toEqual([2, 5]);
  });

  test('a late request of an earlier turn and the end of a turn at once leave no room without one that is due', async () => {
    for (let round = 0; round < 20; round += 1) {
      await start('room');
      await putAll([0, null, 0, null, 0, null]);
      await Promise.all([note({ ended: [1n] }), release(), note({ ended: [5n] })]);
      expect(await due()).toEqual([2, 3, 6]);
      expect(await isFound()).toBe(true);
    }
  });
});

test('in no order, those of one room that failed under it come one after the other by room', async () => {
  await start('none');
  await putAll([0, 0, 0, 0, 0, 0]);
  claimed = { ...claimed, order: 'room' };
  await release();
  expect(await due()).toEqual([1, 3, 5]);
});

test('a turn that was cut short is found at once, though nothing is due', async () => {
  await start('none');
  await putAll([3_600, 3_600, 3_600, 3_600, 3_600, 3_600]);
  expect(await isFound()).toBe(false);
  expect(await isFound(['pr_1'])).toBe(true);
  expect(await claim(['pr_1'])).toMatchObject({ wasCut: true, hasWaiting: true });
});

test('nothing is sent before the rest of a webhook is over', async () => {
  await start('none');
  await putAll([0, 0, 0, 0, 0, 0]);
  await release({ restSeconds: 3_600 });
  expect(await isFound()).toBe(false);
  await inTransaction(database.pool, (tx) => resumeWebhook(tx, { tenant, id }));
  expect(await isFound()).toBe(true);
});

test('without the lease, or from another place, nothing is moved or put aside; it is logged', async () => {
  await start('none');
  claimed = { ...claimed, lease: 'le_lost' };
  expect(await putAll([0, 0, 0, 0, 0, 0])).toBe(false);
  expect([(await show()).seq, await rows()]).toEqual([0n, []]);
  const { rowCount } = await database.pool.query('select from webhook_deliveries where tenant_id = $1', [
    tenant,
  ]);
  expect(rowCount).toBe(2);
});

describe('the last attempt', () => {
  const last = { seq: 1n, failures: 9, delivery: delivery(1, { attempt: 10, status: 500 }) };
  const state = { failures: 1, standing: -10, leaseSeconds: 60 };
  const give = (more: Partial<typeof last> = {}) =>
    giveUp(depsOn(database.pool), claimed, { ...last, ...more }, state);

  beforeEach(async () => {
    await start('room');
    await putAll([0, null, 0, null, 0, null], 9);
  });

  test('drops the event if others were accepted since it failed, and its room goes on', async () => {
    await note({ ended: [3n], deliveries: [delivery(3)], hasDelivered: true });
    expect(await give()).toEqual({ kind: 'dropped', free: [] });
    expect(await due()).toEqual([2, 5]);
    expect(await show()).toMatchObject({ pausedBy: null });
    const { rows: logged } = await database.pool.query(
      'select seq::integer from webhook_deliveries where tenant_id = $1 and gave_up',
      [tenant],
    );
    expect(logged).toEqual([{ seq: 1 }]);
  });

  test('pauses the webhook if it has accepted nothing, and the event stays', async () => {
    expect(await give()).toEqual({ kind: 'paused' });
    expect(await show()).toMatchObject({ pausedBy: 'failing', waiting: 6 });
    expect((await rows())[0]).toEqual([1, 10, false]);
  });

  test('by 410 pauses in any case', async () => {
    await note({ ended: [3n], deliveries: [delivery(3)], hasDelivered: true });
    const gone = delivery(1, { status: 410 });
    expect(await give({ delivery: gone })).toEqual({ kind: 'paused' });
    expect(await show()).toMatchObject({ pausedBy: 'gone' });
  });

  test('does not count if the tenant has changed the webhook meanwhile', async () => {
    await inTransaction(database.pool, (tx) => updateWebhook(tx, tenant, id, settings('none')));
    expect(await give()).toEqual({ kind: 'kept' });
    expect((await rows())[0]).toEqual([1, 9, false]);
    expect(await show()).toMatchObject({ pausedBy: null });
  });
});
