/** SQL of `sessions`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TIERS } from '../../money/pricing/role.ts';
import { ERASED } from '../../money/records/usage-record.ts';
import type { NewSession, OpenSession, SeenParticipant, SessionChange } from './follow-sessions.ts';
import {
  type ListedSession,
  SESSION_DEVICES_MAX,
  type Session,
  type SessionFilter,
  type SessionPlace,
  type SessionUsage,
} from './session.ts';

/** The first of some devices, each once. A query over them, as a column of the statement that changes `sessions s`. */
export function devicesOf(devices: string): string {
  return `array(select distinct device from unnest(${devices}) as d (device) order by device limit ${SESSION_DEVICES_MAX})`;
}

/** A session that an event or usage looks for by its names. */
export interface SessionNames {
  readonly room: string;
  readonly participant: string;
}

/** The open sessions of these participants. Only the newest of a participant in a room can be open. */
export async function findOpenSessions(
  tx: Tx,
  tenant: TenantId,
  names: readonly SessionNames[],
): Promise<OpenSession[]> {
  const { rows } = await tx.query<OpenSession>({
    name: 'find-open-sessions',
    text: `select s.id, s.room, s.room_uid as "roomUid", s.participant
             from unnest($2::text[], $3::text[]) as n (room, participant), lateral (
               select * from sessions
                where tenant_id = $1 and room = n.room and participant = n.participant
                order by entered_at desc limit 1) as s
            where s.left_at is null`,
    values: [tenant, names.map(({ room }) => room), names.map(({ participant }) => participant)],
  });
  return rows;
}

export async function insertSessions(
  tx: Tx,
  tenant: TenantId,
  sessions: readonly NewSession[],
): Promise<void> {
  if (sessions.length === 0) return;
  await tx.query({
    name: 'insert-sessions',
    text: `insert into sessions (tenant_id, id, room, room_uid, participant, role, key_id, customer, devices,
                                 entered_at, left_at, leave_reason)
           select $1, id, room, room_uid, participant, role, key_id, customer, ${devicesOf('devices')},
                  entered_at, left_at, leave_reason
             from json_to_recordset($2) as n (${CHANGE_COLUMNS}, room text, room_uid text, participant text,
                    key_id text, customer text, entered_at timestamptz)`,
    values: [
      tenant,
      JSON.stringify(
        sessions.map((each) => ({
          ...changeRow(each),
          room: each.room,
          room_uid: each.roomUid,
          participant: each.participant,
          key_id: each.keyId,
          customer: each.customer,
          entered_at: each.enteredAt,
        })),
      ),
    ],
  });
}

const CHANGE_COLUMNS = 'id text, role text, devices text[], left_at timestamptz, leave_reason text';

function changeRow({ id, role, devices, leftAt, leaveReason }: SessionChange) {
  return { id, role, devices, left_at: leftAt, leave_reason: leaveReason };
}

/** All who change several sessions lock them in this order. `$3`: their ids. */
const LOCKED = `locked as materialized (
    select id from sessions where tenant_id = $1 and id = any($3) order by id for no key update
  )`;

export async function changeSessions(
  tx: Tx,
  tenant: TenantId,
  changes: readonly SessionChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx.query({
    name: 'change-sessions',
    text: `with ${LOCKED}
           update sessions s
              set role = n.role, devices = ${devicesOf('s.devices || n.devices')}, left_at = n.left_at,
                  leave_reason = n.leave_reason
             from json_to_recordset($2) as n (${CHANGE_COLUMNS}), locked
            where s.tenant_id = $1 and s.id = n.id and s.id = locked.id`,
    values: [tenant, JSON.stringify(changes.map(changeRow)), changes.map(({ id }) => id)],
  });
}

/**
 * Close the session of a participant whose name an erasure took, from the session or from the event. The time of entering finds
 * it, in milliseconds: some events have no more.
 */
