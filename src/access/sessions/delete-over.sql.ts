/** Deletes sessions, links and challenges that are over. All of these tables have the hash of a secret as their key. */
import type { Db } from '../../base/db/pool.ts';

type SecretTable =
  | 'console_sessions'
  | 'kept_forms'
  | 'login_attempts'
  | 'login_links'
  | 'operator_links'
  | 'operator_sessions'
  | 'passkey_challenges';

/** Delete up to `limit` rows for which the condition `isOver` holds. Returns how many. */
export async function deleteOver(db: Db, table: SecretTable, isOver: string, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: `delete-old-${table}`,
    text: `delete from ${table} where hash in (
             select hash from ${table} where ${isOver} limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}
