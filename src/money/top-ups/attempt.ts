/** An automatic top-up, from the wish to its outcome. */
import { isId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** `pending`: not sent yet. `unknown`: sent, without an answer so far. Both are open. */
export const ATTEMPT_STATES = ['pending', 'unknown', 'succeeded', 'declined', 'canceled'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** The provider may forget an idempotency key after 24 hours. After this time nothing is sent again. */
export const RESEND_SECONDS_MAX = 23 * 3600;

/** After this long, the provider no longer works on a request of ours that went unanswered. */
export const IN_FLIGHT_SECONDS_MAX = 120;

/** Seconds between two looks at an attempt that must not be sent now. */
export const LOOK_SECONDS = 30;

/** The longest time between two looks at an attempt with an unknown outcome. */
export const RETRY_SECONDS_MAX = 30;

/**
 * How long the provider may take to finish or undo a request that failed inside it. A second error under
 * the next key doubles it, and so on.
 */
const NEW_KEY_SECONDS = 600;

export interface Attempt {
  readonly id: string;
  readonly tenant: TenantId;
  /** Micros. */
  readonly amount: bigint;
  readonly state: AttemptState;
  readonly customerId: string | null;
  readonly paymentMethodId: string | null;
  readonly cardFingerprint: string | null;
  readonly paymentId: string | null;
  readonly sends: number;
  /** How many idempotency keys it has used. */
  readonly keys: number;
  /** Whether the provider repeats a stored error under the current key. */
  readonly isStuck: boolean;
  readonly firstSentAt: Date | null;
  /** Time since it was first sent, by the database clock. */
  readonly ageSeconds: number;
  /** Time since it was last sent, by the database clock. */
  readonly quietSeconds: number;
}

/** Seconds until an attempt with an unknown outcome is looked up again: 1, 2, 4 and at most 30. */
export function retrySeconds({ sends }: Pick<Attempt, 'sends'>): number {
  return Math.min(2 ** Math.max(sends - 1, 0), RETRY_SECONDS_MAX);
}

/** Seconds until an attempt that the provider answers with a stored error is sent with a new key. */
export function newKeySeconds({ keys }: Pick<Attempt, 'keys'>): number {
  return NEW_KEY_SECONDS * 2 ** (keys - 1);
}

export function isAttemptId(text: string): boolean {
  return isId('tu', text);
}
