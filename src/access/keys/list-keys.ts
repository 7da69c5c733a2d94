/** Keys of a tenant, oldest first, including revoked ones. Never a secret. Source: specification 4.7. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ApiKey } from './api-key.ts';
import { findKeys } from './keys.sql.ts';

/** More keys than most tenants ever create, and little enough to answer at once: about 100 KB. */
export const KEYS_PAGE_SIZE = 500;

export interface KeyPage {
  readonly keys: readonly ApiKey[];
  /** Id of the last key, if there are more; `undefined`: there is no next page. */
  readonly end: string | undefined;
}

/** `after` is the `end` of the previous page. Returns `undefined` if it is of none. */
export async function listKeys(
  db: Db,
  tenant: TenantId,
  after: string | undefined,
): Promise<KeyPage | undefined> {
  const { items: keys, end } = await readPage(KEYS_PAGE_SIZE, (limit) =>
    findKeys(db, tenant, { after, limit }),
  );
  // Keys are never deleted, so at least one comes after the end of a page.
  if (after !== undefined && keys.length === 0) return undefined;
  return { keys, end: end?.id };
}
