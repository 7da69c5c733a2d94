/** SQL of `participants` and `admissions`. Time is the database's. */
import type { Db, Tx } from '../db/pool.ts';
import type { PublishRight } from '../devices/device-credential.ts';
import type { Role } from '../pricing/rate-card.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { ActorName } from './actor.ts';
import type { LeaveReason, Participant } from './participant.ts';

/**
 * The columns of a `Participant`, of `participants p` and `rooms r`. Whose last token has lapsed has
 * left, whether or not a row says so.
 */
export const PARTICIPANT = `r.name as room, p.room_uid as "roomUid", p.username, p.role, p.rank, p.capabilities,
  p.muted, p.publish_revoked as "publishRevoked", p.tier, p.entered_at as "enteredAt",
  p.last_seen_at as "lastSeenAt", p.expires_at as "expiresAt",
  coalesce(p.left_at, case when p.expires_at <= now() then p.expires_at end) as "leftAt",
  coalesce(p.leave_reason, case when p.expires_at <= now() then 'expired' end) as "leaveReason"`;

export interface NewAdmission {
  readonly tenant: TenantId;
  readonly roomUid: string;
  readonly username: string;
  readonly skeleton: string;
  /** Thumbprint of the device's key. */
  readonly device: string;
  readonly role: Role;
  readonly rank: number;
  readonly capabilities: readonly string[];
  /** The API key or device credential that asked for it. */
  readonly keyId: string;
  readonly lifetimeSeconds: number;
}

export interface Admission {
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The signing key that is active at this very moment. */
  readonly kid: string | null;
  readonly epoch: number;
  readonly muted: readonly PublishRight[];
  readonly publishRevoked: readonly PublishRight[];
  /** Whether an event told of it: somebody came in, or is somebody else now. */
  readonly eventful: boolean;
}

/**
 * Admit a user on a device, or renew that; `undefined` when the room is not live any more.
 *
 * One statement does it all: who comes in, or gets another role or other rights, is told by an event,
 * and wakes the watchdogs of the room. The row of the room is locked against its end.
 */
export async function upsertAdmission(db: Db, admission: NewAdmission): Promise<Admission | undefined> {
  const { rows } = await db.query<Admission>({
    name: 'upsert-admission',
    text: `with r as (
             select name, uid from rooms where tenant_id = $1 and uid = $2 and state = 'LIVE' for share
           ), before as (
             select role, rank, capabilities from participants
              where tenant_id = $1 and room_uid = $2 and username = $3
           ), p as (
             insert into participants as p
               (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
             select $1, uid, $3, $4, $6, $7, $8, date_trunc('second', now()) + make_interval(secs => $10) from r
             on conflict (tenant_id, room_uid, username) do update
               set skeleton = excluded.skeleton, role = excluded.role, rank = excluded.rank,
                   capabilities = excluded.capabilities,
                   entered_at = case when p.left_at is null then p.entered_at else excluded.entered_at end,
                   expires_at = case when p.left_at is null then greatest(p.expires_at, excluded.expires_at)
                                     else excluded.expires_at end,
                   left_at = null, leave_reason = null
             returning p.*
           ), a as (
             insert into admissions as a (tenant_id, room_uid, username, device, key_id, expires_at)
             select $1, room_uid, $3, $5, $9, date_trunc('second', now()) + make_interval(secs => $10) from p
             on conflict (tenant_id, room_uid, username, device) do update
               set key_id = excluded.key_id, admitted_at = excluded.admitted_at,
                   expires_at = greatest(a.expires_at, excluded.expires_at)
             returning a.device as thumbprint, a.key_id as "keyId", a.expires_at as "expiresAt"
           ), news as (
             select case when p.entered_at = now() then 'participant_entered' else 'participant_updated' end as type
               from p left join before on true
              where p.entered_at = now()
                 or (p.role, p.rank, p.capabilities)
                    is distinct from (before.role, before.rank, before.capabilities)
           ), stream as (
             insert into event_streams as s (tenant_id, last_seq) select $1, 1 from news
             on conflict (tenant_id) do update set last_seq = s.last_seq + 1
             returning last_seq
           ), told as (
             insert into events (tenant_id, seq, type, room_uid, subject)
             select $1, last_seq, type, $2,
                    (select to_jsonb(v) from (select ${PARTICIPANT},
                       (select jsonb_agg(a) from a) as devices from p, r) v)
               from stream, news
           ), woken as (
             update watchdogs set check_at = now()
              where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')
                and exists (select from news)
           )
           select extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
                  (select kid from signing_keys where state = 'active') as kid,
                  p.epoch, p.muted, p.publish_revoked as "publishRevoked",
                  exists (select from news) as eventful
             from p`,
    values: [
      admission.tenant,
      admission.roomUid,
      admission.username,
      admission.skeleton,
      admission.device,
      admission.role,
      admission.rank,
      admission.capabilities,
      admission.keyId,
      admission.lifetimeSeconds,
    ],
  });
  return rows[0];
}

