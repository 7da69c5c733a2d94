/** SQL of `usage_conflicts`: ids that relays reported again with other values. Only the first report was charged. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type ErasedPart, type ErasedRow, outcome, partOf } from '../records/erase-in-records.sql.ts';
import { ERASED, type UsageRecord } from '../records/usage-record.ts';
import type { Conflict, ConflictLine, ConflictPlace } from './conflict.ts';

export type StoredConflict = Omit<Conflict, 'accepted'> & { readonly place: ConflictPlace };

/** The newest first, by their latest reports. */
export async function findConflicts(
  db: Db,
  tenant: TenantId,
  { after, limit }: { readonly after?: ConflictPlace | undefined; readonly limit: number },
): Promise<StoredConflict[]> {
  const { name, where, values } = filtered('find-conflicts', [tenant, limit], {
    after: after && ['(last_at, id) < (?, ?)', after.lastAt, after.id],
  });
  const { rows } = await db.query<StoredConflict>({
    name,
    text: `select id, times, first_at as "firstAt", last_at as "lastAt", reported,
                  jsonb_build_object('lastAt', last_at::text, 'id', id) as place
             from usage_conflicts where tenant_id = $1 ${where}
            order by last_at desc, id desc limit $2`,
    values,
  });
  return rows;
}

/** The newest conflicts first. */
export async function findConflictTenants(db: Db, limit: number): Promise<ConflictLine[]> {
  const { rows } = await db.query<ConflictLine>({
    name: 'list-conflict-tenants',
    text: `select tenant_id as tenant, count(*) as ids, sum(times)::bigint as times, max(last_at) as "lastAt"
             from usage_conflicts group by tenant_id order by max(last_at) desc limit $1`,
    values: [limit],
  });
  return rows;
}

/** Store reports that repeat an accepted id with different values: their count and the newest values. */
export async function recordConflicts(
  tx: Tx,
  conflicts: readonly { readonly tenant: TenantId; readonly record: UsageRecord }[],
): Promise<void> {
  if (conflicts.length === 0) return;
  const reported = new Map<string, { tenant: TenantId; id: string; times: number; values: string }>();
  for (const { tenant, record } of conflicts) {
    const key = `${tenant} ${record.id}`;
    const times = (reported.get(key)?.times ?? 0) + 1;
    reported.set(key, { tenant, id: record.id, times, values: renderReported(record) });
  }
  const rows = [...reported.values()];
  await tx.query(
    `insert into usage_conflicts (tenant_id, id, times, reported)
     select * from unnest($1::bigint[], $2::text[], $3::integer[], $4::jsonb[])
     on conflict (tenant_id, id) do update
        set times = usage_conflicts.times + excluded.times, last_at = excluded.last_at, reported = excluded.reported`,
    [
      rows.map((row) => row.tenant),
      rows.map((row) => row.id),
      rows.map((row) => row.times),
      rows.map((row) => row.values),
    ],
  );
}

/** The report as the relay sent it, without its id. */
function renderReported({
  role,
  tier,
  seconds,
  egressBytes,
  ingressBytes,
  room,
  participant,
}: UsageRecord): string {
  return JSON.stringify({
    room,
    participant,
    role,
    tier,
    seconds,
    egress_bytes: Number(egressBytes),
    ingress_bytes: Number(ingressBytes),
  });
}

const ERASED_AT_ONCE = 500;

/**
 * Erase these names from the tenant's next reports after id `after`. The account must be locked: a charge that read a record
 * before its name was erased may be about to store the name here.
 */
export async function eraseInConflicts(
  tx: Tx,
  tenant: TenantId,
  after: string,
  names: readonly string[],
): Promise<ErasedPart> {
  const { rows } = await tx.query<ErasedRow>({
    name: 'erase-in-conflicts',
    text: `with part as materialized (
             select id, reported ->> 'participant' as participant from usage_conflicts
              where tenant_id = $1 and id > $2 order by id limit ${ERASED_AT_ONCE}
           ), found as materialized (
             select id, participant from part where participant = any($3)
           ), erased as (
             update usage_conflicts set reported = jsonb_set(reported, '{participant}', '"${ERASED}"')
              where tenant_id = $1 and id = any(array(select id from found))
           )
           ${outcome(ERASED_AT_ONCE)}`,
    values: [tenant, after, names],
  });
  return partOf(rows[0]!);
}