export async function closeByTime(tx: Tx, tenant: TenantId, left: SeenParticipant): Promise<void> {
  await tx.query({
    name: 'close-session-by-time',
    text: `update sessions set left_at = $4::timestamptz, leave_reason = $5
            where tenant_id = $1 and room = $2 and left_at is null and room_uid = $3
              and entered_at >= date_trunc('milliseconds', $6::timestamptz)
              and entered_at < date_trunc('milliseconds', $6::timestamptz) + interval '1 millisecond'
              and (participant = '${ERASED}' or $7 = '${ERASED}')`,
    values: [tenant, left.room, left.roomUid, left.leftAt, left.leaveReason, left.enteredAt, left.username],
  });
}

/** A session that usage may belong to. */
export interface Candidate {
  readonly id: string;
  /** Which of the names it was found by. */
  readonly place: number;
  readonly from: Date;
  readonly to: Date | null;
  readonly roomUid: string;
  readonly keyId: string | null;
  readonly customer: string | null;
}

/** Newer sessions of a participant in a room than the one that a record belongs to. */
const NEWER_MAX = 10;

/** The newest sessions of each of the names that began before `before`, newest first. */
export async function findCandidates(
  db: Db,
  tenant: TenantId,
  names: readonly SessionNames[],
  before: Date,
): Promise<Candidate[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<Candidate>({
    name: 'find-session-candidates',
    text: `select s.id, n.place::integer - 1 as place, s.entered_at as "from", s.left_at as "to",
                  s.room_uid as "roomUid", s.key_id as "keyId", s.customer
             from unnest($2::text[], $3::text[]) with ordinality as n (room, participant, place), lateral (
               select * from sessions
                where tenant_id = $1 and room = n.room and participant = n.participant and entered_at <= $4
                order by entered_at desc limit ${NEWER_MAX}) as s
            order by n.place, s.entered_at desc`,
    values: [tenant, names.map(({ room }) => room), names.map(({ participant }) => participant), before],
  });
  return rows;
}

/** What postings from `firstSeq` to `lastSeq` add to a session. */
export interface SessionSum {
  readonly id: string;
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
  readonly usage: SessionUsage;
}

/** Where `seconds` has those of each tier. */
const TIER_PLACES = TIERS.map((_, at) => at + 1);

export const USAGE_COLUMNS = `records bigint, seconds bigint[], egress_bytes numeric, ingress_bytes numeric, amount numeric,
  unbilled numeric`;

/** For JSON: numbers of any size are texts. */
export function usageRow({ records, seconds, egressBytes, ingressBytes, amount, unbilled }: SessionUsage) {
  return {
    records: String(records),
    seconds: seconds.map(String),
    egress_bytes: String(egressBytes),
    ingress_bytes: String(ingressBytes),
    amount: String(amount),
    unbilled: String(unbilled),
  };
}

/** `set` of a statement that adds the usage `n` to the usage `s`. */
export function addedUsage(s: string, n: string): string {
  const seconds = TIER_PLACES.map((at) => `${s}.seconds[${at}] + ${n}.seconds[${at}]`);
  const others = ['records', 'egress_bytes', 'ingress_bytes', 'amount', 'unbilled'];
  return `seconds = array[${seconds.join(', ')}],
    ${others.map((each) => `${each} = ${s}.${each} + ${n}.${each}`).join(', ')}`;
}

/**
 * Add usage to sessions. While a participant is present, the session also gets the devices that have been admitted: the
 * second device of a participant appends no event. Names of admissions have another collation: their index is only used with that one.
 */
