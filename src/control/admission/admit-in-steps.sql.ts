/**
 * SQL that admits users where tables are distributed, in a transaction: Citus runs no statement that writes several
 * tables. Locks room and participant first, so each step sees what the one before it found. Uses the coordinator's time.
 */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { NewEvent } from '../../events/event.ts';
import { noteLapse } from '../rooms/lapses.sql.ts';
import { PARTICIPANT, PRESENT, ROOM_OF_PARTICIPANT } from '../rooms/participants.sql.ts';
import {
  type Admission,
  type Admitting,
  expiryWith,
  GRANTED,
  INSERT_ADMISSIONS,
  ISSUED,
  type NewAdmission,
  ON_KNOWN_DEVICE,
  type Renewal,
} from './admissions.sql.ts';

interface Clock extends Pick<Admission, 'issuedAt' | 'kid'> {
  readonly now: string;
  /** When the token of the admission expires. */
  readonly until: string;
}

async function readClock(tx: Tx, lifetimeSeconds: number): Promise<Clock> {
  const { untils, ...clock } = await readClocks(tx, [lifetimeSeconds]);
  return { ...clock, until: untils[0]! };
}

/** The time, and when tokens of these lifetimes expire, in their order. */
async function readClocks(
  tx: Tx,
  lifetimes: readonly number[],
): Promise<Omit<Clock, 'until'> & { untils: string[] }> {
  const { rows } = await tx.query<Omit<Clock, 'until'> & { untils: string[] }>({
    name: 'clock-of-admissions',
    text: `select now()::text as now, ${ISSUED},
                  (select array_agg((date_trunc('second', now()) + make_interval(secs => seconds))::text order by at)
                     from unnest($1::double precision[]) with ordinality as u (seconds, at)) as untils`,
    values: [lifetimes],
  });
  return rows[0]!;
}

const SAME = 'p.tenant_id = $1 and p.room_uid = $2 and p.username = $3';

const keyOf = ({ tenant, roomUid, username }: Renewal) => [tenant, roomUid, username];

/** SQL that compares times with that of the coordinator, in the parameter. */
const at = (sql: string, parameter: string) => sql.replaceAll('now()', `${parameter}::timestamptz`);

/** What moderators have set, which an admission does not change. */
type Restrictions = Pick<Admission, 'epoch' | 'muted' | 'publishRevoked'>;
const RESTRICTIONS = 'p.epoch, p.muted, p.publish_revoked as "publishRevoked"';

/** As `renewAdmission()`. */
export async function renewInSteps(tx: Tx, renewal: Renewal): Promise<Admission | undefined> {
  const { role, rank, capabilities } = renewal;
  const { now, until, ...issued } = await readClock(tx, renewal.lifetimeSeconds);
  const { rows } = await tx.query<Restrictions>({
    name: 'lock-present-participant',
    text: `select ${RESTRICTIONS} from participants p
            where ${SAME} and ${at(PRESENT, '$7')} and ${GRANTED} = ($4, $5, $6::text[])
              for no key update`,
    values: [...keyOf(renewal), role, rank, capabilities, now],
  });
  if (!rows[0]) return undefined;
  await tx.query({
    name: 'renew-participant',
    text: `update participants p set expires_at = greatest(p.expires_at, $4::timestamptz) where ${SAME}`,
    values: [...keyOf(renewal), until],
  });
  await upsertDevice(tx, renewal, until);
  return { ...issued, ...rows[0], eventful: false };
}

interface Renewed extends Restrictions {
  /** The place of the renewal among those that were asked for. */
  readonly at: number;
}

/** As `renewFreeAdmissions()`, for users of one tenant, each once. */
export async function renewFreeInSteps(
  tx: Tx,
  renewals: readonly Renewal[],
): Promise<(Admission | undefined)[]> {
  const { tenant } = renewals[0]!;
  const { now, untils, ...issued } = await readClocks(
    tx,
    renewals.map(({ lifetimeSeconds }) => lifetimeSeconds),
  );
  const renewed = await lockFreeParticipants(tx, renewals, now);
  const found = renewals.map((): Admission | undefined => undefined);
  if (renewed.length === 0) return found;
  for (const { at: place, ...rest } of renewed) found[place] = { ...issued, ...rest, eventful: false };
  const devices = renewed.map(({ at: place }) => ({ ...renewals[place]!, until: untils[place]! }));
  await tx.query({
    name: 'renew-participants',
    text: `update participants p set expires_at = greatest(p.expires_at, g.until)
             from json_to_recordset($2) as g (room_uid text, username text, until timestamptz)
            where p.tenant_id = $1 and p.room_uid = g.room_uid and p.username = g.username`,
    values: [
      tenant,
      JSON.stringify(devices.map(({ roomUid, username, until }) => ({ room_uid: roomUid, username, until }))),
    ],
  });
  await upsertDevices(tx, tenant, devices);
  return found;
}

