/** Participants of rooms. */
import { ParticipantService } from '@boxoffice/contract/participant_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control, WatchedEvent, WatchOptions } from './control.ts';
import type {
  GetParticipantRequest,
  ListParticipantsRequest,
  Participant,
  WatchParticipantsRequest,
} from './control-types.ts';
import type { Listing } from './listing.ts';
import type { AnswerOf, Rest } from './rest.ts';

/** How far the erasure of a person is. */
export type Erasure = AnswerOf<'GET /v1/erasures/{id}'>['erasure'];

const { method } = ParticipantService;

/** Participants: `boxoffice.participants`. A user is present until the last token has expired or is void. */
export class Participants {
  readonly #control: Control;
  readonly #rest: Rest;

  constructor(control: Control, rest: Rest) {
    this.#control = control;
    this.#rest = rest;
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

  /**
   * Erase the name of a person from everything that is stored. It cannot be undone, and takes a while: ask for
   * `erasure` until it is `done`. Fails with `Precondition` while the person is in a room.
   */
  async erase(participant: string, options?: MutationOptions): Promise<Erasure> {
    const body = { participant };
    return (await this.#rest.call('POST /v1/participants/erase', { body }, options)).erasure;
  }

  /** How far an erasure is. */
  async erasure(id: string, options?: CallOptions): Promise<Erasure> {
    return (await this.#rest.call('GET /v1/erasures/{id}', { path: { id } }, options)).erasure;
  }
}