export function addToSessions(tenant: TenantId, sums: readonly SessionSum[]): Statement[] {
  if (sums.length === 0) return [];
  return [
    {
      name: 'add-to-sessions',
      text: `with ${LOCKED}
           update sessions s
              set ${addedUsage('s', 'n')}, first_seq = least(s.first_seq, n.first_seq),
                  last_seq = greatest(s.last_seq, n.last_seq),
                  devices = case when s.left_at is null then ${devicesOf(`s.devices || array(
                    select a.device from admissions a where a.tenant_id = $1 and a.room_uid = s.room_uid
                       and a.username = s.participant collate "default")`)} else s.devices end
             from json_to_recordset($2) as n (id text, first_seq bigint, last_seq bigint, ${USAGE_COLUMNS}), locked
            where s.tenant_id = $1 and s.id = n.id and s.id = locked.id`,
      values: [
        tenant,
        JSON.stringify(
          sums.map(({ id, firstSeq, lastSeq, usage }) => ({
            id,
            first_seq: String(firstSeq),
            last_seq: String(lastSeq),
            ...usageRow(usage),
          })),
        ),
        sums.map(({ id }) => id),
      ],
    },
  ];
}

const SESSION = `id, room, room_uid as "roomUid", participant, role, key_id as "keyId", customer, devices,
  entered_at as "enteredAt", left_at as "leftAt", leave_reason as "leaveReason", first_seq as "firstSeq",
  last_seq as "lastSeq"`;
export const USAGE = `records, seconds, egress_bytes as "egressBytes", ingress_bytes as "ingressBytes", amount, unbilled`;

/** As PostgreSQL returns the columns of USAGE. */
export interface UsageRow {
  readonly records: bigint | string;
  readonly seconds: readonly (bigint | string)[];
  readonly egressBytes: string;
  readonly ingressBytes: string;
  readonly amount: string;
  readonly unbilled: string;
}

export function readUsage(row: UsageRow): SessionUsage {
  return {
    records: BigInt(row.records),
    seconds: row.seconds.map(BigInt),
    egressBytes: BigInt(row.egressBytes),
    ingressBytes: BigInt(row.ingressBytes),
    amount: BigInt(row.amount),
    unbilled: BigInt(row.unbilled),
  };
}

function readSession<Row extends UsageRow & Omit<Session, 'usage'>>(
  row: Row,
): Omit<Row, keyof UsageRow> & Session {
  const { records, seconds, egressBytes, ingressBytes, amount, unbilled, ...session } = row;
  return {
    ...session,
    usage: readUsage({ records, seconds, egressBytes, ingressBytes, amount, unbilled }),
  };
}

/** Up to `limit` sessions after `after` in the list (`null`: from its beginning), those that began last first. */
export async function findSessions(
  db: Db,
  tenant: TenantId,
  filter: SessionFilter,
  { after, limit }: { readonly after: SessionPlace | null; readonly limit: number },
): Promise<ListedSession[]> {
  const { room, participant, key, customer, from, to } = filter;
  const { name, where, values } = filtered('find-room-sessions', [tenant, limit], {
    room: room !== undefined && ['room = ?', room],
    participant: participant !== undefined && ['participant = ?', participant],
    key: key !== undefined && ['key_id = ?', key],
    customer: customer !== undefined && ['customer = ?', customer],
    from: from && ['entered_at >= ?', from],
    to: to && ['entered_at < ?', to],
    after: after && [
      `(entered_at, id) < ('epoch'::timestamptz + ?::bigint * interval '1 microsecond', ?)`,
      after.entered,
      after.id,
    ],
  });
  const { rows } = await db.query<Parameters<typeof readSession>[0] & Pick<SessionPlace, 'entered'>>({
    name,
    text: `select ${SESSION}, ${USAGE}, (extract(epoch from entered_at) * 1000000)::bigint as entered
             from sessions where tenant_id = $1 ${where} order by entered_at desc, id desc limit $2`,
    values,
  });
  return rows.map(readSession) as ListedSession[];
}

export async function findSession(db: Db, tenant: TenantId, id: string): Promise<Session | undefined> {
  const { rows } = await db.query<Parameters<typeof readSession>[0]>({
    name: 'find-room-session',
    text: `select ${SESSION}, ${USAGE} from sessions where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
  return rows.map(readSession)[0];
}
