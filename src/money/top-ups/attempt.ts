/** An automatic top-up, from the wish to its outcome. */
import { isId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** `pending`: not sent yet. `unknown`: sent, without an answer so far. Both are open. */
export const ATTEMPT_STATES = ['pending', 'unknown', 'succeeded', 'declined', 'canceled'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** The provider may forget an idempotency key after 24 hours. After this time nothing is sent again. */
export const RESEND_SECONDS_MAX = 23 * 3600;

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

export function isAttemptId(text: string): boolean {
  return isId('tu', text);
}
