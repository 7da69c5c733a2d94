/**
 * Webhooks: endpoints of a tenant that get its events, in order, one at a time, and at least once.
 *
 * A webhook is a reader with a place of its own in the tenant's log. What fails is sent again until it succeeds; the
 * events after it wait. When it has failed too often, the webhook is paused, and goes on at the same event when the
 * tenant resumes it.
 */

import type { ActingCaller } from '../../access/sessions/session.ts';
import type { Actor } from '../../base/audit/actor.ts';
import { isId } from '../../base/lib/ids.ts';

/** Webhooks of one tenant. */
export const WEBHOOKS_MAX = 20;
/** In characters. */
export const WEBHOOK_DESCRIPTION_LENGTH_MAX = 200;

/** `failing`: its last attempt failed; `gone`: it answered 410. */
export const PAUSERS = ['tenant', 'failing', 'gone'] as const;
export type Pauser = (typeof PAUSERS)[number];

/** What the tenant sets. */
export interface WebhookSettings {
  readonly url: string;
  /** None: all. */
  readonly types: readonly string[];
  readonly description: string;
}

export interface Webhook extends WebhookSettings {
  readonly id: string;
  readonly createdAt: Date;
  /** Every wanted event up to this number has been delivered. */
  readonly seq: bigint;
  /** `null`: it gets events. */
  readonly pausedBy: Pauser | null;
  readonly pausedAt: Date | null;
  /** Failed attempts to deliver the next event. */
  readonly failures: number;
  /** When that is tried again; `null`: nothing has failed, or it is paused. */
  readonly retryAt: Date | null;
}

/** Who changes webhooks: a caller with an API key, or a session of the console. */
export interface WebhookChanger extends ActingCaller {
  readonly actor: Actor;
}

export function isWebhookId(text: string): boolean {
  return isId('wh', text);
}
