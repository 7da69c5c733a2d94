/** SQL that adds up what a room incarnation cost. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Room } from '../rooms/room.ts';
import { NO_USAGE, type SessionUsage } from './session.ts';
import { readUsage, TIER_PLACES, USAGE, type UsageRow } from './sessions.sql.ts';

export interface RoomUsage {
  /** How many. */
  readonly sessions: bigint;
  /** The sums of all sessions. */
  readonly assigned: SessionUsage;
  readonly unassigned: SessionUsage;
}

const SECONDS = TIER_PLACES.map((at) => `coalesce(sum(seconds[${at}]), 0)::bigint`).join(', ');
const SUMS = ['egress_bytes', 'ingress_bytes', 'amount', 'unbilled'].map(
  (each) => `coalesce(sum(${each}), 0)`,
);

/** One statement, so that usage that is assigned meanwhile counts once. Sessions of a room begin after the room does. */
export async function sumSessions(
  db: Db,
  tenant: TenantId,
  { uid, name, createdAt }: Pick<Room, 'uid' | 'name' | 'createdAt'>,
): Promise<RoomUsage> {
  const { rows } = await db.query<UsageRow & { sessions: bigint | null }>({
    name: 'sum-sessions-of-room',
    text: `select count(*) as sessions, coalesce(sum(records), 0)::bigint as records, array[${SECONDS}] as seconds,
                  ${SUMS[0]} as "egressBytes", ${SUMS[1]} as "ingressBytes", ${SUMS[2]} as amount, ${SUMS[3]} as unbilled
             from sessions
            where tenant_id = $1 and room = $2 and room_uid = $3 and entered_at >= $4::timestamptz - interval '1 minute'
           union all
           select null, ${USAGE} from unassigned_usage where tenant_id = $1 and room = $2 and room_uid = $3`,
    values: [tenant, name, uid, createdAt],
  });
  const ofSessions = rows.find(({ sessions }) => sessions !== null)!;
  const others = rows.find(({ sessions }) => sessions === null);
  return {
    sessions: ofSessions.sessions!,
    assigned: readUsage(ofSessions),
    unassigned: others ? readUsage(others) : NO_USAGE,
  };
}
