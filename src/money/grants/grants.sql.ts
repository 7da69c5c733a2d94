/** SQL of `grants`. It is written only while the account is locked. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Grant, type GrantEnd, WARNED_DAYS } from './grant.ts';

const COLUMNS = `id, seq, amount, reason, granted_at as "grantedAt", expires_at as "expiresAt", ended_at as "endedAt",
  ended_by as "endedBy", last_seq as "lastSeq", end_seq as "endSeq", forfeited`;

export interface NewGrant extends Pick<Grant, 'id' | 'seq' | 'amount' | 'reason' | 'expiresAt'> {
  readonly key: string | undefined;
}

/** At the time of its posting. */
export async function insertGrant(tx: Tx, tenant: TenantId, grant: NewGrant): Promise<Grant> {
  const { seq, id, amount, reason, key, expiresAt } = grant;
  const { rows } = await tx.query<Grant>({
    name: 'insert-grant',
    text: `insert into grants as g (tenant_id, seq, id, amount, reason, key, granted_at, expires_at, due_at)
           select p.tenant_id, p.seq, $3, p.amount, $4, $5, p.at, $6::timestamptz,
                  $6::timestamptz - interval '${WARNED_DAYS} days'
             from postings p where p.tenant_id = $1 and p.seq = $2 and p.amount = $7
           returning ${COLUMNS}`,
    values: [tenant, seq, id, reason, key ?? null, expiresAt, amount],
  });
  return rows[0]!;
}

export async function findGrant(db: Db, tenant: TenantId, id: string): Promise<Grant | undefined> {
  const { rows } = await db.query<Grant>({
    name: 'find-grant',
    text: `select ${COLUMNS} from grants where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

/** Reliable only while the account is locked. */
export async function findGrantByKey(tx: Tx, tenant: TenantId, key: string): Promise<Grant | undefined> {
  const { rows } = await tx.query<Grant>({
    name: 'find-grant-by-key',
    text: `select ${COLUMNS} from grants where tenant_id = $1 and key = $2`,
    values: [tenant, key],
  });
  return rows[0];
}

/** Those that were given up to posting `last`, and had not ended before posting `first`, the oldest first. */
export async function findGrantsAmong(
  db: Db,
  tenant: TenantId,
  { first, last }: { readonly first: bigint; readonly last: bigint },
): Promise<Grant[]> {
  const { rows } = await db.query<Grant>({
    name: 'find-grants-among',
    text: `select ${COLUMNS} from grants
            where tenant_id = $1 and seq <= $3 and coalesce(greatest(last_seq, end_seq), $3) >= $2 order by seq`,
    values: [tenant, first, last],
  });
  return rows;
}

/** The tenants, or this one, that had grants in a period. The posting of an end is a moment later than `ended_at`. */
export async function listTenantsWithGrants(
  db: Db,
  { from, to, tenant }: { readonly from: Date; readonly to: Date; readonly tenant: TenantId | undefined },
): Promise<TenantId[]> {
  const { name, where, values } = filtered('list-tenants-with-grants', [from, to], {
    tenant: tenant !== undefined && ['tenant_id = ?', tenant],
  });
  const { rows } = await db.query<{ tenant: TenantId }>({
    name,
    text: `select distinct tenant_id as tenant from grants
            where granted_at < $2 and (ended_at is null or ended_at >= $1::timestamptz - interval '1 day') ${where}`,
    values,
  });
  return rows.map((row) => row.tenant);
}

/** Up to `limit` grants that were given before posting `before`, the newest first. */
export async function findGrantsBefore(
  db: Db,
  tenant: TenantId,
  before: bigint,
  limit: number,
): Promise<Grant[]> {
  const { rows } = await db.query<Grant>({
    name: 'find-grants-before',
    text: `select ${COLUMNS} from grants where tenant_id = $1 and seq < $2 order by seq desc limit $3`,
    values: [tenant, before, limit],
  });
  return rows;
}

export interface Ending {
  readonly by: GrantEnd;
  /** The newest posting that it may have paid. */
  readonly lastSeq: bigint;
  readonly endSeq: bigint | null;
  readonly forfeited: bigint;
}

export async function endGrant(tx: Tx, tenant: TenantId, seq: bigint, ending: Ending): Promise<void> {
  const { by, lastSeq, endSeq, forfeited } = ending;
  await tx.query({
    name: 'end-grant',
    text: `update grants set ended_at = t.now, ended_by = $3, last_seq = $4, end_seq = $5, forfeited = $6, due_at = null
             from (select now() as now) t where tenant_id = $1 and seq = $2`,
    values: [tenant, seq, by, lastSeq, endSeq, forfeited],
  });
}

/**
 * The time of day, which is not before posting `seq`: a clock that jumped may have put that into the future. It is later
 * than the beginning of a transaction that waited for the account.
 */
export async function findClock(db: Db, tenant: TenantId, seq: bigint): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>({
    name: 'find-clock',
    text: 'select greatest(clock_timestamp(), max(at)) as now from postings where tenant_id = $1 and seq = $2',
    values: [tenant, seq],
  });
  return rows[0]!.now;
}

/** Tenants with grants to warn of or to end, other than `leftOut`, those that have waited longest first. */
export async function listTenantsWithDueGrants(
  db: Db,
  limit: number,
  leftOut: readonly TenantId[],
): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    text: (tenants) => `select tenant_id as tenant from grants
      where due_at <= now() and tenant_id <> all($2::bigint[]) ${tenants.and('tenant_id', 3)}
      group by tenant_id order by min(due_at) limit $1`,
    values: [limit, leftOut],
  });
  return rows.map(({ tenant }) => tenant);
}

/** The grants whose end is near and was not told yet. From now on it counts as told. */
export async function takeUnwarned(tx: Tx, tenant: TenantId): Promise<bigint[]> {
  const { rows } = await tx.query<{ seq: bigint }>({
    name: 'take-unwarned-grants',
    text: `update grants set due_at = expires_at from (select now() as now) t
            where tenant_id = $1 and due_at < expires_at and due_at <= t.now returning seq`,
    values: [tenant],
  });
  return rows.map(({ seq }) => seq);
}
