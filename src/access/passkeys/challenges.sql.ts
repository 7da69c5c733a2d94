/** SQL of `passkey_challenges`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { deleteOver } from '../sessions/delete-over.sql.ts';
import { CHALLENGE_MINUTES } from './passkey.ts';

/** What a signature is for. One for another purpose, or for another session, is worth nothing. */
export type Purpose =
  | { readonly purpose: 'log_in'; readonly session?: undefined }
  | { readonly purpose: 'add' | 'confirm'; readonly session: Buffer };

const EXPIRY = `now() + interval '${CHALLENGE_MINUTES} minutes'`;

/** `false`: the session is over. */
export async function insertChallenge(db: Db, hash: Buffer, { purpose, session }: Purpose): Promise<boolean> {
  if (session !== undefined) return insertBound(db, hash, purpose, session);
  await db.query({
    name: 'insert-challenge',
    text: `insert into passkey_challenges (hash, purpose, expires_at) values ($1, $2, ${EXPIRY})`,
    values: [hash, purpose],
  });
  return true;
}

async function insertBound(db: Db, hash: Buffer, purpose: string, session: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'insert-bound-challenge',
    text: `insert into passkey_challenges (hash, purpose, session, expires_at)
           select $1, $2, s.hash, ${EXPIRY} from console_sessions s where s.hash = $3 for key share`,
    values: [hash, purpose, session],
  });
  return rowCount === 1;
}

/** Use the challenge up. Of several at the same time, one gets it. `false`: it was used, is too old, or for something else. */
export async function takeChallenge(tx: Tx, hash: Buffer, { purpose, session }: Purpose): Promise<boolean> {
  const { rows } = await tx.query<{ isRight: boolean }>({
    name: 'take-challenge',
    text: `delete from passkey_challenges where hash = $1
           returning purpose = $2 and session is not distinct from $3 and expires_at > now() as "isRight"`,
    values: [hash, purpose, session ?? null],
  });
  return rows[0]?.isRight ?? false;
}

/** Delete some challenges that are too old. Returns how many. */
export async function deleteOldChallenges(db: Db, limit: number): Promise<number> {
  return deleteOver(db, 'passkey_challenges', 'expires_at <= now()', limit);
}
