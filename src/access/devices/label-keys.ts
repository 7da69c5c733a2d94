/** How people read which keys and device credentials are meant. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findKeyNames } from './key-names.sql.ts';

/** For each id that is known, its name and the id in brackets. */
export async function labelKeys(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  return labelsOf(await findKeyNames(db, tenant, ids));
}

/** `names`: by id. */
export function labelsOf(names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...names].map(([id, name]) => [id, `${name} (${id})`]));
}
