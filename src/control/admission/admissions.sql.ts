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
  /** The label that the mint gave; `null`: none, as for joins. */
  readonly customer: string | null;
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

/** What a renewal needs to know. */
export type Renewal = Omit<NewAdmission, 'skeleton' | 'mayLower'>;

/** `username_taken`: a join under the name of a user who is present with a higher rank. */
export type Admitting = Admission | 'username_taken';

/** The admissions of a statement, from its first parameter. */
const WANTED = `select *, date_trunc('second', now()) + make_interval(secs => seconds) as until
     from json_to_recordset($1) as g (at integer, tenant_id bigint, room_uid text, username text, skeleton text,
            device text, role text, rank smallint, capabilities text[], key_id text, customer text,
            seconds double precision)`;

function wanted(admissions: readonly (Renewal & { readonly skeleton?: string })[]): string {
  return JSON.stringify(
    admissions.map((each, at) => ({
      at,
      tenant_id: String(each.tenant),
      room_uid: each.roomUid,
      username: each.username,
      skeleton: each.skeleton,
      device: each.thumbprint,
      role: each.role,
      rank: each.rank,
      capabilities: each.capabilities,
      key_id: each.keyId,
      customer: each.customer,
      seconds: each.lifetimeSeconds,
    })),
  );
}

/** What an admission grants to `participants p`, and what tells a change from a renewal. */
export const GRANTED = '(p.role, p.rank, p.capabilities)';

/** When `participants p` expires, after a token that expires at `until`: those who are present keep the later end. */
export function expiryWith(until: string, isPresent: string): string {
  return `case when ${isPresent} then greatest(p.expires_at, ${until}) else ${until} end`;
}

/** The device of `admissions g`, as events of its participant have it. */
const deviceOf = (
  g: string,
  until: string,
) => `jsonb_build_object('thumbprint', ${g}.device, 'keyId', ${g}.key_id,
                   'customer', ${g}.customer, 'expiresAt', ${g}.${until})`;

const SAME_PARTICIPANT = 'p.tenant_id = g.tenant_id and p.room_uid = g.room_uid and p.username = g.username';

/** Followed by the rows. */
export const INSERT_ADMISSIONS = `insert into admissions as a
    (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, customer, expires_at)`;
/** A device that has been admitted before keeps the later end. */
export const ON_KNOWN_DEVICE = `on conflict (tenant_id, room_uid, username, device) do update
    set role = excluded.role, rank = excluded.rank, capabilities = excluded.capabilities,
        key_id = excluded.key_id, customer = excluded.customer, admitted_at = excluded.admitted_at,
        expires_at = greatest(a.expires_at, excluded.expires_at)`;

/** The columns `issuedAt` and `kid` of an `Admission`. */
export const ISSUED = `extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
    (select kid from signing_keys where state = 'active') as kid`;

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
 * The statement that finds its own start in `entered_at` emits `participant_entered`. So the row of a user who
 * entered by another transaction, begun in the same microsecond, is moved by one microsecond.
 */
const ENTERED_AT = `case when not (${PRESENT}) then excluded.entered_at
  when p.entered_at = excluded.entered_at then p.entered_at - interval '1 microsecond'
  else p.entered_at end`;

/** `skip locked` leaves out what another transaction has locked. */
type Lock = '' | 'skip locked';

