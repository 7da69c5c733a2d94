/**
 * Tenants: their ids and their status.
 *
 * Source: specification 2.2 and 3.1. Inside, an id is the 64 bits behind `t_<16 hex>`, signed as
 * PostgreSQL's bigint is: every ledger row holds it, and 8 bytes are smaller than 19.
 */
import { randomBytes } from 'node:crypto';

declare const tenantId: unique symbol;
export type TenantId = bigint & { readonly [tenantId]: true };

export const TENANT_STATUSES = ['pending', 'active', 'suspended', 'archived', 'deleted'] as const;
export type TenantStatus = (typeof TENANT_STATUSES)[number];

/** Characters. Source: specification 8. */
export const TENANT_NAME_LENGTH_MAX = 200;
export const EMAIL_LENGTH_MAX = 254;
/** The longest text that tells the people of a tenant about its status. The table checks it too. */
export const TOLD_LENGTH_MAX = 500;

export interface Tenant {
  readonly id: TenantId;
  readonly name: string;
  readonly email: string;
  readonly status: TenantStatus;
  readonly exempt: boolean;
  readonly createdAt: Date;
}

export function newTenantId(): TenantId {
  return randomBytes(8).readBigInt64BE() as TenantId;
}

export function renderTenantId(id: TenantId): string {
  return `t_${BigInt.asUintN(64, id).toString(16).padStart(16, '0')}`;
}

/** The id behind `t_<16 hex>`; `undefined` for any other text. */
export function parseTenantId(text: string): TenantId | undefined {
  if (!/^t_[0-9a-f]{16}$/.test(text)) return undefined;
  return BigInt.asIntN(64, BigInt(`0x${text.slice(2)}`)) as TenantId;
}

/** The changes that operators may make. Only the first payment turns `pending` into `active`. */
const OPERATOR_MOVES: Readonly<Record<TenantStatus, readonly TenantStatus[]>> = {
  pending: ['deleted'],
  active: ['suspended', 'archived', 'deleted'],
  suspended: ['active', 'archived', 'deleted'],
  archived: ['active', 'deleted'],
  deleted: [],
};

export function operatorMayMove(from: TenantStatus, to: TenantStatus): boolean {
  return OPERATOR_MOVES[from].includes(to);
}

/**
 * Whether a tenant has its share of everything as one that paid. One that never did is pending until it is deleted, which is no reason
 * to give it more.
 */
export function countsAsPaid(status: TenantStatus): boolean {
  return status !== 'pending' && status !== 'deleted';
}

/** The same in SQL, of a status. */
export const COUNTS_AS_PAID = `not in ('pending', 'deleted')`;

/** Whether people of the tenant may open its console. Suspended and archived ones have a page that says so. */
export function hasConsole(status: TenantStatus): boolean {
  return status === 'pending' || status === 'active';
}

/**
 * Whether new sessions and tokens are admitted.
 *
 * Source: specification 3.4. An exempt tenant needs no credit, but it must be active.
 */
export function admits(tenant: Pick<Tenant, 'status' | 'exempt'>, balance: bigint): boolean {
  return tenant.status === 'active' && (tenant.exempt || balance > 0n);
}
