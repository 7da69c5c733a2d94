/** SQL that admits users, in `participants` and `admissions` with one statement. Uses database time. */
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Role } from '../../money/pricing/role.ts';
import { PARTICIPANT, PRESENT } from '../rooms/participants.sql.ts';

export interface NewAdmission {
  readonly tenant: TenantId;
  readonly roomUid: string;
  readonly username: string;
  readonly skeleton: string;
  /** Thumbprint of the device's key. */
  readonly thumbprint: string;
  /** What the device's token will grant. */
  readonly role: Role;
  readonly rank: number;
  readonly capabilities: readonly string[];
  /**
   * Whether it may enter under the name of a user who has a valid token of a higher rank. True for mints,
   * where a back end vouches for the user; false for joins, where anyone can type the name.
   */
  readonly mayLower: boolean;
  /** The API key or device credential that requested it. */
  readonly keyId: string;
  readonly lifetimeSeconds: number;
}

export interface Admission {
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The signing key that is active now. */
  readonly kid: string | null;
  readonly epoch: number;
  readonly muted: readonly PublishRight[];
  readonly publishRevoked: readonly PublishRight[];
  /** Whether an event was appended: the user entered, or changed role, rank or capabilities. */
  readonly eventful: boolean;
}

/** Whether a device of `participants p` has a valid token of a higher rank than the new one. */
const IS_OUTRANKED = `coalesce((select bool_or(o.expires_at > now() and o.rank > excluded.rank) from admissions o
  where o.tenant_id = p.tenant_id and o.room_uid = p.room_uid and o.username = p.username), false)`;
/**
 * Whether `participants p` changed since this statement began, so that its admissions may have changed too.
 * Each mint and each renewal changes the row, and the statement reads it only after waiting for them.
 */
const IS_NEWER = `p.xmin is distinct from (select s.xmin from participants s where s.tenant_id = p.tenant_id
  and s.room_uid = p.room_uid and s.username = p.username)`;

/**
 * Admit a user on a device, or renew the admission. A join returns `username_taken` under the name of a user
 * who is present with a higher rank.
 *
 * The same statement appends `participant_entered`, or `participant_updated` if role, rank or capabilities
 * change. It locks the room's row, so that the room cannot end meanwhile. If the user's last token expired
 * and no sweep has emitted `participant_left` yet, it is emitted here, before `participant_entered`.
 */
export async function upsertAdmission(
  db: Db,
  admission: NewAdmission,
): Promise<Admission | 'room_ended' | 'username_taken'> {
  const { rows } = await db.query<Admission & { readonly isAdmitted: boolean }>({
    name: 'upsert-admission',
    text: `with locked as (
             select name, uid, state from rooms where tenant_id = $1 and uid = $2 for share
           ), r as (
             select name, uid from locked where state = 'LIVE'
           ), before as (
             -- Locked, so that the row cannot change before this statement updates it.
             select * from participants
              where tenant_id = $1 and room_uid = $2 and username = $3 and exists (select from r)
                for no key update
           ), p as (
             -- The join forces the old row to be read before the change.
             insert into participants as p
               (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
             select $1, r.uid, $3, $4, $6, $7, $8, date_trunc('second', now()) + make_interval(secs => $10)
               from r left join before on true
             on conflict (tenant_id, room_uid, username) do update
               set skeleton = excluded.skeleton,
                   role = excluded.role, rank = excluded.rank, capabilities = excluded.capabilities,
                   entered_at = case when ${PRESENT} then p.entered_at else excluded.entered_at end,
                   expires_at = case when ${PRESENT} then greatest(p.expires_at, excluded.expires_at)
                                     else excluded.expires_at end,
                   left_at = null, leave_reason = null
               where $11 or not (${PRESENT})
                  or not ${IS_OUTRANKED} and (p.rank <= excluded.rank or not ${IS_NEWER})
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
           ), appended as (
             insert into unnumbered_events (tenant_id, type, room_uid, subject)
             select $1, 'participant_left', $2, to_jsonb(v)
               from (select ${PARTICIPANT}, '[]'::jsonb as devices
                       from before p, r where p.left_at is null and p.expires_at <= now()) v
             union all
             select $1, type, $2, to_jsonb(v)
               from news, (select ${PARTICIPANT}, (select jsonb_agg(a) from a) as devices from p, r) v
           )
           select extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
                  (select kid from signing_keys where state = 'active') as kid,
                  p.epoch, p.muted, p.publish_revoked as "publishRevoked",
                  exists (select from news) as eventful, p.username is not null as "isAdmitted"
             from r left join p on true`,
    values: [
      admission.tenant,
      admission.roomUid,
      admission.username,
      admission.skeleton,
      admission.thumbprint,
      admission.role,
      admission.rank,
      admission.capabilities,
      admission.keyId,
      admission.lifetimeSeconds,
      admission.mayLower,
    ],
  });
  if (!rows[0]) return 'room_ended';
  const { isAdmitted, ...admitted } = rows[0];
  return isAdmitted ? admitted : 'username_taken';
}

/**
 * Renew the admission of a user who is present and unchanged, or add a device for that user; `undefined` if
 * anything else is needed, which `upsertAdmission()` does.
 *
 * It appends no event, and does not lock the room's row, because the end of a room updates its participants.
 */
export async function renewAdmission(
  db: Db,
  admission: Omit<NewAdmission, 'skeleton' | 'mayLower'>,
): Promise<Admission | undefined> {
  const { rows } = await db.query<Admission>({
    name: 'renew-admission',
    text: `with p as (
             update participants p
                set expires_at = greatest(expires_at, date_trunc('second', now()) + make_interval(secs => $8))
              where tenant_id = $1 and room_uid = $2 and username = $3
                and left_at is null and expires_at > now() and (role, rank, capabilities) = ($5, $6, $7)
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
                  epoch, muted, publish_revoked as "publishRevoked", false as eventful
             from p`,
    values: [
      admission.tenant,
      admission.roomUid,
      admission.username,
      admission.thumbprint,
      admission.role,
      admission.rank,
      admission.capabilities,
      admission.lifetimeSeconds,
      admission.keyId,
    ],
  });
  return rows[0];
}

/** Whether another user is present whose name looks like this one. */
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

/** How many other users are present, counted up to `max`. */
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
