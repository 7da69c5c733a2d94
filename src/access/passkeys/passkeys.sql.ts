/** SQL of `passkey_holders` and `passkeys`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { isPasskeyId, type Passkey } from './passkey.ts';

/** The handle of the address; `fresh` if it has none yet. */
export async function upsertHolder(db: Db, email: string, fresh: Buffer): Promise<Buffer> {
  const { rows } = await db.query<{ handle: Buffer }>({
    name: 'upsert-passkey-holder',
    text: `insert into passkey_holders (email, handle) values ($1, $2)
           on conflict (email) do update set email = excluded.email returning handle`,
    values: [email, fresh],
  });
  return rows[0]!.handle;
}

/** Changes of the passkeys of one address take turns. Returns whether the address may have any. */
export async function lockHolder(tx: Tx, email: string): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'lock-passkey-holder',
    text: 'select from passkey_holders where email = $1 for update',
    values: [email],
  });
  return rows.length > 0;
}

/** Delete the passkeys of an address that is no member's any more, with their sessions. */
export async function deleteStranger(tx: Tx, email: string): Promise<void> {
  await tx.query({
    name: 'delete-passkey-holder',
    text: `delete from passkey_holders
            where email = $1 and not exists (
              select from members m where m.email = passkey_holders.email and m.joined_at is not null)`,
    values: [email],
  });
}

const COLUMNS = `id, credential, transports, name, backed_up as "backedUp", created_at as "createdAt",
  last_used_at as "lastUsedAt"`;

/** In the order in which they were added. */
export async function findPasskeys(db: Db, email: string): Promise<Passkey[]> {
  const { rows } = await db.query<Passkey>({
    name: 'find-passkeys',
    text: `select ${COLUMNS} from passkeys where email = $1 order by created_at, id`,
    values: [email],
  });
  return rows;
}

export interface NewPasskey extends Pick<Passkey, 'credential' | 'transports' | 'name' | 'backedUp'> {
  readonly publicKey: Uint8Array;
  readonly counter: number;
}

/** Returns the id; `undefined` if the credential is known. */
export async function insertPasskey(tx: Tx, email: string, passkey: NewPasskey): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'insert-passkey',
    text: `insert into passkeys (id, email, credential, public_key, counter, transports, name, backed_up)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (credential) do nothing returning id`,
    values: [
      newId('pk'),
      email,
      passkey.credential,
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
      passkey.name,
      passkey.backedUp,
    ],
  });
  return rows[0]?.id;
}

/** A passkey, to verify what it signed. */
export interface SigningPasskey {
  readonly id: string;
  readonly email: string;
  readonly handle: Buffer;
  readonly credential: Buffer;
  readonly publicKey: Buffer;
  readonly counter: number;
}

/** Until the end of the transaction nothing else compares its counter. */
export async function lockPasskey(tx: Tx, credential: Buffer): Promise<SigningPasskey | undefined> {
  const { rows } = await tx.query<Omit<SigningPasskey, 'counter'> & { counter: bigint }>({
    name: 'lock-passkey',
    text: `select p.id, p.email, h.handle, p.credential, p.public_key as "publicKey", p.counter
             from passkeys p join passkey_holders h on h.email = p.email
            where p.credential = $1 for update of p`,
    values: [credential],
  });
  return rows[0] && { ...rows[0], counter: Number(rows[0].counter) };
}

export async function notePasskeyUse(
  tx: Tx,
  id: string,
  { counter, backedUp }: { readonly counter: number; readonly backedUp: boolean },
): Promise<void> {
  await tx.query({
    name: 'note-passkey-use',
    text: 'update passkeys set counter = $2, backed_up = $3, last_used_at = now() where id = $1',
    values: [id, counter, backedUp],
  });
}

/** The name of the passkey that was deleted, with its sessions; `undefined` if the address has none with this id. */
export async function deletePasskey(tx: Tx, email: string, id: string): Promise<string | undefined> {
  if (!isPasskeyId(id)) return undefined;
  const { rows } = await tx.query<{ name: string }>({
    name: 'delete-passkey',
    text: 'delete from passkeys where email = $1 and id = $2 returning name',
    values: [email, id],
  });
  return rows[0]?.name;
}
