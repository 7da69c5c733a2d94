/** Moderation of rooms. It never needs credit. */
import type {
  Ban as BanMessage,
  ModerationEvent as ModerationEventMessage,
} from '@boxoffice/contract/moderation';
import {
  type BanSubjectRequest,
  type CloseRoomRequest,
  type ForceMuteRequest,
  type KickParticipantRequest,
  type ListBansRequest,
  type ListModerationEventsRequest,
  ModerationService,
  type ReleaseMuteRequest,
  type RestorePublishRequest,
  type RevokePublishRequest,
  type UnbanSubjectRequest,
} from '@boxoffice/contract/moderation_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control } from './control.ts';
import type { Listing } from './listing.ts';
import type { Participant } from './participants.ts';
import type { Plain, Request } from './plain.ts';
import type { Room } from './rooms.ts';

/** A ban of one of `username`, `deviceThumbprint` and `cidr`; without `room`, in all rooms. */
export type Ban = Plain<BanMessage>;
/** The record of an action by a moderator, the tenant or a watchdog. */
export type ModerationEvent = Plain<ModerationEventMessage>;

/** The current state of a participant, and the record of the action. */
export interface Moderated {
  readonly participant: Participant;
  readonly event?: ModerationEvent;
}

/** A ban, and the record of the action, which is absent if the same ban already existed. */
export interface Banned {
  readonly ban: Ban;
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
  async kick(
    request: Request<KickParticipantRequest, 'room' | 'username'>,
    options?: MutationOptions,
  ): Promise<Moderated> {
    return (await this.#control.mutate(method.kickParticipant, request, options)) as Moderated;
  }

  /** Keep a user, a device or a range of addresses out of a room or, without `room`, out of all rooms. */
  async ban(request: Request<BanSubjectRequest>, options?: MutationOptions): Promise<Banned> {
    return (await this.#control.mutate(method.banSubject, request, options)) as Banned;
  }

  /** Lift a ban. */
  async unban(request: Request<UnbanSubjectRequest>, options?: MutationOptions): Promise<Banned> {
    return (await this.#control.mutate(method.unbanSubject, request, options)) as Banned;
  }

  /** Current bans, newest first. */
  listBans(request: Request<ListBansRequest> = {}, options?: CallOptions): Listing<Ban> {
    return this.#control.list(method.listBans, 'bans', request, options);
  }

  /** Stop forwarding tracks of a user. The user cannot undo it. */
  async forceMute(
    request: Request<ForceMuteRequest, 'room' | 'username' | 'tracks'>,
    options?: MutationOptions,
  ): Promise<Moderated> {
    return (await this.#control.mutate(method.forceMute, request, options)) as Moderated;
  }

  /** Let a user unmute. It does not unmute the tracks. */
  async releaseMute(
    request: Request<ReleaseMuteRequest, 'room' | 'username' | 'tracks'>,
    options?: MutationOptions,
  ): Promise<Moderated> {
    return (await this.#control.mutate(method.releaseMute, request, options)) as Moderated;
  }

  /** Take the right to publish tracks from a user. */
  async revokePublish(
    request: Request<RevokePublishRequest, 'room' | 'username' | 'tracks'>,
    options?: MutationOptions,
  ): Promise<Moderated> {
    return (await this.#control.mutate(method.revokePublish, request, options)) as Moderated;
  }

  /** Return the right to publish. It is in the user's next token. */
  async restorePublish(
    request: Request<RestorePublishRequest, 'room' | 'username' | 'tracks'>,
    options?: MutationOptions,
  ): Promise<Moderated> {
    return (await this.#control.mutate(method.restorePublish, request, options)) as Moderated;
  }

  /** End a room as a moderator: like `Rooms.end`, but recorded. */
  async closeRoom(
    request: Request<CloseRoomRequest, 'room'>,
    options?: MutationOptions,
  ): Promise<{ readonly room: Room; readonly event?: ModerationEvent }> {
    const { room, event } = await this.#control.mutate(method.closeRoom, request, options);
    return { room: room!, ...(event && { event }) };
  }

  /** Moderation events, newest first. */
  listEvents(
    request: Request<ListModerationEventsRequest> = {},
    options?: CallOptions,
  ): Listing<ModerationEvent> {
    return this.#control.list(method.listModerationEvents, 'events', request, options);
  }
}
