/** `RoomService`. */
import { Room_State, RoomPolicy_Mode, type RoomPolicy as WirePolicy } from '@boxoffice/contract/room';
import { RoomService, type UpdateRoomPolicyRequest } from '@boxoffice/contract/room_service';
import { invalidField } from '../../base/failure.ts';
import { createRoom } from '../../control/rooms/create-room.ts';
import { endRoomByName } from '../../control/rooms/end-room.ts';
import { getRoom } from '../../control/rooms/get-room.ts';
import { listRooms } from '../../control/rooms/list-rooms.ts';
import {
  DEFAULT_POLICY,
  METADATA_LENGTH_MAX,
  PARTICIPANTS_MAX,
  type RoomPolicy,
  type RoomState,
} from '../../control/rooms/room.ts';
import { type PolicyChange, updateRoomPolicy } from '../../control/rooms/update-room-policy.ts';
import { followEvents } from '../../control/streams/follow-events.ts';
import { listEvents } from '../../control/streams/list-events.ts';
import { parseResumeToken, RESET, renderEvent, renderItem, renderResumeToken, type Scope } from './events.ts';
import {
  parseActor,
  parseCapabilities,
  parseDurationMs,
  parseId,
  parseMask,
  parseOptionalRoomName,
  parsePageSize,
  parseRoomName,
  parseRoomReference,
  parseText,
  parseTime,
  parseToken,
  renderToken,
} from './fields.ts';
import { command, type Methods, query, stream } from './methods.ts';
import { renderRoom } from './render.ts';

const { method } = RoomService;

const WAIT_MS_MAX = 30_000;

export const roomMethods = {
  createRoom: command(
    method.createRoom,
    (request) => ({
      name: parseRoomName(request.room),
      policy: request.policy ? parsePolicy(request.policy) : DEFAULT_POLICY,
      metadata: parseText(request.metadata, 'metadata', METADATA_LENGTH_MAX),
    }),
    async (tx, { caller }, wanted) => ({ room: renderRoom(await createRoom(tx, caller, wanted)) }),
  ),
  getRoom: query(method.getRoom, async ({ deps, tenant }, request) => ({
    room: renderRoom(await getRoom(deps.db, tenant, parseRoomReference(request))),
  })),
  listRooms: query(method.listRooms, async ({ deps, tenant }, request) => {
    const { rooms, end } = await listRooms(deps.db, tenant, {
      state: parseState(request.state),
      namePrefix: parseOptionalRoomName(request.namePrefix, 'name_prefix'),
      createdFrom: parseTime(request.createTimeFrom, 'create_time_from'),
      createdBefore: parseTime(request.createTimeBefore, 'create_time_before'),
      size: parsePageSize(request.pageSize),
      after: parseRoomToken(request.pageToken),
    });
    return { rooms: rooms.map(renderRoom), nextPageToken: end === undefined ? '' : renderToken([end]) };
  }),
  updateRoomPolicy: command(
    method.updateRoomPolicy,
    (request) => ({
      name: parseRoomName(request.room),
      change: parseChange(request),
      actor: parseActor(request.actor),
    }),
    async (tx, { tenant }, wanted) => ({ room: renderRoom(await updateRoomPolicy(tx, tenant, wanted)) }),
  ),
  endRoom: command(
    method.endRoom,
    (request) => ({ name: parseRoomName(request.room), actor: parseActor(request.actor) }),
    async (tx, { tenant }, wanted) => ({ room: renderRoom(await endRoomByName(tx, tenant, wanted)) }),
  ),
  watchEvents: stream(method.watchEvents, async ({ deps, caller, signal }, request, send) => {
    const scope = scopeOf(request);
    const following = {
      after: parseResumeToken(request.resumeToken, scope),
      room: parseOptionalRoomName(request.room),
      signal,
    };
    await followEvents(deps, caller, following, (item) => send(renderItem(item, scope)));
  }),
  listEvents: query(
    method.listEvents,
    async ({ deps, caller, signal }, request) => {
      const scope = scopeOf(request);
      const { isReset, events, reached } = await listEvents(deps, caller, {
        after: parseResumeToken(request.resumeToken, scope),
        room: parseOptionalRoomName(request.room),
        limit: parsePageSize(request.pageSize),
        waitMs: parseDurationMs(request.wait, 'wait', { min: 0, max: WAIT_MS_MAX }) ?? 0,
        signal,
      });
      const told = events.map(renderEvent);
      return { events: isReset ? [RESET, ...told] : told, resumeToken: renderResumeToken(reached, scope) };
    },
    { timeoutMs: WAIT_MS_MAX + 15_000, waits: true },
  ),
} satisfies Methods<typeof RoomService>;

