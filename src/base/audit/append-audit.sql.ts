/** Append to `audit_entries`. */
import type { Db } from '../db/pool.ts';
import { parseAddress } from '../lib/address.ts';
import { exactJson } from '../lib/exact-json.ts';
import { newId } from '../lib/ids.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { Actor } from './actor.ts';
import type { NewAuditEntry } from './audit-entry.ts';

/** In place of text that is no address, such as a proxy may forward. */
const UNKNOWN_ADDRESS = 'unknown';

/**
 * Record a change, in its transaction: the entry exists if and only if the change does.
 *
 * `tenant`: `null` for a change of the whole service. Call it only if something changed.
 */
export async function appendAudit(
  db: Db,
  tenant: TenantId | null,
  actor: Actor,
  { action, subject, before, after }: NewAuditEntry,
): Promise<void> {
  const address = actor.address === undefined ? null : (parseAddress(actor.address) ?? UNKNOWN_ADDRESS);
  await db.query({
    name: 'append-audit',
    text: `insert into audit_entries (id, tenant_id, actor_kind, actor_id, address, action, subject, before, after)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      newId('au'),
      tenant,
      actor.kind,
      actor.id,
      address,
      action,
      subject,
      before && exactJson(before),
      after && exactJson(after),
    ],
  });
}

/**
 * Note that an operator looked at `subject` of the tenant, unless an entry of the same hour of the clock says so. A unique index decides
 * it, so pages that are loaded at once leave one entry.
 */
export async function appendRead(
  db: Db,
  tenant: TenantId,
  { id }: Actor & { readonly kind: 'operator' },
  { action, subject }: Pick<NewAuditEntry, 'action' | 'subject'>,
): Promise<void> {
  await db.query({
    name: 'append-read',
    text: `insert into audit_entries (id, tenant_id, actor_kind, actor_id, action, subject)
           values ($1, $2, 'operator', $3, $4, $5) on conflict do nothing`,
    values: [newId('au'), tenant, id, action, subject],
  });
}