/** The devices of `participants p` whose tokens have not lapsed, as JSON. */
const DEVICES = `coalesce((select jsonb_agg(jsonb_build_object('thumbprint', a.device, 'keyId', a.key_id,
    'expiresAt', a.expires_at) order by a.device)
    from admissions a
   where a.tenant_id = p.tenant_id and a.room_uid = p.room_uid and a.username = p.username
     and a.expires_at > now()), '[]') as devices`;

/** A participant with devices, read from `participants p` and `rooms r`. */
export const WHOLE_PARTICIPANT = `${PARTICIPANT}, ${DEVICES}`;

/** Rows of `WHOLE_PARTICIPANT`: JSON has no dates. */
export function reviveParticipant(row: Participant): Participant {
  return { ...row, devices: row.devices.map((each) => ({ ...each, expiresAt: new Date(each.expiresAt) })) };
}

export async function findParticipant(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  username: string,
): Promise<Participant | undefined> {
  const { rows } = await db.query<Participant>(
    `select ${WHOLE_PARTICIPANT} from participants p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      where p.tenant_id = $1 and p.room_uid = $2 and p.username = $3`,
    [tenant, roomUid, username],
  );
  return rows.map(reviveParticipant)[0];
}

/** Rank and capabilities of a participant whose token for this device is valid. */
export async function findActor(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  actor: ActorName,
): Promise<Pick<Participant, 'rank' | 'capabilities'> | undefined> {
  const { rows } = await db.query<Pick<Participant, 'rank' | 'capabilities'>>(
    `select p.rank, p.capabilities
       from participants p join admissions a using (tenant_id, room_uid, username)
      where p.tenant_id = $1 and p.room_uid = $2 and p.username = $3 and a.device = $4
        and p.left_at is null and a.expires_at > now()`,
    [tenant, roomUid, actor.username, actor.thumbprint],
  );
  return rows[0];
}

/**
 * Make users of a room leave: their tokens are void from now on. Returns those who were present.
 * `usernames` left out means everybody; whoever has left already gets a new epoch all the same.
 */
export async function expel(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  reason: LeaveReason,
  usernames?: readonly string[],
): Promise<Participant[]> {
  const { rows } = await tx.query<Participant & { wasPresent: boolean }>(
    `with before as (
       select username, left_at is null and expires_at > now() as present from participants
        where tenant_id = $1 and room_uid = $2 and ($4::text[] is null or username = any($4)) for update
     ), gone as (
       delete from admissions a using before b
        where a.tenant_id = $1 and a.room_uid = $2 and a.username = b.username
     ), p as (
       update participants p
          set epoch = epoch + 1, revoked_at = now(),
              left_at = coalesce(left_at, least(now(), expires_at)),
              leave_reason = coalesce(leave_reason, case when b.present then $3 else 'expired' end)
         from before b
        where p.tenant_id = $1 and p.room_uid = $2 and p.username = b.username
       returning p.*, b.present
     )
     select ${PARTICIPANT}, '[]'::jsonb as devices, p.present as "wasPresent"
       from p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      order by p.username`,
    [tenant, roomUid, reason, usernames],
  );
  return rows.filter((row) => row.wasPresent).map(({ wasPresent: _, ...participant }) => participant);
}

/** Whether somebody of another name, which looks like this one, is in the room. */
export async function hasLookalike(
  db: Db,
  { tenant, roomUid, username, skeleton }: NewAdmission,
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from participants
      where tenant_id = $1 and room_uid = $2 and skeleton = $3 and username <> $4
        and left_at is null and expires_at > now() limit 1`,
    [tenant, roomUid, skeleton, username],
  );
  return rows.length > 0;
}

/** How many others than this user are present, counted up to `max`. */
export async function countOthers(
  db: Db,
  { tenant, roomUid, username }: NewAdmission,
  max: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count
       from (select from participants
              where tenant_id = $1 and room_uid = $2 and username <> $3
                and left_at is null and expires_at > now() limit $4) others`,
    [tenant, roomUid, username, max],
  );
  return rows[0]!.count;
}

/** Forget some of the devices whose tokens lapsed long ago. Returns how many there were. */
export async function deleteExpiredAdmissions(
  db: Db,
  options: { keepHours: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from admissions where (tenant_id, room_uid, username, device) in (
       select tenant_id, room_uid, username, device from admissions
        where expires_at < now() - make_interval(hours => $1) limit $2 for update skip locked)`,
    [options.keepHours, options.limit],
  );
  return rowCount ?? 0;
}
