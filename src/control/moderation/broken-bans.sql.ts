/** SQL that finds bans which a user who is present breaks. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Ban } from '../bans/ban.ts';
import { isOfDevice } from '../rooms/participants.sql.ts';

/** The subject of a ban, and where it applies. */
export interface BanScope extends Pick<Ban, 'room' | 'subject'> {
  readonly tenant: TenantId;
}

/**
 * Bans of users and devices that were set, or made stronger, in the last `seconds`, and that cover a user who
 * is present.
 *
 * Each ban is checked separately, in every room by primary key, so that no plan reads all participants for a
 * few bans. The statement has no name, so no plan is kept from when there were none, and its numbers are no
 * parameters, so that the planner knows them.
 */
export async function findBrokenBans(
  db: Db,
  { seconds, limit }: { readonly seconds: number; readonly limit: number },
): Promise<BanScope[]> {
  const { rows } = await db.query<BanScope>(
    `select b.tenant_id as tenant, b.room,
              json_build_object('kind', b.kind, 'value', b.value) as subject
         from bans b
        cross join lateral (
          select from rooms r join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid
           where b.kind = 'user' and r.tenant_id = b.tenant_id and r.name = b.room and r.state = 'LIVE'
             and p.username = b.value and p.left_at is null and p.expires_at > now()
          union all
          select from rooms r
           cross join lateral (
             select from participants p
              where p.tenant_id = r.tenant_id and p.room_uid = r.uid and p.username = b.value
                and p.left_at is null and p.expires_at > now() limit 1) there
           where b.kind = 'user' and b.room_uid is null and r.tenant_id = b.tenant_id and r.state = 'LIVE'
          union all
          select from admissions a
            join participants p using (tenant_id, room_uid, username)
           where b.kind = 'device' and ${isOfDevice('b.tenant_id', 'b.value')}
             and (b.room_uid is null
                  or a.room_uid = (select r.uid from rooms r where r.tenant_id = b.tenant_id and r.name = b.room
                                                               and r.state = 'LIVE'))
             and a.expires_at > now() and p.left_at is null
          limit 1) broken
        where b.set_at > now() - interval '${seconds} seconds' and b.kind <> 'cidr' and b.lifted_at is null
          and (b.expires_at is null or b.expires_at > now())
        order by b.set_at limit ${limit}`,
  );
  return rows;
}
