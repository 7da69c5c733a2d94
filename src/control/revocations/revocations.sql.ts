/** SQL that reads revocations, from tables that exist for other purposes. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db } from '../../base/db/pool.ts';
import { admits, type TenantId, type TenantStatus } from '../../base/tenants/tenant.ts';
import { KEPT_SECONDS, type RevocationState } from './revocations.ts';

/** Inlined, not a parameter: a generic plan could not estimate its selectivity. */
const RECENTLY = `now() - interval '${KEPT_SECONDS} seconds'`;

/** `undefined`: there is no such tenant. One statement, so that number, contents and key are consistent. */
export async function findRevocations(db: Db, tenant: TenantId): Promise<RevocationState | undefined> {
  const { rows } = await db.query<RevocationState>({
    name: 'find-revocations',
    text: `select coalesce(s.last_revocation, 0) as seq, t.range_salt as "rangeSalt",
                  extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
                  (select kid from signing_keys where state = 'active') as kid,
                  -- Participants of an ended room are covered by the list of closed rooms.
                  (select coalesce(json_agg(json_build_object('roomUid', p.room_uid, 'username', p.username,
                            'epoch', p.epoch, 'reason', p.epoch_reason,
                            'withheld', p.muted || p.publish_revoked)), '[]')
                     from participants p
                     join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid and r.state = 'LIVE'
                    where p.tenant_id = $1 and p.revoked_at > ${RECENTLY})
                    as participants,
                  -- Mints check the name and the device, but do not always know the address.
                  (select coalesce(json_agg(json_build_object('roomUid', r.uid, 'kind', b.kind,
                            'value', coalesce(b.network::text, b.value),
                            'until', ceil(extract(epoch from b.expires_at)))), '[]')
                     from bans b
                     left join rooms r on r.tenant_id = $1 and r.name = b.room and r.state = 'LIVE'
                    where b.tenant_id = $1 and b.lifted_at is null
                      and (b.expires_at is null or b.expires_at > now())
                      and (b.kind = 'cidr' or b.created_at > ${RECENTLY})
                      and (b.room_uid is null or r.uid is not null)) as bans,
                  -- A tenant that never paid has no tokens, and could end rooms and revoke credentials without end.
                  (select coalesce(json_agg(json_build_object('roomUid', r.uid, 'reason', r.end_reason)), '[]')
                     from rooms r
                    where r.tenant_id = $1 and r.ended_at > ${RECENTLY} and t.status <> 'pending')
                    as "closedRooms",
                  (select coalesce(json_agg(c.id), '[]') from device_credentials c
                    where c.tenant_id = $1 and c.revoked_at > ${RECENTLY} and t.status <> 'pending')
                    as credentials
             from tenants t left join event_streams s on s.tenant_id = t.id
            where t.id = $1`,
    values: [tenant],
  });
  return rows[0];
}

/** What followers of a tenant are told about. */
export interface Standing {
  /** The last revocation. */
  readonly seq: bigint;
  /** Whether new sessions are admitted. */
  readonly admitted: boolean;
  /** The uids of hard budgets that are spent, in order. */
  readonly reached: readonly string[];
  readonly status: TenantStatus;
}

/** The hard budgets of tenant `a.tenant_id` that are spent in their present period. */
const REACHED = `select array_agg(b.uid order by b.uid) from budgets b
  where b.tenant_id = a.tenant_id and b.hard and b.spent >= b.max
    and (b.period = 'total' or b.period_start >= date_trunc(b.period, now(), 'UTC'))`;

/** The standing of each of these tenants; missing while a revocation has no number yet. */
export async function findStandings(
  db: Db,
  tenants: readonly TenantId[],
): Promise<ReadonlyMap<TenantId, Standing>> {
  const { rows } = await db.query<{
    tenant: TenantId;
    seq: bigint;
    balance: bigint;
    status: TenantStatus;
    exempt: boolean;
    reached: string[] | null;
  }>({
    name: 'find-standings',
    text: `select a.tenant_id as tenant, coalesce(s.last_revocation, 0) as seq, a.balance, t.status, t.exempt,
                  case when t.has_budgets and not t.exempt then (${REACHED}) end as reached
             from accounts a
             join tenants t on t.id = a.tenant_id
             left join event_streams s on s.tenant_id = a.tenant_id
            where a.tenant_id = any($1) and ${isNumbered()}`,
    values: [tenants],
  });
  return new Map(
    rows.map(({ tenant, seq, balance, reached, ...row }) => [
      tenant,
      { seq, admitted: admits(row, balance), reached: reached ?? [], status: row.status },
    ]),
  );
}

/** Whether all revocations of the tenant `a.tenant_id` have numbers; $1 are the tenants. */
function isNumbered(): string {
  return isDistributed()
    ? 'a.tenant_id not in (select tenant_id from unnumbered_events where tenant_id = any($1) and revokes)'
    : 'not exists (select from unnumbered_events u where u.tenant_id = a.tenant_id and u.revokes)';
}
