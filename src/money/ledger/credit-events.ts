/** The events `credit_spent` and `credit_restored`. Source: specification 3.4. */
import { admits, type Tenant } from '../../base/tenants/tenant.ts';
import type { NewEvent } from '../../events/event.ts';

export const CREDIT_EVENTS = {
  credit_spent: 'The balance fell to zero or below.',
  credit_restored: 'The balance rose above zero again.',
} as const;

/** The subject of `credit_spent` and `credit_restored`. */
export interface CreditChange {
  /** Micros, as a decimal string: the balance after the change. */
  readonly balance: string;
  /** Whether new sessions and tokens are admitted from now on. */
  readonly admitted: boolean;
}

type CreditState = Pick<Tenant, 'status' | 'exempt'> & {
  /** Micros. */
  readonly balance: bigint;
};

/** The event of a balance that fell to zero or rose above it; `undefined`: it did neither. */
export function creditChanged(before: CreditState, after: CreditState): NewEvent | undefined {
  if (before.balance > 0n === after.balance > 0n) return undefined;
  const type = after.balance > 0n ? 'credit_restored' : 'credit_spent';
  const subject: CreditChange = { balance: `${after.balance}`, admitted: admits(after, after.balance) };
  return { type, roomUid: null, subject };
}
