/** Tenants and keys for tests, written straight into a database: no signup, no payment. */
import { type KeyKind, type NewKey, newKey } from '../../src/access/keys/api-key.ts';
import type { AuthenticatedCaller } from '../../src/access/keys/authenticate.ts';
import { insertKey } from '../../src/access/keys/keys.sql.ts';
import { DEFAULT_CEILING, type KeyCeiling } from '../../src/access/rights/key-ceiling.ts';
import { TENANT_ROWS } from '../../src/access/signup/open-tenant.ts';
import type { Actor } from '../../src/base/audit/actor.ts';
import type { Pool } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { LimitedCaller } from '../../src/base/tenants/limited-caller.ts';
import type { LimitOverrides } from '../../src/base/tenants/limits.ts';
import {
  newTenantId,
  parseTenantId,
  type TenantId,
  type TenantStatus,
} from '../../src/base/tenants/tenant.ts';
import { insertTenant, updateExempt, updateStatus } from '../../src/base/tenants/tenants.sql.ts';
import { changeReferenceTable } from './reference-tables.ts';

/** Who makes the changes that a test asks for. */
export const OPERATOR: Actor = { kind: 'operator', id: 'test' };

/** A tenant as after a signup, by default. An exempt one needs no credit. */
export async function makeTenant(
  db: Pool,
  { id = newTenantId(), status = 'pending', exempt = false }: MadeTenant = {},
): Promise<TenantId> {
  await inTransaction(db, async (tx) => {
    await insertTenant(tx, { id, name: 'Ada Video', email: 'ada@example.com' }, TENANT_ROWS);
    if (status !== 'pending') await updateStatus(tx, { id, status: 'pending' }, status, 'made for a test');
    if (exempt) await updateExempt(tx, id, true);
  });
  return id;
}

/** One after another: on a cluster each waits for the one before, and none should wait for all with a connection. */
export async function makeTenants(db: Pool, count: number): Promise<readonly TenantId[]> {
  const made: TenantId[] = [];
  while (made.length < count) made.push(await makeTenant(db));
  return made;
}

export interface MadeTenant {
  readonly id?: TenantId;
  readonly status?: TenantStatus;
  readonly exempt?: boolean;
}

export async function makeKey(
  db: Pool,
  tenant: TenantId,
  kind: KeyKind,
  ceiling?: KeyCeiling,
): Promise<NewKey> {
  const key = newKey('svc');
  await inTransaction(db, (tx) =>
    insertKey(tx, tenant, { ...key, name: kind, kind, ...(ceiling && { ceiling }) }),
  );
  return key;
}

/** A back end of an active tenant. */
export function callerOf(
  tenant: TenantId,
  { limits = null, status = 'active' }: { limits?: LimitOverrides | null; status?: TenantStatus } = {},
): AuthenticatedCaller {
  return {
    tenant,
    tenantStatus: status,
    tenantLimits: limits,
    keyId: '0123456789abcdef',
    kind: 'backend',
    ceiling: DEFAULT_CEILING,
    isTrusted: false,
    actor: { kind: 'key', id: '0123456789abcdef', address: '203.0.113.7' },
  };
}

/** What an operator changes. */
export async function setLimits(
  db: Pool,
  tenant: { readonly id: string },
  limits: LimitOverrides,
): Promise<void> {
  await changeReferenceTable(db, 'update tenants set limits = $2 where id = $1', [idOf(tenant), limits]);
}

/** The database id of a tenant's wire id. */
export function idOf(tenant: { readonly id: string }): TenantId {
  return parseTenantId(tenant.id)!;
}

/** A caller of the tenant, as far as limits know it. */
export function limitedCaller(
  tenant: TenantId,
  { status = 'active', limits = null }: { status?: TenantStatus; limits?: LimitOverrides | null } = {},
): LimitedCaller {
  return { tenant, tenantStatus: status, tenantLimits: limits };
}
