/**
 * Send one event to a webhook now, outside the order: the test event, or an event again. Also while it is paused.
 *
 * One attempt is made. Its failure does not matter to the deliveries in order; an event that is delivered is not tried again as one
 * that was put aside.
 */

import { runTogether } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import type { Mutation, OnceDeps } from '../../base/idempotency/once.ts';
import { onceOutside } from '../../base/idempotency/once-outside.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { numberEvents } from '../../events/number-events.ts';
import { PUBLIC_EVENT_TYPES } from '../events/event-catalogue.ts';
import { publicEvent, testEvent } from '../events/public-event.ts';
import { findPublicEvent } from '../events/public-events.sql.ts';
import type { WebhookName } from './claimed-webhook.ts';
import { composeOf, type MessageRecipient } from './compose-message.ts';
import { endDeadLetter, findNowMs, insertDelivery } from './deliveries.sql.ts';
import { type Delivery, isDelivered } from './delivery.ts';
import { getLockedWebhook, getWebhook } from './get-webhook.ts';
import { renderOwnHeaders } from './own-headers.ts';
import { openOwnHeaders } from './sealed-headers.ts';
import { type Message, openSecrets, sendMessage, type WebhookDeps } from './send-message.ts';
import type { Webhook } from './webhook.ts';
import { hurryWebhook } from './webhook-cursors.sql.ts';
import { arrangeRooms, endWaiting, lockCursor } from './webhook-waiting.sql.ts';
import { findSealedHeaders, findSecrets } from './webhooks.sql.ts';

/** Shorter than a request of a tenant may take. */
const SEND_MS_MAX = 10_000;
/** A call that began longer ago is dead. */
const CALL_MS_MAX = 20_000;

export type SendNowDeps = WebhookDeps & OnceDeps;

/** Send the test event, and return what became of it, as `render` writes it. Fails with `not_found`. */
export function testWebhook(
  deps: SendNowDeps,
  mutation: Mutation,
  id: string,
  render: (delivery: Delivery) => string,
): Promise<string> {
  return sendNow(deps, mutation, id, render, async (_db, to, eventId, signedAt) =>
    composeOf(to, [testEvent(eventId, signedAt)], { kind: 'test', attempt: 1 }, signedAt),
  );
}

/** Send an event of the log again. Fails with `not_found`, and with `invalid_request` if the event is not kept. */
export async function resendEvent(
  deps: SendNowDeps,
  mutation: Mutation,
  id: string,
  seq: bigint,
  render: (delivery: Delivery) => string,
): Promise<string> {
  const { tenant } = mutation;
  await numberEvents(deps.db, [tenant]);
  return sendNow(deps, mutation, id, render, async (db, to, _eventId, signedAt) => {
    const event = await findPublicEvent(db, tenant, seq, PUBLIC_EVENT_TYPES);
    if (!event) throw invalidField('seq', 'must be the number of an event that is kept');
    return composeOf(to, [publicEvent(tenant, event)], { kind: 'resend', attempt: 1 }, signedAt);
  });
}

/**
 * Repetitions of a request wait for the call that began. If that call is dead, the next one sends: with an outcome that
 * is lost, the same test event comes again.
 */
function sendNow(
  deps: SendNowDeps,
  mutation: Mutation,
  id: string,
  render: (delivery: Delivery) => string,
  compose: (db: Db, to: MessageRecipient, eventId: string, signedAt: Date) => Promise<Message>,
): Promise<string> {
  const { tenant } = mutation;
  let own: string | undefined;
  return onceOutside(deps, mutation, {
    begin: async (tx) => {
      const webhook = await getWebhook(tx, tenant, id);
      const eventId = newId('evt');
      await compose(tx, { tenant, ...webhook }, eventId, new Date());
      own = `${eventId} ${await findNowMs(tx)}`;
      return own;
    },
    ask: async (work) => {
      const [eventId, begunMs] = work.split(' ') as [string, string];
      if (work !== own && (await findNowMs(deps.db)) < Number(begunMs) + CALL_MS_MAX) throw new BeingSent();
      const webhook = await getWebhook(deps.db, tenant, id);
      const message = await compose(deps.db, { tenant, ...webhook }, eventId, new Date());
      return render(await sendAndLog(deps, tenant, webhook, message));
    },
    outcomeOf: (error) => {
      if (error instanceof BeingSent) return 'busy';
      return error instanceof Failure ? 'refused' : 'unknown';
    },
  });
}

/** Another call with the same key sends at the moment. */
class BeingSent extends Failure {
  constructor() {
    super('overloaded', { retryAfter: 5 });
  }
}

/**
 * The event was delivered on request, so it is neither given up nor put aside any more. What was put aside behind it is due: the
 * receiver is there. A turn that is under way ends, because it knows the event as one that is put aside.
 */
async function endTrying(tx: Tx, name: WebhookName, seq: bigint): Promise<void> {
  const { tenant, id } = name;
  const { order } = await getLockedWebhook(tx, tenant, id);
  await runTogether(tx, [lockCursor(name)]);
  await endDeadLetter(tx, tenant, id, seq);
  if (!(await endWaiting(tx, name, seq))) return;
  if (order === 'room') await runTogether(tx, [arrangeRooms(name)]);
  await hurryWebhook(tx, name);
}

async function sendAndLog(
  deps: SendNowDeps,
  tenant: TenantId,
  { id, url }: Webhook,
  message: Message,
): Promise<Delivery> {
  const keys = openSecrets(deps, tenant, id, await findSecrets(deps.db, tenant, id));
  const sealed = await findSealedHeaders(deps.db, tenant, id);
  const ownHeaders = renderOwnHeaders(openOwnHeaders(deps.box, { tenant, id }, sealed));
  const signal = AbortSignal.timeout(SEND_MS_MAX);
  const [{ delivery }] = await sendMessage(deps, { tenant, url, ownHeaders }, keys, message, signal);
  const isLate = signal.aborted && delivery.status === null;
  const told = isLate ? { ...delivery, error: `no answer within ${SEND_MS_MAX / 1000} s` } : delivery;
  const logged = await inTransaction(deps.db, async (tx) => {
    if (isDelivered(told) && told.seq !== null) await endTrying(tx, { tenant, id }, told.seq);
    return insertDelivery(tx, tenant, id, told);
  });
  if (!logged) throw new Failure('not_found', { resource: 'webhook' });
  return logged;
}
