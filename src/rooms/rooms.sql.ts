/** SQL of `rooms`. */
import type { Db, Tx } from '../db/pool.ts';
import { newId } from '../lib/ids.ts';
import type { TenantId, TenantStatus } from '../tenants/tenant.ts';
import { DEFAULT_POLICY, type RoomState } from './room.ts';

/** Everything that lets a device in or keeps it out, as it is at one instant. */
export interface JoinState {
  readonly status: TenantStatus;
  readonly exempt: boolean;
  readonly balance: bigint;
  /** The live room of that name, or else an ended one, or else none. */
  readonly roomUid: string | null;
  readonly roomState: RoomState | null;
}

export async function findJoinState(db: Db, tenant: TenantId, roomName: string): Promise<JoinState> {
  const { rows } = await db.query<JoinState>({
    name: 'find-join-state',
    text: `select t.status, t.exempt, a.balance, r.uid as "roomUid", r.state as "roomState"
             from tenants t
             join accounts a on a.tenant_id = t.id
             left join lateral (select uid, state from rooms
                                 where tenant_id = t.id and name = $2
                                 order by incarnation desc limit 1) r on true
            where t.id = $1`,
    values: [tenant, roomName],
  });
  return rows[0]!;
}

/**
 * Open the first room of this name. Returns its uid, or that of the live room which somebody else
 * has opened meanwhile; `undefined` when that one has even ended already.
 */
export async function openFirstRoom(db: Db, tenant: TenantId, name: string): Promise<string | undefined> {
  const opened = await db.query<{ uid: string }>(
    `insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, $3, 1, $4)
     on conflict do nothing returning uid`,
    [tenant, newId('rm'), name, DEFAULT_POLICY],
  );
  if (opened.rows[0]) return opened.rows[0].uid;
  const { rows } = await db.query<{ uid: string }>(
    `select uid from rooms where tenant_id = $1 and name = $2 and state = 'LIVE'`,
    [tenant, name],
  );
  return rows[0]?.uid;
}

/** Until the transaction ends, nobody else who asks for this lock decides about the room. */
export async function lockRoom(tx: Tx, tenant: TenantId, uid: string): Promise<void> {
  await tx.query('select from rooms where tenant_id = $1 and uid = $2 for no key update', [tenant, uid]);
}
