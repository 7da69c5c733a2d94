/** A webhook whose lease this process has, for one turn of deliveries. */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { WebhookSettings } from './webhook.ts';

/** One webhook of one tenant. */
export interface WebhookName {
  readonly tenant: TenantId;
  readonly id: string;
}

/** What a turn of deliveries needs to know. */
export interface ClaimedWebhook extends WebhookName, WebhookSettings {
  /** Headers of its own. `null`: it has none. */
  readonly sealedHeaders: Buffer | null;
  readonly lease: string;
  readonly version: number;
  readonly seq: bigint;
  readonly skipped: bigint;
  readonly failures: number;
  /** See `delivery-lane.ts`. */
  readonly standing: number;
  /** Its tenant has never paid. */
  readonly isPending: boolean;
  /** Events are put aside. */
  readonly hasWaiting: boolean;
  /** It has accepted an event before. */
  readonly hasAccepted: boolean;
  /** Since the last turn ended. `null`: there was none. Negative: it was cut short. */
  readonly idleSeconds: number | null;
  /** The process of the last turn is gone, or has lost its lease. */
  readonly wasCut: boolean;
}

/** With its headers as they are sent. */
export interface ServedWebhook extends ClaimedWebhook {
  readonly ownHeaders: Readonly<Record<string, string>>;
}
