/** A payment that succeeded at the provider and was credited. Its id is the provider's. */
import type { TenantId } from '../../base/tenants/tenant.ts';

export const PAYMENT_KINDS = ['top_up', 'auto_top_up'] as const;

export interface Payment {
  readonly id: string;
  readonly tenant: TenantId;
  readonly kind: (typeof PAYMENT_KINDS)[number];
  /** Micros, without tax. */
  readonly credited: bigint;
  /** Micros that were paid on top of the credit. Always 0 for automatic top-ups. */
  readonly tax: bigint;
  /** Micros of credit taken back by refunds and disputes, between 0 and `credited`. */
  readonly reversed: bigint;
}

export interface ListedPayment extends Payment {
  /** When it was credited: the time of its entry in the ledger. */
  readonly settledAt: Date;
}

/** When payments were credited: from `from` on, and before `to`. */
export interface PaymentPeriod {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Which payments to list. */
export interface PaymentsQuery extends PaymentPeriod {
  /** The id of the last payment of the previous page. */
  readonly after: string | undefined;
  readonly size: number;
}

export function isPaymentId(text: string): boolean {
  return /^pi_[A-Za-z0-9_]{1,200}$/.test(text);
}
