/** Keep what was typed into a form while its sender logs in again, and give it back once, to the sender alone. */
import type { Pool } from '../../base/db/pool.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { insertKeptForm, type KeptPlace, takeKeptForm } from './kept-forms.sql.ts';
import { hashSecret, isSecret, newSecret, type Session } from './session.ts';

export const KEPT_MINUTES = 15;
/** A member, key or operator has so many in a tenant. */
export const KEPT_FORMS_MAX = 3;
/** The fields take so many at most, as JSON. */
export const KEPT_BYTES_MAX = 16 * 1024;

type Fields = ReadonlyMap<string, string>;

interface KeepDeps {
  readonly db: Pool;
  readonly box: SecretBox;
}

/** Returns the id for `takeForm()`; `undefined`: the form is too large, or nothing proves whose it is. */
export async function keepForm(
  { db, box }: KeepDeps,
  session: Session,
  path: string,
  fields: Fields,
): Promise<string | undefined> {
  const owner = ownerOf(session);
  const text = Buffer.from(JSON.stringify([...fields]));
  if (owner === undefined || text.length > KEPT_BYTES_MAX) return undefined;
  const { plaintext: id, hash } = newSecret();
  const place = { hash, tenant: session.tenant, owner, path };
  const sealed = box.seal(text, formContext(place));
  await insertKeptForm(db, place, sealed, { minutes: KEPT_MINUTES, most: KEPT_FORMS_MAX });
  return id;
}

/** Use the form up. `undefined`: the session has none with this id at this page. */
export async function takeForm(
  { db, box }: KeepDeps,
  session: Session,
  path: string,
  id: string,
): Promise<Fields | undefined> {
  const owner = ownerOf(session);
  if (owner === undefined || !isSecret(id)) return undefined;
  const place = { hash: hashSecret(id), tenant: session.tenant, owner, path };
  const sealed = await takeKeptForm(db, place);
  return sealed && new Map(JSON.parse(String(box.open(sealed, formContext(place)))) as [string, string][]);
}

/** A log-in again is another session of the same owner. After a signup, nothing proves that the next one is of the same person. */
function ownerOf({ proof, member, keyId, operator }: Session): string | undefined {
  if (proof === 'signup') return undefined;
  if (member) return `member ${member.id}`;
  return keyId === undefined ? `operator ${operator}` : `key ${keyId}`;
}

/** What a form is sealed for. */
export function formContext({ hash, tenant, owner, path }: KeptPlace): string {
  return `kept form ${hash.toString('hex')} ${tenant} ${owner} ${path}`;
}
