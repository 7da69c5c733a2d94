import type { TenantId } from '../../base/tenants/tenant.ts';

/** An event that needs a decision by an operator (`parked`), or that is tried again (`failing`). */
export interface OpenEvent {
  readonly id: string;
  readonly type: string;
  readonly state: 'parked' | 'failing';
  readonly reason: string;
  readonly tries: number;
  readonly paymentId: string | null;
  readonly tenant: TenantId | null;
  readonly receivedAt: Date;
}
