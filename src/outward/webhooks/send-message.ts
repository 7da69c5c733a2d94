/** Sign a message of events, and send it to a webhook. */
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import type { AddressRanges } from './address-guard.ts';
import { isDelivered, type NewDelivery, outcomeFields } from './delivery.ts';
import type { SendOutcome, WebhookSender } from './send-request.ts';
import { signWebhook } from './signature.ts';
import type { WebhookBody } from './webhook-body.ts';
import type { WebhookMetrics } from './webhook-metrics.ts';
import type { SealedSecret } from './webhooks.sql.ts';

export interface WebhookDeps extends EventDeps {
  readonly metrics: EventDeps['metrics'] & WebhookMetrics;
  readonly box: SecretBox;
  readonly webhookSender: Pick<WebhookSender, 'send' | 'checkName'>;
  readonly config: {
    /** Addresses that may get webhooks although they are private. */
    readonly webhookNetworks: AddressRanges;
    /** Where requests come from, as the operator says: addresses and networks. None: it is not told. */
    readonly webhookEgress: readonly string[];
  };
}

type Outcome = 'latencyMs' | 'status' | 'error' | 'answer';

/** What is sent in one request. */
export interface Message extends WebhookBody {
  readonly signedAt: Date;
  /** What it tells, in order. */
  readonly events: readonly Omit<NewDelivery, Outcome>[];
}

/** What became of an event of a message. */
export interface Sent {
  readonly delivery: NewDelivery;
  readonly outcome: SendOutcome;
}

/** What became of all events of a message. */
export type AllSent = readonly [Sent, ...Sent[]];

/** Who gets it. */
export interface Recipient {
  readonly tenant: TenantId;
  readonly url: string;
  /** Headers of its own, as they are sent. */
  readonly ownHeaders: Readonly<Record<string, string>>;
}

/** A message that is ready to be sent. */
export interface SignedMessage {
  readonly message: Message;
  readonly headers: Readonly<Record<string, string>>;
}

/** `keys`: newest first. */
export function signMessage(keys: readonly Uint8Array[], message: Message): SignedMessage {
  const { id, signedAt: at, body, contentType } = message;
  return { message, headers: { ...signWebhook({ id, at, body }, keys), 'content-type': contentType } };
}

/** Send it once. What became of its events is the same for all, in their order. */
export async function sendSigned(
  deps: Pick<WebhookDeps, 'webhookSender' | 'metrics'>,
  { tenant, url, ownHeaders }: Recipient,
  { message: { body, events }, headers }: SignedMessage,
  signal?: AbortSignal,
): Promise<AllSent> {
  const outcome = await deps.webhookSender.send(
    { tenant, url, headers: { ...ownHeaders, ...headers }, body },
    signal,
  );
  const fields = outcomeFields(outcome);
  deps.metrics.webhookDuration.observe(outcome.latencyMs / 1000);
  const sent = events.map((event, at) => {
    // One answer is kept once, however many events it was to.
    const delivery = { ...event, ...fields, ...(at > 0 && { answer: null }) };
    deps.metrics.webhookDeliveries.inc({ kind: event.kind, outcome: resultOf(delivery) });
    return { delivery, outcome };
  });
  return sent as [Sent, ...Sent[]];
}

/** Sign it, and send it once. `keys`: newest first. */
export async function sendMessage(
  deps: Pick<WebhookDeps, 'webhookSender' | 'metrics'>,
  recipient: Recipient,
  keys: readonly Uint8Array[],
  message: Message,
  signal?: AbortSignal,
): Promise<AllSent> {
  return sendSigned(deps, recipient, signMessage(keys, message), signal);
}

/** `refused`: the answer had another status than 2xx; `unanswered`: there was none. */
function resultOf(delivery: NewDelivery): 'delivered' | 'refused' | 'unanswered' {
  if (isDelivered(delivery)) return 'delivered';
  return delivery.status === null ? 'unanswered' : 'refused';
}

/** What the secret of a webhook is sealed for. */
export function secretContext(tenant: TenantId, webhook: string, number: number): string {
  return `webhook ${renderTenantId(tenant)} ${webhook} ${number}`;
}

/** Newest first, as `secrets` are. */
export function openSecrets(
  { box }: Pick<WebhookDeps, 'box'>,
  tenant: TenantId,
  webhook: string,
  secrets: readonly SealedSecret[],
): Uint8Array[] {
  return secrets.map(({ number, sealed }) => box.open(sealed, secretContext(tenant, webhook, number)));
}
