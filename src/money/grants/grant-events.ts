/** The event of a grant that ends soon. Amounts are decimal strings of micros. */
import type { NewEvent } from '../../events/event.ts';

export const GRANT_EVENTS = {
  grant_expiring: 'Granted credit ends soon, and not all of it is spent.',
} as const;

/** The subject of `grant_expiring`. */
export interface GrantExpiry {
  /** The id of the grant. */
  readonly grantId: string;
  readonly reason: string;
  readonly amount: string;
  /** What usage has not spent yet. It leaves the balance at the end. */
  readonly left: string;
  readonly expiresAt: Date;
}

export function grantExpiring({
  amount,
  left,
  ...grant
}: Omit<GrantExpiry, 'amount' | 'left'> & { amount: bigint; left: bigint }): NewEvent {
  const subject: GrantExpiry = { ...grant, amount: `${amount}`, left: `${left}` };
  return { type: 'grant_expiring', roomUid: null, subject };
}