/** With `skip locked`, a participant who is there but locked is not wanted: `before` would not show the row. */
const upsertText = (lock: Lock) => `with g as materialized (
       ${WANTED}
     ), r as (
       select g.at, r.name, r.state from g join rooms r on r.tenant_id = g.tenant_id and r.uid = g.room_uid
          for share of r ${lock}
     ), before as (
       -- Locked, so that the row cannot change before this statement updates it.
       select g.at, p.* from r join g using (at) join participants p on ${SAME_PARTICIPANT}
        where r.state = 'LIVE' for no key update of p ${lock}
     ), entering as (
       -- The join forces the old rows to be read before the change.
       select g.*, r.name from r join g using (at) left join before using (at)
        where r.state = 'LIVE'
          ${lock && `and (before.at is not null or not exists (select from participants p where ${SAME_PARTICIPANT}))`}
     ), p as (
       insert into participants as p
         (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
       select tenant_id, room_uid, username, skeleton, role, rank, capabilities, until
         from entering order by tenant_id, room_uid, username
       on conflict (tenant_id, room_uid, username) do update
         set skeleton = excluded.skeleton,
             role = excluded.role, rank = excluded.rank, capabilities = excluded.capabilities,
             entered_at = ${ENTERED_AT},
             expires_at = ${expiryWith('excluded.expires_at', PRESENT)},
             left_at = null, leave_reason = null
         where $2 or not (${PRESENT})
            or not ${IS_OUTRANKED} and (p.rank <= excluded.rank or not ${IS_NEWER})
       returning p.*
     ), entered as (
       select g.at, g.name, p.* from entering g join p on ${SAME_PARTICIPANT}
     ), a as (
       ${INSERT_ADMISSIONS}
       select g.tenant_id, g.room_uid, g.username, g.device, g.role, g.rank, g.capabilities, g.key_id, g.customer, g.until
         from entering g join entered using (at)
       ${ON_KNOWN_DEVICE}
       returning a.tenant_id, a.room_uid, a.username,
                 ${deviceOf('a', 'expires_at')} as device
     ), news as (
       select p.at, case when p.entered_at = now() then 'participant_entered' else 'participant_updated' end as type
         from entered p left join before using (at)
        where p.entered_at = now()
           or ${GRANTED} is distinct from (before.role, before.rank, before.capabilities)
     ), appended as (
       insert into unnumbered_events (tenant_id, type, room_uid, subject)
       select p.tenant_id, 'participant_left', p.room_uid, to_jsonb(v)
         from before p join entering r using (at),
              lateral (select ${PARTICIPANT}, '[]'::jsonb as devices) v
        where p.left_at is null and p.expires_at <= now()
       union all
       select p.tenant_id, news.type, p.room_uid, to_jsonb(v)
         from news join entered p using (at) join entering r using (at),
              lateral (select ${PARTICIPANT}, (select jsonb_agg(a.device) from a where a.tenant_id = p.tenant_id
                and a.room_uid = p.room_uid and a.username = p.username) as devices) v
     )
     select g.at, ${ISSUED}, p.epoch, p.muted, p.publish_revoked as "publishRevoked",
            exists (select from news where news.at = g.at) as eventful, p.at is not null as "isAdmitted"
       from entering g left join entered p using (at)`;

/** Leaves out those whose room is locked or has ended, and those who have been there before. */
const INSERT_NEWCOMERS = `with g as materialized (
       ${WANTED}
     ), r as (
       select g.at, r.name from g join rooms r on r.tenant_id = g.tenant_id and r.uid = g.room_uid and r.state = 'LIVE'
          for share of r skip locked
     ), p as (
       insert into participants as p
         (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
       select tenant_id, room_uid, username, skeleton, role, rank, capabilities, until
         from g join r using (at) order by tenant_id, room_uid, username
       on conflict do nothing
       returning p.*
     ), entered as (
       select g.at, p.* from g join p on ${SAME_PARTICIPANT}
     ), a as (
       ${INSERT_ADMISSIONS}
       select g.tenant_id, g.room_uid, g.username, g.device, g.role, g.rank, g.capabilities, g.key_id, g.customer, g.until
         from g join entered using (at)
     ), appended as (
       insert into unnumbered_events (tenant_id, type, room_uid, subject)
       select p.tenant_id, 'participant_entered', p.room_uid, to_jsonb(v)
         from g join r using (at) join entered p using (at),
              lateral (select ${PARTICIPANT}, jsonb_build_array(${deviceOf('g', 'until')}) as devices) v
     )
     select at, ${ISSUED}, epoch, muted, publish_revoked as "publishRevoked", true as eventful from entered`;

/** A row with the place of its admission among those of the statement. */
interface Placed {
  readonly at: number;
}

function placed(count: number, rows: readonly (Admission & Placed)[]): (Admission | undefined)[] {
  const found = Array.from({ length: count }, (): Admission | undefined => undefined);
  for (const { at, ...admission } of rows) found[at] = admission;
  return found;
}

async function upsert(
  db: Db,
  name: string,
  lock: Lock,
  admissions: readonly NewAdmission[],
  mayLower: boolean,
): Promise<(Admitting | undefined)[]> {
  const { rows } = await db.query<Admission & Placed & { readonly isAdmitted: boolean }>({
    name,
    text: upsertText(lock),
    values: [wanted(admissions), mayLower],
  });
  const found = admissions.map((): Admitting | undefined => undefined);
  for (const { at, isAdmitted, ...admission } of rows) found[at] = isAdmitted ? admission : 'username_taken';
  return found;
}

