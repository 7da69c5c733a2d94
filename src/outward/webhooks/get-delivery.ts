/** One attempt to send an event, with the request as it was sent. */

import type { Db } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { PUBLIC_EVENT_TYPES } from '../events/event-catalogue.ts';
import { type PublicEvent, publicEvent, testEvent } from '../events/public-event.ts';
import { findPublicEvent } from '../events/public-events.sql.ts';
import { findBatch, findDelivery } from './deliveries.sql.ts';
import type { Delivery } from './delivery.ts';
import { openSecrets } from './send-message.ts';
import { ownHeaders } from './send-request.ts';
import { signWebhook } from './signature.ts';
import { renderBody, type WebhookBody } from './webhook-body.ts';
import { findSecretsAt } from './webhooks.sql.ts';

export interface DeliveryRequest {
  /** By name; without `webhook-signature` if the secret that signed is gone. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReadDelivery {
  readonly delivery: Delivery;
  /** `undefined`: the event, or the time of the attempt, is not kept. */
  readonly request: DeliveryRequest | undefined;
}

/** Fails with `not_found`. */
export async function getDelivery(
  deps: { readonly db: Db; readonly box: SecretBox },
  tenant: TenantId,
  webhook: string,
  id: bigint,
): Promise<ReadDelivery> {
  const delivery = await findDelivery(deps.db, tenant, webhook, id);
  if (!delivery) throw notFound('delivery');
  const { signedAt } = delivery;
  const sent = signedAt && (await findBody(deps.db, tenant, webhook, delivery, signedAt));
  if (!sent) return { delivery, request: undefined };
  const { id: webhookId, contentType, body } = sent;
  const secrets = await findSecretsAt(deps.db, tenant, webhook, signedAt);
  const signed = signWebhook(
    { id: webhookId, at: signedAt, body },
    openSecrets(deps, tenant, webhook, secrets),
  );
  const { 'webhook-signature': signature, ...stamped } = signed;
  const headers = {
    ...stamped,
    ...(signature && { 'webhook-signature': signature }),
    'content-type': contentType,
    ...ownHeaders(body),
  };
  return { delivery, request: { headers, body } };
}

/** `undefined`: an event is deleted, or a database that was restored has another one by its number. */
async function findBody(
  db: Db,
  tenant: TenantId,
  webhook: string,
  delivery: Delivery,
  signedAt: Date,
): Promise<WebhookBody | undefined> {
  const { format, batchId } = delivery;
  const told = batchId === null ? [delivery] : await findBatch(db, tenant, webhook, delivery);
  const found = await Promise.all(told.map((each) => findEvent(db, tenant, each, signedAt)));
  const events = found.filter((each) => each !== undefined) as [PublicEvent, ...PublicEvent[]];
  if (events.length < Math.max(1, told.length)) return undefined;
  const body = renderBody(tenant, events, { format, isList: batchId !== null });
  return batchId === null || body.id === batchId ? body : undefined;
}

async function findEvent(
  db: Db,
  tenant: TenantId,
  { kind, eventId, seq, skipped }: Delivery,
  signedAt: Date,
): Promise<PublicEvent | undefined> {
  if (kind === 'test' || seq === null) return testEvent(eventId, signedAt);
  const event = await findPublicEvent(db, tenant, seq, PUBLIC_EVENT_TYPES);
  const found = event && publicEvent(tenant, event, skipped);
  return found?.id === eventId ? found : undefined;
}
