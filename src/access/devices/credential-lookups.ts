/** Look-ups of device credentials. Those that come at the same time share one statement. Nothing is cached. */
import { Gather } from '../../base/db/gather.ts';
import type { Pool } from '../../base/db/pool.ts';
import { type CredentialInUse, findCredentialsById } from './device-credentials.sql.ts';

export class CredentialLookups {
  readonly #lookups: Gather<string, CredentialInUse | undefined>;

  constructor(db: Pool) {
    this.#lookups = new Gather(async (ids) => {
      const found = await findCredentialsById(db, [...new Set(ids)]);
      return ids.map((id) => found.get(id));
    });
  }

  /** The credential with this id, also one that works no longer. */
  find(id: string): Promise<CredentialInUse | undefined> {
    return this.#lookups.ask(id);
  }
}
