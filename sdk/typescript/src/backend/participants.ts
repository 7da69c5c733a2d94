/** Participants of rooms. */
import { ParticipantService } from '@boxoffice/contract/participant_service';
import type { CallOptions } from './calls.ts';
import type { Control, WatchedEvent, WatchOptions } from './control.ts';
import type {
  GetParticipantRequest,
  ListParticipantsRequest,
  Participant,
  WatchParticipantsRequest,
} from './control-types.ts';
import type { Listing } from './listing.ts';

const { method } = ParticipantService;

/** Participants: `boxoffice.participants`. A user is present until the last token has expired or is void. */
export class Participants {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Read a user of a room, present or not. */
  async get(request: GetParticipantRequest, options?: CallOptions): Promise<Participant> {
    return (await this.#control.query(method.getParticipant, request, options)).participant!;
  }

  /** The users of a room, by name; with `includeLeft`, also those who have left. */
  list(request: ListParticipantsRequest, options?: CallOptions): Listing<Participant> {
    return this.#control.list(method.listParticipants, 'participants', request, options);
  }

  /** Follow participants as they enter, change and leave, like `Rooms.watch`. */
  watch(
    request: WatchParticipantsRequest,
    options?: WatchOptions,
  ): AsyncGenerator<WatchedEvent, never, undefined> {
    return this.#control.watch(method.watchParticipants, request, options);
  }
}