/** Lock those who are present, unchanged and not locked. */
async function lockFreeParticipants(
  tx: Tx,
  renewals: readonly Renewal[],
  now: string,
): Promise<readonly Renewed[]> {
  const { rows } = await tx.query<Renewed>({
    name: 'lock-free-participants',
    text: `select g.at, ${RESTRICTIONS}
             from json_to_recordset($2) as g (at integer, room_uid text, username text, role text, rank smallint,
                                              capabilities text[])
             join participants p on p.tenant_id = $1 and p.room_uid = g.room_uid and p.username = g.username
            where ${at(PRESENT, '$3')} and ${GRANTED} = (g.role, g.rank, g.capabilities)
              for no key update of p skip locked`,
    values: [
      renewals[0]!.tenant,
      JSON.stringify(
        renewals.map(({ roomUid, username, role, rank, capabilities }, place) => {
          return { at: place, room_uid: roomUid, username, role, rank, capabilities };
        }),
      ),
      now,
    ],
  });
  return rows;
}

/** As `upsertAdmission()`. */
export async function upsertInSteps(tx: Tx, admission: NewAdmission): Promise<Admitting | 'room_ended'> {
  const { now, until, ...issued } = await readClock(tx, admission.lifetimeSeconds);
  if (!(await lockLiveRoom(tx, admission))) return 'room_ended';
  const { before, restrictions } = await lockOrInsert(tx, admission, { now, until });
  if (before?.isPresent && !admission.mayLower && before.isOutranked) return 'username_taken';
  const left = before?.hasLapsed ? [await describe(tx, 'participant_left', admission, now)] : [];
  if (before) await changeParticipant(tx, admission, { now, until });
  if (before?.hasLeft !== false) await noteLapse(tx, admission.tenant, admission.roomUid, until);
  await upsertDevice(tx, admission, until);

  const isUpdated = before?.isPresent && !before.isSame;
  const type = before?.isPresent ? 'participant_updated' : 'participant_entered';
  const news = isUpdated || !before?.isPresent ? [await describe(tx, type, admission, now, until)] : [];
  await appendEvents(tx, admission.tenant, [...left, ...news]);
  return { ...issued, ...restrictions, eventful: news.length > 0 };
}

async function lockLiveRoom(tx: Tx, { tenant, roomUid }: NewAdmission): Promise<boolean> {
  const { rows } = await tx.query<{ state: string }>({
    name: 'share-room',
    text: 'select state from rooms where tenant_id = $1 and uid = $2 for share',
    values: [tenant, roomUid],
  });
  return rows[0]?.state === 'LIVE';
}

interface Before {
  readonly isPresent: boolean;
  /** Whether a device has a valid token of a higher rank than the new one. */
  readonly isOutranked: boolean;
  /** The last token expired, and no sweep has said so. */
  readonly hasLapsed: boolean;
  readonly hasLeft: boolean;
  /** Whether nothing that the participant may do changes. */
  readonly isSame: boolean;
}

type Times = Pick<Clock, 'now' | 'until'>;

interface Locked {
  /** The participant, as it was; `undefined`: it was not there, and now it is. */
  readonly before: Before | undefined;
  readonly restrictions: Restrictions;
}

async function lockOrInsert(tx: Tx, admission: NewAdmission, times: Times): Promise<Locked> {
  for (;;) {
    const locked =
      (await lockParticipant(tx, admission, times.now)) ?? (await insertParticipant(tx, admission, times));
    if (locked) return locked;
  }
}