/**
 * Admit a user on a device, or renew the admission. Waits for the locks of the room and of the participant.
 *
 * The same statement appends `participant_entered`, or `participant_updated` if role, rank or capabilities
 * change. It locks the room's row, so that the room cannot end meanwhile. If the user's last token expired
 * and no sweep has emitted `participant_left` yet, it is emitted here, before `participant_entered`.
 */
export async function upsertAdmission(db: Db, admission: NewAdmission): Promise<Admitting | 'room_ended'> {
  const [admitting] = await upsert(db, 'upsert-admission', '', [admission], admission.mayLower);
  return admitting ?? 'room_ended';
}

/**
 * Like `upsertAdmission()` for several users, each once, with the same `mayLower`. It waits for no lock:
 * `undefined` for a user whose room has ended or whose rows are locked.
 */
export function upsertFreeAdmissions(
  db: Db,
  admissions: readonly NewAdmission[],
  mayLower: boolean,
): Promise<(Admitting | undefined)[]> {
  return upsert(db, 'upsert-free-admissions', 'skip locked', admissions, mayLower);
}

/**
 * Admits several users who have never been in their rooms, each once. It waits for no lock: `undefined` for a user who has
 * been there, or whose room is locked or has ended.
 */
export async function insertNewcomers(
  db: Db,
  admissions: readonly NewAdmission[],
): Promise<(Admission | undefined)[]> {
  const { rows } = await db.query<Admission & Placed>({
    name: 'insert-newcomers',
    text: INSERT_NEWCOMERS,
    values: [wanted(admissions)],
  });
  return placed(admissions.length, rows);
}

/** The conditions on a participant lead by the primary key alone; otherwise the planner may pick another index. */
const renewText = (lock: Lock) => `with g as materialized (
       ${WANTED}
     ), present as (
       select g.*, p.epoch, p.muted, p.publish_revoked from g join participants p on ${SAME_PARTICIPANT}
        where (${PRESENT} and ${GRANTED} = (g.role, g.rank, g.capabilities)) is true
          for no key update of p ${lock}
     ), p as (
       update participants p set expires_at = greatest(p.expires_at, g.until) from present g
        where ${SAME_PARTICIPANT}
     ), a as (
       ${INSERT_ADMISSIONS}
       select tenant_id, room_uid, username, device, role, rank, capabilities, key_id, customer, until from present
       ${ON_KNOWN_DEVICE}
     )
     select at, ${ISSUED}, epoch, muted, publish_revoked as "publishRevoked", false as eventful from present`;

async function renew(
  db: Db,
  name: string,
  lock: Lock,
  renewals: readonly Renewal[],
): Promise<(Admission | undefined)[]> {
  const { rows } = await db.query<Admission & Placed>({
    name,
    text: renewText(lock),
    values: [wanted(renewals)],
  });
  return placed(renewals.length, rows);
}

/**
 * Renew the admission of a user who is present and unchanged, or add a device for that user; `undefined` if
 * anything else is needed, which `upsertAdmission()` does. Waits for the lock of the participant.
 *
 * It appends no event, and does not lock the room's row, because the end of a room updates its participants.
 */
export async function renewAdmission(db: Db, renewal: Renewal): Promise<Admission | undefined> {
  const [renewed] = await renew(db, 'renew-admission', '', [renewal]);
  return renewed;
}

/** Like `renewAdmission()` for several users, each once. `undefined` also for a participant who is locked. */
export function renewFreeAdmissions(
  db: Db,
  renewals: readonly Renewal[],
): Promise<(Admission | undefined)[]> {
  return renew(db, 'renew-free-admissions', 'skip locked', renewals);
}

/** Whether another user is present whose name looks like this one. */
export async function hasLookalike(
  db: Db,
  { tenant, roomUid, username, skeleton }: NewAdmission,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'find-lookalike',
    text: `select 1 from participants
            where tenant_id = $1 and room_uid = $2 and skeleton = $3 and username <> $4
              and left_at is null and expires_at > now() limit 1`,
    values: [tenant, roomUid, skeleton, username],
  });
  return rows.length > 0;
}

/** How many other users are present, counted up to `max`. */
export async function countOthers(
  db: Db,
  { tenant, roomUid, username }: NewAdmission,
  max: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-others',
    text: `select count(*)::integer as count
             from (select from participants
                    where tenant_id = $1 and room_uid = $2 and username <> $3
                      and left_at is null and expires_at > now() limit $4) others`,
    values: [tenant, roomUid, username, max],
  });
  return rows[0]!.count;
}
