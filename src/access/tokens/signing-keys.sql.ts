/** SQL of `signing_keys`. The schedule runs by the clock of the database. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { lockReferenceTables } from '../../base/db/reference-tables.sql.ts';
import {
  ACTIVE_DAYS,
  type NewSigningKey,
  PENDING_SECONDS,
  type PublicJwk,
  RETIRING_SECONDS,
  SIGNING_ALGORITHM,
  type SigningKeyRow,
} from './signing-key.ts';

const COLUMNS = `kid, state, published_at as "publishedAt", activated_at as "activatedAt",
  remove_at as "removeAt", removed_at as "removedAt",
  case state when 'pending' then published_at <= now() - make_interval(secs => ${PENDING_SECONDS})
             when 'active' then activated_at <= now() - make_interval(days => ${ACTIVE_DAYS})
             when 'retiring' then remove_at <= now()
             else false end as due`;

/** Serializes changes to the keys by processes and operators. Reads are not blocked. */
export async function lockSigningKeys(tx: Tx): Promise<void> {
  await lockReferenceTables(tx);
  await tx.query({
    name: 'lock-signing-keys',
    text: 'lock table signing_keys in share row exclusive mode',
  });
}

/** The newest first. */
export async function findSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  const { rows } = await db.query<SigningKeyRow>({
    name: 'list-signing-keys',
    text: `select ${COLUMNS} from signing_keys order by published_at desc, kid`,
  });
  return rows;
}

export async function findPublicKeys(db: Db): Promise<PublicJwk[]> {
  const { rows } = await db.query<{ key: PublicJwk }>({
    name: 'find-public-keys',
    text: `select public_key as key from signing_keys
            where state <> 'removed' order by published_at desc, kid`,
  });
  return rows.map((row) => row.key);
}

/**
 * The keys that may sign statements, or have signed them: all there ever were, except those that never signed or may
 * have leaked.
 */
export async function findStatementKeys(db: Db): Promise<PublicJwk[]> {
  const { rows } = await db.query<{ key: PublicJwk }>({
    name: 'find-statement-keys',
    text: `select public_key as key from signing_keys
            where state <> 'removed' or (activated_at is not null and removed_at >= remove_at)
            order by published_at desc, kid`,
  });
  return rows.map((row) => row.key);
}

export async function findActiveKid(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ kid: string }>({
    name: 'find-active-kid',
    text: `select kid from signing_keys where state = 'active'`,
  });
  return rows[0]?.kid;
}

export interface SealedKey {
  readonly kid: string;
  readonly privateKey: Buffer;
}

export async function listSealedKeys(db: Db): Promise<SealedKey[]> {
  const { rows } = await db.query<SealedKey>({
    name: 'list-sealed-keys',
    text: `select kid, private_key as "privateKey" from signing_keys where state <> 'removed'`,
  });
  return rows;
}

export async function findSealedKey(db: Db, kid: string): Promise<SealedKey | undefined> {
  const { rows } = await db.query<SealedKey>({
    name: 'find-sealed-key',
    text: `select kid, private_key as "privateKey" from signing_keys where kid = $1 and state <> 'removed'`,
    values: [kid],
  });
  return rows[0];
}

export async function insertPendingKey(
  tx: Tx,
  key: Pick<NewSigningKey, 'kid' | 'publicKey'> & { readonly sealedPrivateKey: Buffer },
): Promise<void> {
  await tx.query({
    name: 'insert-pending-key',
    text: `insert into signing_keys (kid, alg, public_key, private_key, state)
           values ($1, $2, $3, $4, 'pending')`,
    values: [key.kid, SIGNING_ALGORITHM, key.publicKey, key.sealedPrivateKey],
  });
}

export async function markActive(tx: Tx, kid: string): Promise<void> {
  await tx.query({
    name: 'mark-signing-key-active',
    text: `update signing_keys set state = 'active', activated_at = now() where kid = $1`,
    values: [kid],
  });
}

export async function markRetiring(tx: Tx, kid: string): Promise<void> {
  await tx.query({
    name: 'mark-signing-key-retiring',
    text: `update signing_keys set state = 'retiring',
               remove_at = now() + make_interval(secs => $2) where kid = $1`,
    values: [kid, RETIRING_SECONDS],
  });
}

/** Also deletes the private key, so that later backups do not contain it. */
export async function markRemoved(tx: Tx, kid: string): Promise<void> {
  await tx.query({
    name: 'mark-signing-key-removed',
    text: `update signing_keys set state = 'removed', removed_at = now(), private_key = null where kid = $1`,
    values: [kid],
  });
}

/** For a key that may have leaked: it is removed, and never had a time at which it was done. */
export async function markCompromised(tx: Tx, kid: string): Promise<void> {
  await tx.query({
    name: 'mark-signing-key-compromised',
    text: `update signing_keys set state = 'removed', removed_at = coalesce(removed_at, t.now),
                   private_key = null, remove_at = null
             from (select now() as now) as t where kid = $1`,
    values: [kid],
  });
}
