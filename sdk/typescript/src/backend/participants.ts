/** Participants of rooms. */
import type { Participant as ParticipantMessage } from '@boxoffice/contract/participant';
import {
  type GetParticipantRequest,
  type ListParticipantsRequest,
  ParticipantService,
  type WatchParticipantsRequest,
} from '@boxoffice/contract/participant_service';
import type { CallOptions } from './calls.ts';
import type { Control, WatchedEvent, WatchOptions } from './control.ts';
import type { Listing } from './listing.ts';
import type { Plain, Request } from './plain.ts';

/** A user of a room, with the grant of the newest token. */
export type Participant = Plain<ParticipantMessage>;

const { method } = ParticipantService;

/** Participants: `boxoffice.participants`. A user is present until the last token has expired or is void. */
export class Participants {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Read a user of a room, present or not. */
  async get(
    request: Request<GetParticipantRequest, 'username'>,
    options?: CallOptions,
  ): Promise<Participant> {
    return (await this.#control.query(method.getParticipant, request, options)).participant!;
  }

  /** The users of a room, by name; with `includeLeft`, also those who have left. */
  list(request: Request<ListParticipantsRequest>, options?: CallOptions): Listing<Participant> {
    return this.#control.list(method.listParticipants, 'participants', request, options);
  }

  /** Follow participants as they enter, change and leave, like `Rooms.watch`. */
  watch(
    request: Request<WatchParticipantsRequest, 'room'>,
    options?: WatchOptions,
  ): AsyncGenerator<WatchedEvent, never, undefined> {
    return this.#control.watch(method.watchParticipants, request, options);
  }
}
