/** A room of the demo: who is or was in it, live, and what the host does there. */
import { randomBytes } from 'node:crypto';
import type { Boxoffice, Participant } from '../sdk/typescript/src/backend/index.ts';
import type { Charges } from './charges.ts';
import type { Counts, Invitation, Person } from './state.ts';

type Kind = 'audio' | 'video';
const KINDS: readonly Kind[] = ['audio', 'video'];
const NOTHING = { received: 0, sent: 0, frames: 0 };

export class Room {
  readonly name: string;
  /** Part of the address that others join with. */
  readonly link = randomBytes(12).toString('base64url');
  readonly #boxoffice: Boxoffice;
  readonly #credential: string;
  readonly #charges: Charges;
  readonly #tell: (text: string) => void;
  readonly #seen = new Map<string, Participant>();
  readonly #counts = new Map<string, Counts>();
  /** What earlier pages of a participant have counted. */
  readonly #countedBefore = new Map<string, typeof NOTHING>();
  /** When the service had answered the call that ended a participant's stay. */
  readonly #endedAt = new Map<string, number>();
  readonly #watching = new AbortController();

  private constructor(
    boxoffice: Boxoffice,
    name: string,
    credential: string,
    charges: Charges,
    tell: (text: string) => void,
  ) {
    this.#boxoffice = boxoffice;
    this.name = name;
    this.#credential = credential;
    this.#charges = charges;
    this.#tell = tell;
    void this.#watch();
  }

  static async open(
    boxoffice: Boxoffice,
    name: string,
    charges: Charges,
    tell: (text: string) => void,
  ): Promise<Room> {
    await boxoffice.rooms.create({ room: name });
    const { credential } = await boxoffice.deviceCredentials.create({
      name: `link to ${name}`,
      publish: KINDS,
      rooms: [name],
      defaultRoom: name,
    });
    tell(`Room ${name} is open`);
    return new Room(boxoffice, name, credential, charges, tell);
  }

  get isOpen(): boolean {
    return !this.#watching.signal.aborted;
  }

  get invitation(): Invitation {
    return { room: this.name, credential: this.#credential };
  }

  /** Also those who have left. */
  get people(): Person[] {
    return [...this.#seen.values()].map(({ username, state, muted }) => {
      const charged = this.#charges.of(this.name, username);
      return {
        username,
        isPresent: state === 'present',
        muted,
        tier: charged?.tier ?? '',
        relayed: charged?.egressBytes ?? 0,
        charged: charged?.amount ?? '$0.000000',
        counts: this.#counts.get(username),
      };
    });
  }

  /** What the browser of a participant has counted. A page that was loaded again began at 0. */
  count(username: string, counts: Counts): void {
    if (!this.#isPresent(username)) return;
    const known = this.#counts.get(username);
    const before = this.#countedBefore.get(username) ?? NOTHING;
    const isNewPage = known !== undefined && counts.received + before.received < known.received;
    const base = isNewPage ? known : before;
    this.#countedBefore.set(username, base);
    this.#counts.set(username, {
      ...counts,
      received: counts.received + base.received,
      sent: counts.sent + base.sent,
      frames: counts.frames + base.frames,
    });
  }

  async mute(username: string, kind: Kind, isMuted: boolean): Promise<void> {
    const { moderation } = this.#boxoffice;
    const request = { room: this.name, username, tracks: [kind] };
    await (isMuted ? moderation.forceMute(request) : moderation.releaseMute(request));
    const what = kind === 'audio' ? 'sound' : 'picture';
    this.#tell(`${username}'s ${what} is ${isMuted ? 'muted' : 'forwarded again'}`);
  }

  async kick(username: string): Promise<void> {
    await this.#boxoffice.moderation.kick({ room: this.name, username, reason: 'demo' });
    this.#endedAt.set(username, performance.now());
  }

  /** The page of a participant has heard how its stay ended. */
  heard(username: string, code: string): void {
    const endedAt = this.#endedAt.get(username);
    if (endedAt === undefined) return;
    this.#endedAt.delete(username);
    const ms = Math.round(performance.now() - endedAt);
    this.#tell(`${username}'s page was told "${code}" within ${ms} ms of the service's answer`);
  }

  async end(): Promise<void> {
    await this.#boxoffice.rooms.end({ room: this.name });
    const endedAt = performance.now();
    for (const username of this.#seen.keys()) {
      if (this.#isPresent(username)) this.#endedAt.set(username, endedAt);
    }
    this.#tell(`Room ${this.name} has ended`);
    this.close();
  }

  close(): void {
    this.#watching.abort();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#watching;
    try {
      for await (const { type, participant } of this.#boxoffice.participants.watch(
        { room: this.name },
        { signal },
      )) {
        if (type === 'reset') this.#seen.clear();
        if (participant) this.#see(participant, type === 'snapshot');
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #isPresent(username: string): boolean {
    return this.#seen.get(username)?.state === 'present';
  }

  #see(participant: Participant, isOld: boolean): void {
    const { username, state, leaveReason } = participant;
    const wasPresent = this.#isPresent(username);
    this.#seen.set(username, participant);
    if (isOld) return;
    if (state === 'present' && !wasPresent) this.#tell(`${username} has joined`);
    if (state === 'left' && wasPresent) this.#tell(`${username} has left: ${leaveReason}`);
  }
}
