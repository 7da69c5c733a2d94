/** Rooms and their events. */
import { RoomPolicySchema } from '@boxoffice/contract/room';
import { RoomService } from '@boxoffice/contract/room_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control, WatchedEvent, WatchOptions } from './control.ts';
import type {
  CreateRoomRequest,
  EndRoomRequest,
  Event,
  GetRoomRequest,
  ListEventsRequest,
  ListRoomsRequest,
  Room,
  UpdateRoomPolicyRequest,
  WatchEventsRequest,
} from './control-types.ts';
import type { Listing } from './listing.ts';
import { maskOf } from './plain.ts';

/** Events in order, and where they end. */
export interface ListedEvents {
  /** The events after the given place; may be empty. */
  events: Event[];
  /** The place after the last of them: pass it to read on. */
  resumeToken: string;
}

/** The longest wait for events that the service allows. */
const WAIT_SECONDS_MAX = 30;

const { method } = RoomService;

/** Rooms: `boxoffice.rooms`. Later rooms may reuse a name; a `uid` is never reused. */
export class Rooms {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Create a room, live at once. Fails with `Exists` while a live room has the name. */
  async create(request: CreateRoomRequest, options?: MutationOptions): Promise<Room> {
    return (await this.#control.mutate(method.createRoom, request, options)).room!;
  }

  /** Read a room, live or ended. */
  async get(request: GetRoomRequest, options?: CallOptions): Promise<Room> {
    return (await this.#control.query(method.getRoom, request, options)).room!;
  }

  /** Rooms, newest first. */
  list(request: ListRoomsRequest = {}, options?: CallOptions): Listing<Room> {
    return this.#control.list(method.listRooms, 'rooms', request, options);
  }

  /** Change the rules of a live room that `policy` names. */
  async updatePolicy(request: UpdateRoomPolicyRequest, options?: MutationOptions): Promise<Room> {
    const updateMask = maskOf(RoomPolicySchema, request.policy, 'policy');
    return (await this.#control.mutate(method.updateRoomPolicy, { ...request, updateMask }, options)).room!;
  }

  /** End a room: its participants leave and its tokens become void. Fails with `Closed` if it has ended. */
  async end(request: EndRoomRequest, options?: MutationOptions): Promise<Room> {
    return (await this.#control.mutate(method.endRoom, request, options)).room!;
  }

  /**
   * Follow all events until the signal aborts. It starts with a snapshot, or after the event
   * whose `resumeToken` is given, and survives restarts of the service.
   */
  watch(
    request: WatchEventsRequest = {},
    options?: WatchOptions,
  ): AsyncGenerator<WatchedEvent, never, undefined> {
    return this.#control.watch(method.watchEvents, request, options);
  }

  /** Read events, and wait up to `waitSeconds` if there are none. */
  async listEvents(request: ListEventsRequest = {}, options: CallOptions = {}): Promise<ListedEvents> {
    const patientMs = (WAIT_SECONDS_MAX + 10) * 1000;
    const patient = request.waitSeconds ? { timeoutMs: 2 * patientMs, attemptTimeoutMs: patientMs } : {};
    return await this.#control.query(method.listEvents, request, { ...patient, ...options });
  }
}
