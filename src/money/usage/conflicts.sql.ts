/** SQL of `usage_conflicts`: ids that relays reported again with other values. Only the first report was charged. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { decode, ROLE_CODES, TIER_CODES } from '../pricing/role-codes.ts';
import type { Conflict, ConflictLine, ConflictPlace } from './conflict.ts';

/** The newest first, by their latest reports. */
export async function findConflicts(
  db: Db,
  tenant: TenantId,
  { after, limit }: { readonly after?: ConflictPlace | undefined; readonly limit: number },
): Promise<(Conflict & { readonly place: ConflictPlace })[]> {
  const { name, where, values } = filtered('find-conflicts', [tenant, limit], {
    after: after && ['(c.last_at, c.id) < (?, ?)', after.lastAt, after.id],
  });
  const { rows } = await db.query<Conflict & { place: ConflictPlace }>({
    name,
    text: `select c.id, c.times, c.first_at as "firstAt", c.last_at as "lastAt", c.reported,
            jsonb_build_object('lastAt', c.last_at::text, 'id', c.id) as place,
            jsonb_build_object(
              'room', r.room, 'participant', r.participant,
              'role', ${decode('r.role', ROLE_CODES)}, 'tier', ${decode('r.tier', TIER_CODES)},
              'seconds', r.seconds, 'egress_bytes', r.egress_bytes, 'ingress_bytes', r.ingress_bytes) as accepted
       from usage_conflicts c
       left join usage_records r on r.tenant_id = c.tenant_id and r.id = c.id
      where c.tenant_id = $1 ${where}
      order by c.last_at desc, c.id desc limit $2`,
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
