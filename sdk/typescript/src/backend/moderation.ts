/** Moderation of rooms. It never needs credit. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control } from './control.ts';
import type {
  Ban,
  BanSubjectRequest,
  CloseRoomRequest,
  ForceMuteRequest,
  KickParticipantRequest,
  ListBansRequest,
  ListModerationEventsRequest,
  ModerationEvent,
  Participant,
  ReleaseMuteRequest,
  RestorePublishRequest,
  RevokePublishRequest,
  Room,
  UnbanSubjectRequest,
} from './control-types.ts';
import type { Listing } from './listing.ts';

/** The current state of a participant, and the record of the action. */
export interface Moderated {
  /** The participant after the action. */
  readonly participant: Participant;
  /** The record of the action. */
  readonly event?: ModerationEvent;
}

/** A ban, and the record of the action, which is absent if the same ban already existed. */
export interface Banned {
  /** The ban. */
  readonly ban: Ban;
  /** The record of the action. */
  readonly event?: ModerationEvent;
}

/** A room that a moderator has closed, and the record of the action. */
export interface ClosedRoom {
  /** The room, which has ended. */
  readonly room: Room;
  /** The record of the action. */
  readonly event?: ModerationEvent;
}

const { method } = ModerationService;

/**
 * Moderation: `boxoffice.moderation`. With an `actor`, that participant acts, and needs the capability and a
 * higher rank. Without one, the tenant acts.
 */
export class Moderation {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Make a user leave: all the user's tokens for the room become void. New ones may be minted. */
  async kick(request: KickParticipantRequest, options?: MutationOptions): Promise<Moderated> {
    return (await this.#control.mutate(method.kickParticipant, request, options)) as Moderated;
  }

  /** Keep a user, a device or a range of addresses out of a room or, without `room`, out of all rooms. */
  async ban(request: BanSubjectRequest, options?: MutationOptions): Promise<Banned> {
    return (await this.#control.mutate(method.banSubject, request, options)) as Banned;
  }

  /** Lift a ban. */
  async unban(request: UnbanSubjectRequest, options?: MutationOptions): Promise<Banned> {
    return (await this.#control.mutate(method.unbanSubject, request, options)) as Banned;
  }

  /** Current bans, newest first. */
  listBans(request: ListBansRequest = {}, options?: CallOptions): Listing<Ban> {
    return this.#control.list(method.listBans, 'bans', request, options);
  }

  /** Stop forwarding tracks of a user. The user cannot undo it. */
  async forceMute(request: ForceMuteRequest, options?: MutationOptions): Promise<Moderated> {
    return (await this.#control.mutate(method.forceMute, request, options)) as Moderated;
  }

  /** Let a user unmute. It does not unmute the tracks. */
  async releaseMute(request: ReleaseMuteRequest, options?: MutationOptions): Promise<Moderated> {
    return (await this.#control.mutate(method.releaseMute, request, options)) as Moderated;
  }

  /** Take the right to publish tracks from a user. */
  async revokePublish(request: RevokePublishRequest, options?: MutationOptions): Promise<Moderated> {
    return (await this.#control.mutate(method.revokePublish, request, options)) as Moderated;
  }

  /** Return the right to publish. It is in the user's next token. */
  async restorePublish(request: RestorePublishRequest, options?: MutationOptions): Promise<Moderated> {
    return (await this.#control.mutate(method.restorePublish, request, options)) as Moderated;
  }

  /** End a room as a moderator: like `Rooms.end`, but recorded. */
  async closeRoom(request: CloseRoomRequest, options?: MutationOptions): Promise<ClosedRoom> {
    const { room, event } = await this.#control.mutate(method.closeRoom, request, options);
    return { room: room!, ...(event && { event }) };
  }

  /** Moderation events, newest first. */
  listEvents(request: ListModerationEventsRequest = {}, options?: CallOptions): Listing<ModerationEvent> {
    return this.#control.list(method.listModerationEvents, 'events', request, options);
  }
}
