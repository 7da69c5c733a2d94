/**
 * What becomes of an event that was put aside and has had its last attempt.
 *
 * If the webhook has accepted nothing since the event failed first, the fault is the receiver's: it is paused, and the event
 * is the first one when it goes on. Otherwise the fault is the event's: it is not sent again, and the others go on.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { ClaimedWebhook } from './claimed-webhook.ts';
import type { NewDelivery } from './delivery.ts';
import type { WebhookDeps } from './send-message.ts';
import { pauserAfter, tellPaused } from './tell-paused.ts';
import {
  type AsideOutcomes,
  lockToGiveUp,
  NO_OUTCOMES,
  noteAside,
  pauseLocked,
} from './webhook-waiting.sql.ts';

/** An attempt that is the last one of its event. */
export interface LastAttempt {
  readonly seq: bigint;
  /** How often the event has failed before this attempt. */
  readonly failures: number;
  readonly delivery: NewDelivery;
}

/** What the turn knows of the webhook. */
export type GivingUp = Pick<AsideOutcomes, 'failures' | 'standing' | 'leaseSeconds'>;

/** `paused`: the webhook; `dropped`: the event, with the rooms that are free by that; `kept`: the tenant has changed the webhook meanwhile. */
export type GivenUp =
  | { readonly kind: 'paused' | 'kept' }
  | { readonly kind: 'dropped'; readonly free: readonly string[] };

export async function giveUp(
  { db, events }: Pick<WebhookDeps, 'db' | 'events'>,
  webhook: ClaimedWebhook,
  last: LastAttempt,
  state: GivingUp,
): Promise<GivenUp> {
  const outcome = await inTransaction(db, (tx) => giveUpIn(tx, webhook, last, state));
  if (outcome.kind === 'paused') events.wake(webhook.tenant);
  return outcome;
}

async function giveUpIn(
  tx: Tx,
  webhook: ClaimedWebhook,
  { seq, failures, delivery }: LastAttempt,
  state: GivingUp,
): Promise<GivenUp> {
  const locked = await lockToGiveUp(tx, webhook, seq);
  if (!locked) return { kind: 'kept' };
  const pausedBy = pauserAfter(delivery);
  const isReceivers = pausedBy === 'gone' || webhook.order === 'tenant' || !locked.hasDelivered;
  const noted = { ...NO_OUTCOMES, deliveries: [delivery], ...state };
  if (locked.isSame && !isReceivers) {
    const dropped = { ...noted, ended: [seq], deliveries: [{ ...delivery, gaveUp: true }] };
    return { kind: 'dropped', free: (await noteAside(tx, webhook, dropped)).free };
  }
  // It is due once the webhook goes on.
  const failed = [{ seq, failures, waitSeconds: 0, isUnderWay: !locked.isSame }];
  await noteAside(tx, webhook, { ...noted, failed });
  if (!locked.isSame) return { kind: 'kept' };
  await pauseLocked(tx, webhook, pausedBy);
  await tellPaused(tx, webhook, pausedBy, delivery);
  return { kind: 'paused' };
}