/** Resume tokens of the two event methods are interchangeable. */
function scopeOf({ tenant, room }: { readonly tenant: string; readonly room: string }): Scope {
  return [tenant, room];
}

const REGION = /^[a-z0-9-]{0,64}$/;

function parsePolicy(policy: WirePolicy): RoomPolicy {
  if (!REGION.test(policy.region)) {
    throw invalidField('policy.region', 'must be at most 64 characters of a-z, 0-9 and -');
  }
  return {
    mode: parseMode(policy.mode),
    e2eeRequired: policy.e2eeRequired,
    ageVerificationRequired: policy.ageVerificationRequired,
    region: policy.region,
    maxParticipants: parseMaxParticipants(policy.maxParticipants),
    locked: policy.locked,
    hostCapabilities: parseCapabilities(policy.hostCapabilities, 'policy.host_capabilities'),
    audienceCapabilities: parseCapabilities(policy.audienceCapabilities, 'policy.audience_capabilities'),
    muteOnEntry: policy.muteOnEntry,
  };
}

/** The parser of each mutable field. */
const CHANGES = {
  max_participants: (policy) => ({ maxParticipants: parseMaxParticipants(policy.maxParticipants) }),
  locked: ({ locked }) => ({ locked }),
  host_capabilities: (policy) => ({
    hostCapabilities: parseCapabilities(policy.hostCapabilities, 'policy.host_capabilities'),
  }),
  audience_capabilities: (policy) => ({
    audienceCapabilities: parseCapabilities(policy.audienceCapabilities, 'policy.audience_capabilities'),
  }),
  mute_on_entry: ({ muteOnEntry }) => ({ muteOnEntry }),
} as const satisfies Record<string, (policy: WirePolicy) => PolicyChange>;

const MUTABLE = Object.keys(CHANGES) as (keyof typeof CHANGES)[];
const IMMUTABLE = ['mode', 'e2ee_required', 'age_verification_required', 'region'];

function parseChange({ policy, updateMask }: UpdateRoomPolicyRequest): PolicyChange {
  const paths = parseMask(updateMask, { of: 'policy', mutable: MUTABLE, immutable: IMMUTABLE });
  if (!policy) throw invalidField('policy', 'is required');
  return Object.assign({}, ...paths.map((path) => CHANGES[path](policy)));
}

function parseState(state: Room_State): RoomState | undefined {
  switch (state) {
    case Room_State.UNSPECIFIED:
      return undefined;
    case Room_State.LIVE:
      return 'LIVE';
    case Room_State.ENDED:
      return 'ENDED';
    default:
      throw invalidField('state', 'is not a known state');
  }
}

/** Uid of the last room of the previous page. */
function parseRoomToken(text: string): string | undefined {
  const parts = parseToken(text);
  return parts && parseId(parts.length === 1 ? parts[0]! : '?', 'rm', 'page_token');
}

function parseMode(mode: RoomPolicy_Mode): RoomPolicy['mode'] {
  switch (mode) {
    case RoomPolicy_Mode.UNSPECIFIED:
    case RoomPolicy_Mode.MEETING:
      return 'MEETING';
    case RoomPolicy_Mode.BROADCAST:
      return 'BROADCAST';
    default:
      throw invalidField('policy.mode', 'is not a known mode');
  }
}

function parseMaxParticipants(count: number): number {
  if (count < 0 || count > PARTICIPANTS_MAX) {
    throw invalidField('policy.max_participants', `must be 0 to ${PARTICIPANTS_MAX}`);
  }
  return count;
}
