/** SQL of what usage records say about participants. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Tier } from '../../money/pricing/role.ts';

/** Those of the tenants that have participants who have not left. */
export async function findOccupied(db: Db, tenants: readonly TenantId[]): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'find-occupied-tenants',
    // The limit makes PostgreSQL look up one row for each tenant, however many participants there are.
    text: isDistributed()
      ? 'select distinct tenant_id as tenant from participants where tenant_id = any($1) and left_at is null'
      : `select t.id as tenant from unnest($1::bigint[]) as t (id)
            cross join lateral (select from participants p
                                 where p.tenant_id = t.id and p.left_at is null limit 1) present`,
    values: [tenants],
  });
  return rows.map((row) => row.tenant);
}

/** A participant of the live room of that name, as seen in a usage record. */
export interface Sighting {
  readonly tenant: TenantId;
  readonly room: string;
  readonly username: string;
  readonly tier: Tier;
}

/** Those of each tenant by a statement of its own, where tables are distributed. */
async function markSeenByTenant(db: Db, sightings: readonly Sighting[]): Promise<void> {
  for (const [tenant, own] of Map.groupBy(sightings, (each) => each.tenant)) {
    await db.query({
      name: 'mark-seen-of-tenant',
      text: `with seen as (
               select p.room_uid, p.username, s.tier
                 from unnest($2::text[], $3::text[], $4::text[]) as s (room, username, tier)
                 join rooms r on r.tenant_id = $1 and r.name = s.room and r.state = 'LIVE'
                 join participants p on p.tenant_id = $1 and p.room_uid = r.uid and p.username = s.username
                where p.left_at is null for update of p skip locked
             )
             update participants p set last_seen_at = now(), tier = seen.tier from seen
              where p.tenant_id = $1 and p.room_uid = seen.room_uid and p.username = seen.username`,
      values: [
        tenant,
        own.map((each) => each.room),
        own.map((each) => each.username),
        own.map((each) => each.tier),
      ],
    });
  }
}

/**
 * Each participant at most once. Participants who are not in a live room are skipped, and so are locked rows.
 */
export async function markSeen(db: Db, sightings: readonly Sighting[]): Promise<void> {
  if (isDistributed()) return markSeenByTenant(db, sightings);
  await db.query({
    name: 'mark-seen',
    text: `with seen as (
             select p.tenant_id, p.room_uid, p.username, s.tier
               from unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
                    as s (tenant_id, room, username, tier)
               join rooms r on r.tenant_id = s.tenant_id and r.name = s.room and r.state = 'LIVE'
               join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid
                  and p.username = s.username
              where p.left_at is null for update of p skip locked
           )
           update participants p set last_seen_at = now(), tier = seen.tier from seen
            where p.tenant_id = seen.tenant_id and p.room_uid = seen.room_uid and p.username = seen.username`,
    values: [
      sightings.map((each) => each.tenant),
      sightings.map((each) => each.room),
      sightings.map((each) => each.username),
      sightings.map((each) => each.tier),
    ],
  });
}
