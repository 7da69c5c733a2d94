import { Lookups } from '../../base/db/lookups.ts';
import type { Pool } from '../../base/db/pool.ts';
import { type CredentialInUse, findCredentialsById } from './device-credentials.sql.ts';

/** Look-ups of device credentials, also of those that work no longer. */
export class CredentialLookups extends Lookups<CredentialInUse> {
  constructor(db: Pool) {
    super((ids) => findCredentialsById(db, ids));
  }
}
