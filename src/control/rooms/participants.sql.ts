/** SQL of `participants` and `admissions`. Time is the database's. */

import { PUBLISH_RIGHTS, type PublishRight } from '../../access/rights/publish-rights.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Role, Tier } from '../../money/pricing/role.ts';
import { ASLEEP, WAKE_AT } from '../watchdogs/watchdogs.sql.ts';
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
  /** What the device's token is to grant. */
  readonly role: Role;
  readonly rank: number;
  readonly capabilities: readonly string[];
  /**
   * Whether a user is lowered by it who is present with a higher rank, on a device whose token is valid. So
   * it is where a back end says who that is, and not where somebody has typed the name at a device.
   */
  readonly mayLower: boolean;
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
  /**
   * Whether watchdogs of the room sleep on that should look at it now: somebody had locked them, for
   * whom this one, which has the room locked, must not wait.
   */
  readonly leavesAsleep: boolean;
}

/** Of `participants p`. */
const PRESENT = 'p.left_at is null and p.expires_at > now()';
/**
 * Whether some device of `participants p` has a valid token of a rank higher than this one. The time stands
 * outside of the `where`, as in `DEVICES`.
 */
const outranks = (rank: string) => `(select coalesce(bool_or(o.expires_at > now()), false) from admissions o
  where o.tenant_id = p.tenant_id and o.room_uid = p.room_uid and o.username = p.username and o.rank > ${rank})`;
/** Whether an admission leaves the standing of `participants p` as it is. */
const STAYS = `not $11 and ${PRESENT} and p.rank > excluded.rank and ${outranks('excluded.rank')}`;

/**
 * Admit a user on a device, or renew that; `undefined` when the room is not live any more.
 *
 * One statement does it all: who comes in, or gets another role or other rights, is told by an event,
 * and wakes the watchdogs of the room. The row of the room is locked against its end. Of whom no sweep
 * has told yet that the last token had lapsed, it is told here, before the return.
 */
