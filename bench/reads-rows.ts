/** The rows that reads find: rooms with participants, among many of other tenants. */
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { DEFAULT_POLICY } from '../src/control/rooms/room.ts';
import { makeTenant } from '../test/support/tenants.ts';
import type { Stand } from './stand.ts';

export interface Filling {
  readonly rooms: number;
  readonly participantsPerRoom: number;
}

/** Live rooms `room-0`, `room-1`, ..., each with participants `user-0`, ... who have one device each. */
export async function fillRooms(
  stand: Stand,
  tenants: readonly TenantId[],
  { rooms, participantsPerRoom }: Filling,
): Promise<void> {
  await stand.db.query(
    `insert into rooms (tenant_id, uid, name, incarnation, policy)
     select t, 'rm_' || md5(t || ' ' || n), 'room-' || n, 1, $3
       from unnest($1::bigint[]) t, generate_series(0, $2::integer - 1) n`,
    [tenants, rooms, DEFAULT_POLICY],
  );
  await stand.db.query(
    `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
     select r.tenant_id, r.uid, 'user-' || n, 'user-' || n, 'audience', 20, $3, now() + interval '1 day'
       from rooms r, generate_series(0, $2::integer - 1) n where r.tenant_id = any($1)`,
    [tenants, participantsPerRoom, ['roster.view', 'subscribe.audio', 'subscribe.video']],
  );
  await stand.db.query(
    `insert into admissions (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
     select tenant_id, room_uid, username, repeat('d', 43), role, rank, capabilities, '0123456789abcdef', expires_at
       from participants where tenant_id = any($1)`,
    [tenants],
  );
}

const OTHER_TENANTS = 200;
const ROOMS_OF_OTHERS = 500;

/** 100,000 rooms of other tenants, with a participant each. */
export async function fillOtherTenants(stand: Stand): Promise<void> {
  const tenants = await Promise.all(Array.from({ length: OTHER_TENANTS }, () => makeTenant(stand.db)));
  await fillRooms(stand, tenants, { rooms: ROOMS_OF_OTHERS, participantsPerRoom: 1 });
}
