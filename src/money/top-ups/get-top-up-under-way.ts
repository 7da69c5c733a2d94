/** The automatic top-up of a tenant that is under way. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findOpenAttempt } from './top-up-attempts.sql.ts';

export interface TopUpUnderWay {
  /** Micros. */
  readonly amount: bigint;
  readonly createdAt: Date;
}

/** `undefined`: none is. There is never more than one. */
export function getTopUpUnderWay(db: Db, tenant: TenantId): Promise<TopUpUnderWay | undefined> {
  return findOpenAttempt(db, tenant);
}