export async function upsertAdmission(db: Db, admission: NewAdmission): Promise<Admission | undefined> {
  const { rows } = await db.query<Admission>({
    name: 'upsert-admission',
    text: `with locked as (
             select name, uid, state from rooms where tenant_id = $1 and uid = $2 for share
           ), r as (
             select name, uid from locked where state = 'LIVE'
           ), before as (
             -- Locked, so that it is what the row says when this statement changes it.
             select * from participants
              where tenant_id = $1 and room_uid = $2 and username = $3 and exists (select from r)
                for no key update
           ), p as (
             -- The join makes sure that it is read before it is changed.
             insert into participants as p
               (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
             select $1, r.uid, $3, $4, $6, $7, $8, date_trunc('second', now()) + make_interval(secs => $10)
               from r left join before on true
             on conflict (tenant_id, room_uid, username) do update
               set skeleton = excluded.skeleton,
                   role = case when ${STAYS} then p.role else excluded.role end,
                   rank = case when ${STAYS} then p.rank else excluded.rank end,
                   capabilities = case when ${STAYS} then p.capabilities else excluded.capabilities end,
                   entered_at = case when ${PRESENT} then p.entered_at else excluded.entered_at end,
                   expires_at = case when ${PRESENT} then greatest(p.expires_at, excluded.expires_at)
                                     else excluded.expires_at end,
                   left_at = null, leave_reason = null
             returning p.*
           ), a as (
             insert into admissions as a
               (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
             select $1, room_uid, $3, $5, $6, $7, $8, $9, date_trunc('second', now()) + make_interval(secs => $10)
               from p
             on conflict (tenant_id, room_uid, username, device) do update
               set role = excluded.role, rank = excluded.rank, capabilities = excluded.capabilities,
                   key_id = excluded.key_id, admitted_at = excluded.admitted_at,
                   expires_at = greatest(a.expires_at, excluded.expires_at)
             returning a.device as thumbprint, a.key_id as "keyId", a.expires_at as "expiresAt"
           ), news as (
             select case when p.entered_at = now() then 'participant_entered' else 'participant_updated' end as type
               from p left join before on true
              where p.entered_at = now()
                 or (p.role, p.rank, p.capabilities)
                    is distinct from (before.role, before.rank, before.capabilities)
           ), told as (
             insert into unnumbered_events (tenant_id, type, room_uid, subject)
             select $1, 'participant_left', $2, to_jsonb(v)
               from (select ${PARTICIPANT}, '[]'::jsonb as devices
                       from before p, r where p.left_at is null and p.expires_at <= now()) v
             union all
             select $1, type, $2, to_jsonb(v)
               from news, (select ${PARTICIPANT}, (select jsonb_agg(a) from a) as devices from p, r) v
           ), watching as (
             select id, ${ASLEEP} as is_asleep from watchdogs
              where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')
                and exists (select from news)
                for no key update skip locked
           ), woken as (
             update watchdogs set check_at = ${WAKE_AT}
              where tenant_id = $1 and id in (select id from watching where is_asleep)
           )
           select extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
                  (select kid from signing_keys where state = 'active') as kid,
                  p.epoch, p.muted, p.publish_revoked as "publishRevoked",
                  exists (select from news) as eventful,
                  exists (select from news) and exists (
                    select from watchdogs
                     where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')
                       and ${ASLEEP} and id not in (select id from watching)) as "leavesAsleep"
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
      admission.mayLower,
    ],
  });
  return rows[0];
}

/**
 * Renew an admission of a user who is present and stays the same in every way, or put one more device
 * beside it; `undefined` where that is not so, and `upsertAdmission()` has more to do.
 *
 * Nobody has to be told of it, and the room's row needs no lock: its end changes the participant's.
 */
export async function renewAdmission(
  db: Db,
  admission: Omit<NewAdmission, 'skeleton'>,
): Promise<Admission | undefined> {
  const { rows } = await db.query<Admission>({
    name: 'renew-admission',
    text: `with p as (
             update participants p
                set expires_at = greatest(expires_at, date_trunc('second', now()) + make_interval(secs => $8))
              where tenant_id = $1 and room_uid = $2 and username = $3
                and (left_at is null and expires_at > now()
                     and ((role, rank, capabilities) = ($5, $6, $7)
                          or not $10 and rank > $6 and ${outranks('$6')})) is true
             returning epoch, muted, publish_revoked
           ), a as (
             insert into admissions as a
               (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
             select $1, $2, $3, $4, $5, $6, $7, $9, date_trunc('second', now()) + make_interval(secs => $8) from p
             on conflict (tenant_id, room_uid, username, device) do update
               set role = excluded.role, rank = excluded.rank, capabilities = excluded.capabilities,
                   key_id = excluded.key_id, admitted_at = excluded.admitted_at,
                   expires_at = greatest(a.expires_at, excluded.expires_at)
           )
           select extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
                  (select kid from signing_keys where state = 'active') as kid,
                  epoch, muted, publish_revoked as "publishRevoked", false as eventful,
                  false as "leavesAsleep"
             from p`,
    values: [
      admission.tenant,
      admission.roomUid,
      admission.username,
      admission.device,
      admission.role,
      admission.rank,
      admission.capabilities,
      admission.lifetimeSeconds,
      admission.keyId,
      admission.mayLower,
    ],
  });
  return rows[0];
}

/**
 * The devices of `participants p` whose tokens have not lapsed, as JSON. The time stands outside of the
 * `where`, lest an index by time looked as good as the primary key.
 */
const DEVICES = `coalesce((select jsonb_agg(jsonb_build_object('thumbprint', a.device, 'keyId', a.key_id,
    'expiresAt', a.expires_at) order by a.device) filter (where a.expires_at > now())
    from admissions a
   where a.tenant_id = p.tenant_id and a.room_uid = p.room_uid and a.username = p.username), '[]') as devices`;

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

/** Participants of a room by name, those who are present or all; without those hidden from `actor`. */
export async function selectParticipants(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  options: {
    readonly actor: Pick<ActorName, 'username'> | undefined;
    readonly includeLeft: boolean;
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<Participant[]> {
  const { rows } = await db.query<Participant>(
    `select ${WHOLE_PARTICIPANT} from participants p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      where p.tenant_id = $1 and p.room_uid = $2
        and ($3 or p.left_at is null and p.expires_at > now())
        and ($4::text is null or p.username > $4)
        and ($5::text is null or p.username = $5 or not p.capabilities @> '{room.hidden}')
      order by p.username limit $6`,
    [tenant, roomUid, options.includeLeft, options.after, options.actor?.username, options.limit],
  );
  return rows.map(reviveParticipant);
}

/** Who is present in live rooms, by room and name, after one of them; with `room`, only in that of this name. */
export async function selectPresent(
  db: Db,
  tenant: TenantId,
  options: {
    readonly room: string | undefined;
    readonly after: Pick<Participant, 'roomUid' | 'username'> | undefined;
    readonly limit: number;
  },
): Promise<Participant[]> {
  const { rows } = await db.query<Participant>(
    `select ${WHOLE_PARTICIPANT} from participants p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      where p.tenant_id = $1 and p.left_at is null and p.expires_at > now()
        and r.state = 'LIVE' and ($2::text is null or r.name = $2)
        and ($3::text is null or (p.room_uid, p.username) > ($3, $4::text))
      order by p.room_uid, p.username limit $5`,
    [tenant, options.room, options.after?.roomUid, options.after?.username, options.limit],
  );
  return rows.map(reviveParticipant);
}

/** Rank and capabilities by the token of this device, which is valid. */
export async function findActor(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  actor: ActorName,
): Promise<Pick<Participant, 'rank' | 'capabilities'> | undefined> {
  const { rows } = await db.query<Pick<Participant, 'rank' | 'capabilities'>>(
    `select a.rank, a.capabilities
       from participants p join admissions a using (tenant_id, room_uid, username)
      where p.tenant_id = $1 and p.room_uid = $2 and p.username = $3 and a.device = $4
        and p.left_at is null and a.expires_at > now()`,
    [tenant, roomUid, actor.username, actor.thumbprint],
  );
  return rows[0];
}

/**
 * Make users of a room leave: their tokens are void from now on. Returns those of whom an event has yet
 * to tell that they left: who were present, and whose last token has lapsed so lately that no sweep has
 * come by. Whoever is named and has left already gets a new epoch all the same. `usernames` left out means
 * everybody who has not left: a room that was live for long has far more others, and they hold no token.
 */
export async function expel(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  reason: LeaveReason,
  usernames?: readonly string[],
): Promise<Participant[]> {
  // No statement joins two tables: without statistics, PostgreSQL would compare each row with each.
  if (usernames) {
    await tx.query(
      `update participants set epoch = epoch + 1, revoked_at = now()
        where tenant_id = $1 and room_uid = $2 and username = any($3) and left_at is not null`,
      [tenant, roomUid, usernames],
    );
  }
  const { rows } = await tx.query<Participant>(
    `with p as (
       update participants
          set epoch = epoch + 1, revoked_at = now(), left_at = least(now(), expires_at),
              leave_reason = case when expires_at > now() then $3 else 'expired' end
        where tenant_id = $1 and room_uid = $2 and left_at is null
          and ($4::text[] is null or username = any($4))
       returning *
     )
     select ${PARTICIPANT}, '[]'::jsonb as devices
       from p, (select name from rooms where tenant_id = $1 and uid = $2) r
      order by p.username`,
    [tenant, roomUid, reason, usernames],
  );
  await tx.query(
    `delete from admissions
      where tenant_id = $1 and room_uid = $2 and ($3::text[] is null or username = any($3))`,
    [tenant, roomUid, usernames],
  );
  return rows;
}

/** Tenants with participants whose last token has lapsed and who are not marked as gone, some at a time. */
export async function findTenantsWithLapsed(db: Db, limit: number): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>(
    `select distinct tenant_id as tenant
       from (select tenant_id from participants
              where left_at is null and expires_at <= now() order by expires_at limit $1) lapsed`,
    [limit],
  );
  return rows.map((row) => row.tenant);
}

/**
 * Mark some of those as gone whose last token has lapsed, and return them. Whoever is being renewed, or
 * marked by another process, is left out: the row is locked, or looks otherwise once it is not.
 */
export async function markLapsed(tx: Tx, tenant: TenantId, limit: number): Promise<Participant[]> {
  const { rows } = await tx.query<Participant>(
    `with lapsed as (
       select room_uid, username from participants
        where tenant_id = $1 and left_at is null and expires_at <= now()
        order by expires_at limit $2 for update skip locked
     ), p as (
       update participants p set left_at = p.expires_at, leave_reason = 'expired'
         from lapsed l
        where p.tenant_id = $1 and p.room_uid = l.room_uid and p.username = l.username
       returning p.*
     )
     select ${PARTICIPANT}, '[]'::jsonb as devices
       from p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      order by p.left_at, p.room_uid, p.username`,
    [tenant, limit],
  );
  return rows;
}

/** Whom a ban of a user or a device means, in one live room or in all of them. */
export interface Meant {
  readonly roomUid: string;
  readonly username: string;
  readonly rank: number;
  /** Whether the user is in the room, and on this device if it is one that is meant. */
  readonly isPresent: boolean;
}

/** `roomUid`: `null` stands for every live room. Ordered by room. */
export async function findUsers(
  db: Db,
  tenant: TenantId,
  roomUid: string | null,
  username: string,
): Promise<Meant[]> {
  const { rows } = await db.query<Meant>(
    `select p.room_uid as "roomUid", p.username, p.rank,
            p.left_at is null and p.expires_at > now() as "isPresent"
       from rooms r join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid
      where r.tenant_id = $1 and r.state = 'LIVE' and ($2::text is null or r.uid = $2) and p.username = $3
      order by p.room_uid`,
    [tenant, roomUid, username],
  );
  return rows;
}

/** Users of a device, as `findUsers()`. */
export async function findUsersOfDevice(
  db: Db,
  tenant: TenantId,
  roomUid: string | null,
  device: string,
): Promise<Meant[]> {
  const { rows } = await db.query<Meant>(
    `select p.room_uid as "roomUid", p.username, p.rank,
            p.left_at is null and a.expires_at > now() as "isPresent"
       from admissions a
       join participants p using (tenant_id, room_uid, username)
       join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      where a.tenant_id = $1 and a.device = $3 and r.state = 'LIVE' and ($2::text is null or r.uid = $2)
      order by p.room_uid, p.username`,
    [tenant, roomUid, device],
  );
  return rows;
}

/** Set what a moderator has taken of a participant, whose room is locked. */
export async function updateRestrictions(
  tx: Tx,
  tenant: TenantId,
  { roomUid, username, muted, publishRevoked }: Participant,
): Promise<Participant> {
  const { rows } = await tx.query<Participant>(
    `with p as (
       update participants set muted = $4, publish_revoked = $5, revoked_at = now()
        where tenant_id = $1 and room_uid = $2 and username = $3 returning *
     )
     select ${WHOLE_PARTICIPANT} from p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid`,
    [tenant, roomUid, username, muted, publishRevoked],
  );
  return reviveParticipant(rows[0]!);
}

/** Take all rights to publish from users who are present, or from everybody. Returns those users. */
export async function revokeAllPublishing(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  usernames: readonly string[] | null,
): Promise<Participant[]> {
  const { rows } = await tx.query<Participant>(
    `with p as (
       update participants p set publish_revoked = $4, revoked_at = now()
        where p.tenant_id = $1 and p.room_uid = $2 and ${PRESENT} and ($3::text[] is null or p.username = any($3))
       returning p.*
     )
     select ${WHOLE_PARTICIPANT} from p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      order by p.username`,
    [tenant, roomUid, usernames, PUBLISH_RIGHTS],
  );
  return rows.map(reviveParticipant);
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

/** Tenants with somebody in their rooms. */
export async function findTenantsWithPresent(db: Db): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>(
    `select distinct tenant_id as tenant from participants where left_at is null and expires_at > now()`,
  );
  return rows.map((row) => row.tenant);
}

/** A participant of the live room of that name, as a usage record tells of one. */
export interface Sighting {
  readonly tenant: TenantId;
  readonly room: string;
  readonly username: string;
  readonly tier: Tier;
}

/** Each participant once. Who is not in a live room is passed over, and so is one who is locked just now. */
export async function markSeen(db: Db, sightings: readonly Sighting[]): Promise<void> {
  await db.query(
    `with seen as (
       select p.tenant_id, p.room_uid, p.username, s.tier
         from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as s (tenant_id, room, username, tier)
         join rooms r on r.tenant_id = s.tenant_id and r.name = s.room and r.state = 'LIVE'
         join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid and p.username = s.username
        where p.left_at is null for update of p skip locked
     )
     update participants p set last_seen_at = now(), tier = seen.tier from seen
      where p.tenant_id = seen.tenant_id and p.room_uid = seen.room_uid and p.username = seen.username`,
    [
      sightings.map((each) => each.tenant),
      sightings.map((each) => each.room),
      sightings.map((each) => each.username),
      sightings.map((each) => each.tier),
    ],
  );
}

/** Of whom nothing acts on any more, and who left before the last $1 days. */
const FORGETTABLE = `left_at < now() - make_interval(days => $1) and muted = '{}' and publish_revoked = '{}'`;

/**
 * Forget some of those who left long ago. Returns how many there were. What a moderator has taken of a
 * participant, who may come back, is kept. Their rooms keep when they had last been there, for watchdogs.
 *
 * As everywhere, the room is locked before its participants; one that is locked is left to the next sweep.
 */
export async function deleteOldParticipants(
  db: Db,
  options: { keepDays: number; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `with old as (
       select tenant_id, room_uid, username from participants where ${FORGETTABLE} order by left_at limit $2
     ), r as (
       select tenant_id, uid from rooms where (tenant_id, uid) in (select tenant_id, room_uid from old)
          for no key update skip locked
     ), p as (
       -- Whoever came back meanwhile stays. Only the primary key leads here: no index looks as good by mistake.
       delete from participants where (${FORGETTABLE}) is true and (tenant_id, room_uid, username) in (
         select o.tenant_id, o.room_uid, o.username
           from old o join r on r.tenant_id = o.tenant_id and r.uid = o.room_uid)
       returning *
     ), latest as (
       select tenant_id, room_uid, max(left_at) as left_at,
              max(case when last_seen_at is null then left_at
                       else least(left_at, greatest(entered_at, last_seen_at)) end)
                filter (where role = 'host') as host_at
         from p group by tenant_id, room_uid
     ), kept as (
       update rooms set last_left_at = greatest(last_left_at, l.left_at),
                        last_host_at = greatest(last_host_at, l.host_at)
         from latest l where rooms.tenant_id = l.tenant_id and rooms.uid = l.room_uid
     )
     select count(*)::integer as count from p`,
    [options.keepDays, options.limit],
  );
  return rows[0]!.count;
}

/**
 * Forget some of the participants of rooms that ended long ago, whatever was taken of them; a room that has
 * none left is not looked at again. Returns how many there were of both.
 */
export async function sweepEndedRooms(db: Db, options: { keepDays: number; limit: number }): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `with r as (
       select tenant_id, uid from rooms
        where ended_at < now() - make_interval(days => $1) and not is_swept
        order by ended_at limit $2 for no key update skip locked
     ), p as (
       delete from participants where (tenant_id, room_uid, username) in (
         select p.tenant_id, p.room_uid, p.username
           from r join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid limit $2)
       returning 1
     ), swept as (
       update rooms set is_swept = true from r
        where rooms.tenant_id = r.tenant_id and rooms.uid = r.uid
          and not exists (select from participants p where p.tenant_id = r.tenant_id and p.room_uid = r.uid)
       returning 1
     )
     select (select count(*) from p)::integer + (select count(*) from swept)::integer as count`,
    [options.keepDays, options.limit],
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
