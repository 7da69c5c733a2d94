/** Device credentials of a tenant, oldest first, including revoked and expired ones. Never a secret. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { DeviceCredential } from './device-credential.ts';
import { findCredentials } from './device-credentials.sql.ts';

export interface CredentialPage {
  readonly credentials: readonly DeviceCredential[];
  /** Id of the last credential, if there are more; `undefined`: there is no next page. */
  readonly end: string | undefined;
}

/**
 * `after` is the `end` of the previous page. Returns `undefined` if it is of none: each door names that field
 * differently.
 */
export async function listCredentials(
  db: Db,
  tenant: TenantId,
  after: string | undefined,
  size: number,
): Promise<CredentialPage | undefined> {
  const find = (limit: number) => findCredentials(db, tenant, { after, limit });
  const { items: credentials, end } = await readPage(size, find);
  // Credentials are never deleted, so at least one comes after the end of a page.
  if (after !== undefined && credentials.length === 0) return undefined;
  return { credentials, end: end?.id };
}
