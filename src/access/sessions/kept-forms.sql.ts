/** SQL of `kept_forms`. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { deleteOver } from './delete-over.sql.ts';

/** Where a form is kept, and for whom. */
export interface KeptPlace {
  readonly hash: Buffer;
  readonly tenant: TenantId;
  readonly owner: string;
  /** The path of the page that has the form. */
  readonly path: string;
}

/** Instead of the oldest ones, if the owner has `most` of them. */
export async function insertKeptForm(
  db: Db,
  { hash, tenant, owner, path }: KeptPlace,
  sealed: Buffer,
  { minutes, most }: { readonly minutes: number; readonly most: number },
): Promise<void> {
  await db.query({
    name: 'insert-kept-form',
    text: `with displaced as (
             delete from kept_forms where hash in (
               select hash from kept_forms where tenant_id = $2 and owner = $3 order by expires_at desc offset $7))
           insert into kept_forms (hash, tenant_id, owner, path, sealed, expires_at)
           values ($1, $2, $3, $4, $5, now() + make_interval(mins => $6))`,
    values: [hash, tenant, owner, path, sealed, minutes, most - 1],
  });
}

/** Use it up. `undefined`: there is none of this owner at this page. */
export async function takeKeptForm(
  db: Db,
  { hash, tenant, owner, path }: KeptPlace,
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ sealed: Buffer }>({
    name: 'take-kept-form',
    text: `delete from kept_forms
            where hash = $1 and tenant_id = $2 and owner = $3 and path = $4 and expires_at > now()
           returning sealed`,
    values: [hash, tenant, owner, path],
  });
  return rows[0]?.sealed;
}

/** Delete some that are too old. Returns how many. */
export async function deleteOldKeptForms(db: Db, limit: number): Promise<number> {
  return deleteOver(db, 'kept_forms', 'expires_at <= now()', limit);
}
