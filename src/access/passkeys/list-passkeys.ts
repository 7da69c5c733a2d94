/** The passkeys of a person, in the order in which they were added. */
import type { Db } from '../../base/db/pool.ts';
import type { Passkey } from './passkey.ts';
import { findPasskeys } from './passkeys.sql.ts';

export async function listPasskeys({ db }: { readonly db: Db }, email: string): Promise<Passkey[]> {
  return findPasskeys(db, email);
}
