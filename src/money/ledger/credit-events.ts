/** The events `credit_spent` and `credit_restored`. Source: specification 3.4. */
import { admits, type Tenant } from '../../base/tenants/tenant.ts';
import type { NewEvent } from '../../events/event.ts';

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

/** Whether a balance fell to zero or rose above it. */
export function isCreditChange(
  before: Pick<CreditState, 'balance'>,
  after: Pick<CreditState, 'balance'>,
): boolean {
  return before.balance > 0n !== after.balance > 0n;
}

/** The event of a credit change; `undefined`: it is none. */
export function creditChanged(before: CreditState, after: CreditState): NewEvent | undefined {
  if (!isCreditChange(before, after)) return undefined;
  const type = after.balance > 0n ? 'credit_restored' : 'credit_spent';
  const subject: CreditChange = { balance: `${after.balance}`, admitted: admits(after, after.balance) };
  return { type, roomUid: null, subject };
}
