/** `/v1/sessions` and `/v1/rooms/{uid}/cost`: what participants and rooms cost. Additions to the specification. */
import { type Static, Type, time, words } from '../../base/lib/schema.ts';
import { LEAVE_REASONS } from '../../control/rooms/participant.ts';
import { getRoomCost } from '../../control/sessions/get-room-cost.ts';
import { getSession } from '../../control/sessions/get-session.ts';
import { listSessions } from '../../control/sessions/list-sessions.ts';
import {
  SESSION_RECORDS_MAX,
  type Session,
  type SessionUsage,
  secondsByTier,
  totalSeconds,
} from '../../control/sessions/session.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import { renderMeasures } from '../../money/usage/usage-summary.ts';
import {
  parseKeyFilter,
  parseSessionPlace,
  renderSessionPlace,
  SESSION_COLUMNS,
  sessionStream,
} from '../http/session-list.ts';
import { listAnswer, listFields, sendList } from './lists.ts';
import { nextCursor } from './paging.ts';
import { parsePeriod } from './query.ts';
import { plain } from './route.ts';
import { ChargedRecordSchema, renderRecord } from './usage-records.ts';
import { count, measures } from './usage-summary.ts';

const usage = {
  ...measures,
  seconds_by_tier: Type.Object(
    Object.fromEntries(TIERS.map((tier) => [tier, count('Seconds in this tier')])) as Record<
      (typeof TIERS)[number],
      ReturnType<typeof count>
    >,
    { description: 'Seconds in each tier' },
  ),
};

const assignedUntil = {
  assigned_until: time('The sums have every charge before this time. Later ones are added within seconds'),
};

const SessionSchema = Type.Object(
  {
    id: Type.String({ description: 'The id of the session' }),
    room: Type.String({ description: 'The name of the room' }),
    room_uid: Type.String({ description: 'The incarnation of the room' }),
    participant: Type.String({ description: 'The username; `(erased)` after an erasure' }),
    role: words(ROLES, { description: 'The last role' }),
    key_id: Type.Optional(
      Type.String({ description: 'The API key or device credential that admitted the participant first' }),
    ),
    customer: Type.Optional(Type.String({ description: 'The label that the mint named, if it named one' })),
    devices: Type.Array(Type.String(), { description: 'Thumbprints of the keys of its devices' }),
    entered_at: time('When the participant entered'),
    left_at: Type.Optional(
      time('When the participant left, or the last token expired. Absent: still in the room'),
    ),
    leave_reason: Type.Optional(words(LEAVE_REASONS, { description: 'Why the session ended' })),
    ...usage,
  },
  { description: 'What one participant did in one room, from entering to leaving' },
);

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: RECORD_TEXT_MAX, description }));

const list = plain(
  {
    path: 'GET /v1/sessions',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'its own',
    tag: 'Usage',
    operation: 'listSessions',
    summary: 'Sessions of participants, and what they cost',
    description:
      'Those that began last come first. A session is what one participant did in one room, from entering to leaving. ' +
      'Usage is added to it within seconds after the charge.',
    query: Type.Object({
      room: text('Only rooms of this name'),
      participant: text('Only this participant, by the username'),
      key: text('Only those that this API key or device credential admitted, by its id'),
      customer: text('Only those with this label of the mint'),
      from: Type.Optional(
        Type.String({ description: 'Only sessions that began at this time (UTC) or later: a day or a time' }),
      ),
      to: Type.Optional(Type.String({ description: 'Only sessions that began before this time' })),
      ...listFields,
    }),
    answer: {
      200: listAnswer(
        Type.Object({
          sessions: Type.Array(SessionSchema, { description: 'The sessions' }),
          ...nextCursor,
        }),
        Object.keys(SESSION_COLUMNS),
      ),
    },
    parse: ({ query }) => {
      const { room, participant, key, customer } = query;
      return { room, participant, key: parseKeyFilter(key), customer, ...parsePeriod(query) };
    },
  },
  async ({ deps, caller, query, input, request, reply }) => {
    const { tenant } = caller;
    return sendList(deps, reply, {
      caller,
      query,
      accept: request.headers.accept,
      parsePlace: (cursor) => parseSessionPlace(cursor, tenant),
      openStream: async () => sessionStream(deps.db, tenant, input),
      readPage: async (after = null, limit) => {
        const { items, end } = await listSessions(deps.db, tenant, input, after, limit);
        return { items, nextCursor: end && renderSessionPlace(tenant, end) };
      },
      renderPage: (sessions) => ({ sessions: sessions.map(renderSession) }),
      columns: SESSION_COLUMNS,
      fileName: 'sessions',
    });
  },
);

