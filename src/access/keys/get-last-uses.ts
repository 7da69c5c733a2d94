/** When keys, or device credentials, of a tenant were last used. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LastUse, UsedKind } from './key-use.ts';
import { findLastUses } from './last-uses.sql.ts';

/** By id, to a minute or so; those that were never used are left out, and so are uses before stamps were kept. */
export async function getLastUses(
  db: Db,
  tenant: TenantId,
  kind: UsedKind,
  listed: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, LastUse>> {
  return findLastUses(
    db,
    tenant,
    kind,
    listed.map(({ id }) => id),
  );
}
