/** Look how far an erasure is. */
import type { Db } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Erasure, isErasureId } from './erasure.ts';
import { findErasure } from './erasures.sql.ts';

/** Fails with `not_found`. */
export async function getErasure(db: Db, tenant: TenantId, id: string): Promise<Erasure> {
  const erasure = isErasureId(id) ? await findErasure(db, tenant, id) : undefined;
  if (!erasure) throw notFound('erasure');
  return erasure;
}
