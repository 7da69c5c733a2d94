/** A checkout: one visit to the provider's payment page. Source: specification 4.4. */
import { isId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export type CheckoutState = 'open' | 'processing' | 'paid' | 'failed' | 'expired';

export interface Checkout {
  readonly id: string;
  readonly tenant: TenantId;
  /** Micros. */
  readonly amount: bigint;
  readonly state: CheckoutState;
  readonly createdAt: Date;
  /** Who opened it, with an address that was proved. */
  readonly member: string | null;
}

export function isCheckoutId(text: string): boolean {
  return isId('co', text);
}