const show = plain(
  {
    path: 'GET /v1/sessions/:id',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Usage',
    operation: 'getSession',
    summary: 'One session, with its newest records',
    description:
      'A session keeps its sums for ever. Its records are in `GET /v1/usage/records`, by room and participant.',
    params: Type.Object({ id: Type.String({ description: 'The id of the session' }) }),
    answer: {
      200: Type.Object(
        {
          session: SessionSchema,
          records: Type.Array(ChargedRecordSchema, {
            description: `Its newest records, as far as they are at hand: ${SESSION_RECORDS_MAX} at most`,
          }),
          ...assignedUntil,
        },
        { description: 'The session' },
      ),
    },
    errors: [404],
  },
  async ({ deps, caller, params }) => {
    const shown = await getSession(deps.db, caller.tenant, params.id);
    return {
      session: renderSession(shown.session),
      records: shown.records.map(renderRecord),
      assigned_until: shown.assignedUntil.toISOString(),
    };
  },
);

const roomCost = plain(
  {
    path: 'GET /v1/rooms/:uid/cost',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'heavy reads',
    tag: 'Usage',
    operation: 'getRoomCost',
    summary: 'What a room cost',
    description:
      'Of one incarnation: a room that ended and was created again is another one. Usage that names no participant, or ' +
      'none who was in the room, belongs to no session: it is `unassigned`, and counts for the incarnation of its time.',
    params: Type.Object({ uid: Type.String({ description: 'The uid of the room' }) }),
    answer: {
      200: Type.Object(
        {
          room: Type.String({ description: 'The name of the room' }),
          room_uid: Type.String({ description: 'The incarnation' }),
          created_at: time('When the room was created'),
          ended_at: Type.Optional(time('When the room ended. Absent: it is live')),
          sessions: count('How many sessions it had'),
          assigned: Type.Object(usage, { description: 'The sums of its sessions' }),
          unassigned: Type.Object(usage, { description: 'Usage of the room that belongs to no session' }),
          ...assignedUntil,
        },
        { description: 'The sums' },
      ),
    },
    errors: [404],
  },
  async ({ deps, caller, params }) => {
    const { room, sessions, ...cost } = await getRoomCost(deps.db, caller.tenant, params.uid);
    return {
      room: room.name,
      room_uid: room.uid,
      created_at: room.createdAt.toISOString(),
      ...(room.endedAt && { ended_at: room.endedAt.toISOString() }),
      sessions,
      assigned: renderUsage(cost.assigned),
      unassigned: renderUsage(cost.unassigned),
      assigned_until: cost.assignedUntil.toISOString(),
    };
  },
);

function renderUsage(sums: SessionUsage) {
  return {
    ...renderMeasures({ ...sums, seconds: totalSeconds(sums) }),
    seconds_by_tier: secondsByTier(sums),
  };
}

function renderSession(session: Session): Static<typeof SessionSchema> {
  const { id, room, roomUid, participant, role, keyId, customer, devices, enteredAt } = session;
  const { leftAt, leaveReason } = session;
  return {
    id,
    room,
    room_uid: roomUid,
    participant,
    role,
    ...(keyId !== null && { key_id: keyId }),
    ...(customer !== null && { customer }),
    devices: [...devices],
    entered_at: enteredAt.toISOString(),
    ...(leftAt && { left_at: leftAt.toISOString() }),
    ...(leaveReason && { leave_reason: leaveReason }),
    ...renderUsage(session.usage),
  };
}

export const sessionRoutes = [list, show, roomCost];
