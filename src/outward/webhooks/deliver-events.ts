/**
 * One turn of a webhook: deliver its next events, in its order.
 *
 * No transaction is open during a request. The lease keeps other processes away; each delivery renews it, and the place
 * moves only from where this turn has seen it. A process that dies leaves a lease that is free once the others know that
 * it is gone: the events that were under way are then sent again.
 */
import { runTogether } from '../../base/db/pipeline.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { newId } from '../../base/lib/ids.ts';
import type { ClaimedWebhook, WebhookName } from './claimed-webhook.ts';
import type { Turn, TurnEnd } from './delivery-turn.ts';
import { OrderedTurn } from './ordered-turn.ts';
import { renderOwnHeaders } from './own-headers.ts';
import { ParallelTurn } from './parallel-turn.ts';
import { scheduleOf } from './retry-schedule.ts';
import { openOwnHeaders } from './sealed-headers.ts';
import { openSecrets, type WebhookDeps } from './send-message.ts';
import { claimWebhook, releaseWebhook } from './webhook-cursors.sql.ts';
import { arrangeWaiting, findWaiting, hurryWaiting, releaseWaiting } from './webhook-waiting.sql.ts';
import { findSecrets } from './webhooks.sql.ts';

/** Deliver until nothing waits, a delivery fails, or the time of the turn is over. Returns whether events may still wait. */
export async function deliverEvents(deps: WebhookDeps, name: WebhookName, turn: Turn): Promise<boolean> {
  const { leaseSeconds, inDatabase } = turn;
  const { id: holder, gone } = turn.process;
  const claim = { lease: newId('le'), leaseSeconds, holder, gone };
  const claimed = await inDatabase(() => claimWebhook(deps.db, name, claim));
  if (!claimed) return false;
  const ending: Ending = { end: 'more', hasWaiting: claimed.hasWaiting || claimed.order !== 'tenant' };
  try {
    const schedule = scheduleOf(turn.schedule, claimed.hasAccepted);
    Object.assign(ending, await runTurn(deps, claimed, { ...turn, schedule }));
    return ending.end === 'more';
  } finally {
    if (ending.end !== 'released') await inDatabase(() => release(deps, claimed, ending));
  }
}

interface Ending {
  readonly end: TurnEnd;
  /** Events may be put aside. */
  readonly hasWaiting: boolean;
}

async function runTurn(deps: WebhookDeps, claimed: ClaimedWebhook, turn: Turn): Promise<Ending> {
  const { tenant, id, order, hasWaiting } = claimed;
  const { inDatabase } = turn;
  const ownHeaders = renderOwnHeaders(openOwnHeaders(deps.box, claimed, claimed.sealedHeaders));
  const served = { ...claimed, ownHeaders };
  const keys = openSecrets(deps, tenant, id, await inDatabase(() => findSecrets(deps.db, tenant, id)));
  if (order === 'tenant') return { end: await new OrderedTurn(deps, served, turn, keys).run(), hasWaiting };
  const waiting = hasWaiting ? await inDatabase(() => arrange(deps, claimed, turn)) : { count: 0, rooms: [] };
  const parallel = new ParallelTurn(deps, served, turn, keys, waiting);
  return { end: await parallel.run(), hasWaiting: parallel.hasPutAside };
}

async function arrange({ db }: WebhookDeps, claimed: ClaimedWebhook, { leaseSeconds }: Turn) {
  await inTransaction(db, async (tx) => {
    await runTogether(tx, arrangeWaiting(claimed));
    // Those that were under way are not any more.
    if (claimed.wasCut) await hurryWaiting(tx, claimed, leaseSeconds);
  });
  return findWaiting(db, claimed);
}

async function release(
  { db }: WebhookDeps,
  claimed: ClaimedWebhook,
  { end, hasWaiting }: Ending,
): Promise<void> {
  const rest = typeof end === 'object' || end === 'until due' ? end : undefined;
  if (!hasWaiting) {
    return releaseWebhook(db, claimed, typeof rest === 'object' ? rest.restSeconds : undefined);
  }
  await inTransaction(db, (tx) => runTogether(tx, releaseWaiting(claimed, rest)));
}
