/** SQL that reads revocations, from tables that exist for other purposes. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
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
                  (select coalesce(json_agg(json_build_object('roomUid', r.uid, 'reason', r.end_reason)), '[]')
                     from rooms r
                    where r.tenant_id = $1 and r.ended_at > ${RECENTLY})
                    as "closedRooms"
             from tenants t left join event_streams s on s.tenant_id = t.id
            where t.id = $1`,
    values: [tenant],
  });
  return rows[0];
}

/** The last revocation of each of these tenants; missing while one has no number yet. */
export async function findRevocationSeqs(
  db: Db,
  tenants: readonly TenantId[],
): Promise<Map<TenantId, bigint>> {
  const { rows } = await db.query<{ tenant: TenantId; seq: bigint }>({
    name: 'find-revocation-seqs',
    text: isDistributed()
      ? `select t.id as tenant, coalesce(s.last_revocation, 0) as seq
             from tenants t left join event_streams s on s.tenant_id = t.id
            where t.id = any($1) and t.id not in (
              select tenant_id from unnumbered_events where tenant_id = any($1) and revokes)`
      : `select t.id as tenant, coalesce(s.last_revocation, 0) as seq
             from unnest($1::bigint[]) as t (id) left join event_streams s on s.tenant_id = t.id
            where not exists (select from unnumbered_events u where u.tenant_id = t.id and u.revokes)`,
    values: [tenants],
  });
  return new Map(rows.map(({ tenant, seq }) => [tenant, seq]));
}
