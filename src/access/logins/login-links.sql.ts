/** SQL of `login_links`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { deleteOver } from '../sessions/delete-over.sql.ts';
import { LINK_MINUTES, type LinkProof, type LoginLink } from './login-link.ts';

export async function insertLink(db: Db, hash: Buffer, link: LoginLink): Promise<void> {
  await db.query({
    name: 'insert-login-link',
    text: `insert into login_links (hash, proof, email, tenant_id, key_id, operator, passkey_id, next, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, now() + interval '${LINK_MINUTES} minutes')`,
    values: [
      hash,
      link.proof,
      'email' in link ? link.email : null,
      link.tenant ?? null,
      link.proof === 'key' ? link.keyId : null,
      link.proof === 'operator' ? link.operator : null,
      'email' in link ? (link.passkeyId ?? null) : null,
      link.next,
    ],
  });
}

interface LinkRow {
  readonly proof: LinkProof['proof'];
  readonly email: string | null;
  readonly tenant: TenantId | null;
  readonly keyId: string | null;
  readonly operator: string | null;
  readonly passkeyId: string | null;
  readonly next: string;
}

const COLUMNS =
  'proof, email, tenant_id as tenant, key_id as "keyId", operator, passkey_id as "passkeyId", next';

/** The link, unless it was used or is too old. */
export async function findLink(db: Db, hash: Buffer): Promise<LoginLink | undefined> {
  const { rows } = await db.query<LinkRow>({
    name: 'find-login-link',
    text: `select ${COLUMNS} from login_links where hash = $1 and used_at is null and expires_at > now()`,
    values: [hash],
  });
  return rows[0] && linkOf(rows[0]);
}

/** The link that was used already, or has just expired. */
export async function findSpentLink(db: Db, hash: Buffer): Promise<LoginLink | undefined> {
  const { rows } = await db.query<LinkRow>({
    name: 'find-spent-login-link',
    text: `select ${COLUMNS} from login_links where hash = $1 and (used_at is not null or expires_at <= now())`,
    values: [hash],
  });
  return rows[0] && linkOf(rows[0]);
}

/** Use the link up. Of several at the same time, one gets it. */
export async function takeLink(tx: Tx, hash: Buffer): Promise<LoginLink | undefined> {
  const { rows } = await tx.query<LinkRow>({
    name: 'take-login-link',
    text: `update login_links set used_at = (select now())
            where hash = $1 and used_at is null and expires_at > now() returning ${COLUMNS}`,
    values: [hash],
  });
  return rows[0] && linkOf(rows[0]);
}

function linkOf({ proof, email, tenant, keyId, operator, passkeyId, next }: LinkRow): LoginLink {
  switch (proof) {
    case 'key':
      return { proof, tenant: tenant!, keyId: keyId!, next };
    case 'operator':
      return { proof, tenant: tenant!, operator: operator!, next };
    default:
      return { proof, email: email!, tenant: tenant ?? undefined, passkeyId: passkeyId ?? undefined, next };
  }
}

/** Delete some links that are too old. Returns how many. */
export async function deleteOldLinks(db: Db, limit: number): Promise<number> {
  return deleteOver(db, 'login_links', 'expires_at <= now()', limit);
}