async function lockParticipant(tx: Tx, admission: NewAdmission, now: string): Promise<Locked | undefined> {
  const { role, rank, capabilities } = admission;
  const { rows } = await tx.query<Omit<Before, 'isOutranked'> & Restrictions>({
    name: 'lock-entering-participant',
    text: `select ${RESTRICTIONS}, ${at(PRESENT, '$7')} as "isPresent", p.left_at is not null as "hasLeft",
                  p.left_at is null and p.expires_at <= $7::timestamptz as "hasLapsed",
                  ${GRANTED} is not distinct from ($4::text, $5::smallint, $6::text[]) as "isSame"
             from participants p where ${SAME} for no key update`,
    values: [...keyOf(admission), role, rank, capabilities, now],
  });
  if (!rows[0]) return undefined;
  const { epoch, muted, publishRevoked, ...before } = rows[0];
  const outranking = await tx.query({
    name: 'find-outranking-device',
    text: `select from admissions p where ${SAME} and p.rank > $4 and p.expires_at > $5::timestamptz limit 1`,
    values: [...keyOf(admission), rank, now],
  });
  return {
    before: { ...before, isOutranked: outranking.rowCount === 1 },
    restrictions: { epoch, muted, publishRevoked },
  };
}

/** `undefined` if another transaction has inserted the participant meanwhile. */
async function insertParticipant(
  tx: Tx,
  admission: NewAdmission,
  { now, until }: Times,
): Promise<Locked | undefined> {
  const { skeleton, role, rank, capabilities } = admission;
  const { rows } = await tx.query<Restrictions>({
    name: 'insert-participant',
    text: `insert into participants as p (tenant_id, room_uid, username, skeleton, role, rank, capabilities, entered_at, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz, $9::timestamptz) on conflict do nothing
           returning ${RESTRICTIONS}`,
    values: [...keyOf(admission), skeleton, role, rank, capabilities, now, until],
  });
  return rows[0] && { before: undefined, restrictions: rows[0] };
}

async function changeParticipant(tx: Tx, admission: NewAdmission, { now, until }: Times): Promise<void> {
  const { skeleton, role, rank, capabilities } = admission;
  const isPresent = at(PRESENT, '$8');
  await tx.query({
    name: 'change-participant',
    text: `update participants p
              set skeleton = $4, role = $5, rank = $6, capabilities = $7,
                  entered_at = case when ${isPresent} then p.entered_at else $8::timestamptz end,
                  expires_at = ${expiryWith('$9::timestamptz', isPresent)},
                  left_at = null, leave_reason = null
            where ${SAME}`,
    values: [...keyOf(admission), skeleton, role, rank, capabilities, now, until],
  });
}

async function upsertDevice(tx: Tx, renewal: Renewal, until: string): Promise<void> {
  await upsertDevices(tx, renewal.tenant, [{ ...renewal, until }]);
}

/** Insert or renew the devices of one tenant, each once. As values: rows of a query would be collected on the coordinator first. */
async function upsertDevices(
  tx: Tx,
  tenant: TenantId,
  devices: readonly (Renewal & { readonly until: string })[],
): Promise<void> {
  const rows = devices.map((each) => [
    each.roomUid,
    each.username,
    each.thumbprint,
    each.role,
    each.rank,
    each.capabilities,
    each.keyId,
    each.customer,
    each.until,
  ]);
  const values = rows.map((row, place) => {
    const parameters = row.map((_, column) => `$${2 + place * row.length + column}`);
    return `($1, ${parameters.slice(0, -1).join(', ')}, ${parameters.at(-1)}::timestamptz)`;
  });
  await tx.query({
    name: `upsert-${rows.length}-devices`,
    text: `${INSERT_ADMISSIONS} values ${values.join(', ')} ${ON_KNOWN_DEVICE}`,
    values: [tenant, ...rows.flat()],
  });
}

/** The event of the participant as it is now. `until`: with the device that was admitted. */
async function describe(
  tx: Tx,
  type: NewEvent['type'],
  admission: NewAdmission,
  now: string,
  until?: string,
): Promise<NewEvent> {
  const devices = until
    ? `(select jsonb_agg(jsonb_build_object('thumbprint', a.device, 'keyId', a.key_id, 'customer', a.customer,
            'expiresAt', a.expires_at))
          from admissions a
         where a.tenant_id = $1 and a.room_uid = $2 and a.username = $3 and a.device = $4)`
    : `case when $4::text is not null then '[]'::jsonb end`;
  const { rows } = await tx.query<{ subject: object }>({
    name: until ? 'describe-participant-with-device' : 'describe-participant',
    text: `select to_jsonb(v) as subject
             from participants p ${ROOM_OF_PARTICIPANT}, lateral (select ${at(PARTICIPANT, '$5')}, ${devices} as devices) v
            where ${SAME}`,
    values: [...keyOf(admission), admission.thumbprint, now],
  });
  return { type, roomUid: admission.roomUid, subject: rows[0]!.subject } as NewEvent;
}
