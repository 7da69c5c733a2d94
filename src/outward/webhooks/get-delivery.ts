/** One attempt to send an event, with the request as it was sent. */

import type { Db } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { PUBLIC_EVENT_TYPES } from '../events/event-catalogue.ts';
import { publicEventId, renderPublicEvent, renderTestEvent } from '../events/public-event.ts';
import { findPublicEvent } from '../events/public-events.sql.ts';
import { findDelivery } from './deliveries.sql.ts';
import type { Delivery } from './delivery.ts';
import { openSecrets } from './send-event.ts';
import { ownHeaders } from './send-request.ts';
import { signWebhook } from './signature.ts';
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
  const { signedAt, eventId } = delivery;
  const body = signedAt && (await findBody(deps.db, tenant, delivery, signedAt));
  if (!signedAt || body == null) return { delivery, request: undefined };
  const secrets = await findSecretsAt(deps.db, tenant, webhook, signedAt);
  const signed = signWebhook(
    { id: eventId, at: signedAt, body },
    openSecrets(deps, tenant, webhook, secrets),
  );
  const { 'webhook-signature': signature, ...stamped } = signed;
  const headers = { ...stamped, ...(signature && { 'webhook-signature': signature }), ...ownHeaders(body) };
  return { delivery, request: { headers, body } };
}

/** `undefined`: the event is deleted, or a database that was restored has another one by its number. */
async function findBody(
  db: Db,
  tenant: TenantId,
  { kind, eventId, seq, skipped }: Delivery,
  signedAt: Date,
): Promise<string | undefined> {
  if (kind === 'test' || seq === null) return renderTestEvent(eventId, signedAt);
  const event = await findPublicEvent(db, tenant, seq, PUBLIC_EVENT_TYPES);
  if (!event || publicEventId(tenant, event) !== eventId) return undefined;
  return renderPublicEvent(tenant, event, skipped);
}
