/** `RoomService`. */
import { Failure, invalidField } from '../../failure.ts';
import { RoomPolicy_Mode, type RoomPolicy as WirePolicy } from '../../gen/boxoffice/control/v1/room_pb.ts';
import { RoomService } from '../../gen/boxoffice/control/v1/room_service_pb.ts';
import { createRoom } from '../../rooms/create-room.ts';
import { getRoom } from '../../rooms/get-room.ts';
import { DEFAULT_POLICY, METADATA_LENGTH_MAX, PARTICIPANTS_MAX, type RoomPolicy } from '../../rooms/room.ts';
import { parseCapabilities, parseRoomName, parseRoomReference, parseText } from './fields.ts';
import { command, type Methods, query } from './methods.ts';
import { renderRoom } from './render.ts';

const { method } = RoomService;

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
  listRooms: query(method.listRooms, async () => {
    throw new Failure('method_not_allowed');
  }),
  updateRoomPolicy: query(method.updateRoomPolicy, async () => {
    throw new Failure('method_not_allowed');
  }),
  endRoom: query(method.endRoom, async () => {
    throw new Failure('method_not_allowed');
  }),
  watchEvents: query(method.watchEvents as never, async () => {
    throw new Failure('method_not_allowed');
  }),
  listEvents: query(method.listEvents, async () => {
    throw new Failure('method_not_allowed');
  }),
} satisfies Methods<typeof RoomService>;

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
