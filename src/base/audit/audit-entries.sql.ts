/** Reads `audit_entries`, and erases old addresses there. */
import { filtered } from '../db/filtered.ts';
import type { Db } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { ActorKind } from './actor.ts';
import { type AuditEntry, ERASED_ADDRESS } from './audit-entry.ts';

const COLUMNS = `id, tenant_id as tenant, at, actor_kind as "actorKind", actor_id as "actorId", address, action,
  subject, before, after`;

/** Which entries; what is `undefined` does not matter. */
export interface AuditFilter {
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly from?: Date | undefined;
  /** Not in the period itself. */
  readonly to?: Date | undefined;
}

export interface OperatorFilter extends AuditFilter {
  /** Absent: every tenant, and what belongs to none. */
  readonly tenant?: TenantId | undefined;
  readonly limit: number;
}

/** Up to `limit` entries of the tenant before the one with id `after`, the newest first. */
export async function findAuditEntries(
  db: Db,
  tenant: TenantId,
  { after, limit, ...filter }: AuditFilter & { readonly after?: string | undefined; readonly limit: number },
): Promise<AuditEntry[]> {
  const { name, where, values } = filtered('find-audit-entries', [tenant, limit], {
    ...conditionsOf(filter),
    after: after && ['seq < (select seq from audit_entries where tenant_id = $1 and id = ?)', after],
  });
  const { rows } = await db.query<AuditEntry>({
    name,
    text: `select ${COLUMNS} from audit_entries where tenant_id = $1 ${where} order by seq desc limit $2`,
    values,
  });
  return rows;
}

/** Up to `limit` entries of the whole deployment or of one tenant, the newest first. For operators. */
export async function findAuditEntriesOfAll(
  db: Db,
  { tenant, limit, ...filter }: OperatorFilter,
): Promise<AuditEntry[]> {
  const { name, where, values } = filtered('find-audit-entries-of-all', [limit], {
    tenant: tenant !== undefined && ['tenant_id = ?', tenant],
    ...conditionsOf(filter),
  });
  const { rows } = await db.query<AuditEntry>({
    name,
    text: `select ${COLUMNS} from audit_entries where true ${where} order by seq desc limit $1`,
    values,
  });
  return rows;
}

/** Who first did something about each of these subjects: mostly who made it. */
export async function findFirstActors(
  db: Db,
  tenant: TenantId,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, { readonly kind: ActorKind; readonly id: string }>> {
  const { rows } = await db.query<{ subject: string; kind: ActorKind; id: string }>({
    name: 'find-first-actors',
    text: `select distinct on (subject) subject, actor_kind as kind, actor_id as id from audit_entries
            where tenant_id = $1 and subject = any($2) order by subject, seq`,
    values: [tenant, subjects],
  });
  return new Map(rows.map(({ subject, ...actor }) => [subject, actor]));
}

function conditionsOf({ action, subject, from, to }: AuditFilter) {
  return {
    action: action !== undefined && (['action = ?', action] as const),
    subject: subject !== undefined && (['subject = ?', subject] as const),
    from: from && (['at >= ?', from] as const),
    to: to && (['at < ?', to] as const),
  };
}

/** Erase up to `limit` addresses that are older than `days`. Returns how many. */
export async function eraseOldAddresses(
  db: Db,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'erase-old-addresses',
    text: `update audit_entries set address = '${ERASED_ADDRESS}'
            where seq in (select seq from audit_entries
                           where address <> '${ERASED_ADDRESS}' and at < now() - make_interval(days => $1)
                           order by at limit $2 for update skip locked)`,
    values: [days, limit],
  });
  return rowCount ?? 0;
}
