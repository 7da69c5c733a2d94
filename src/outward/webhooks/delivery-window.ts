/**
 * The next events of a webhook that are sent side by side, and how far its place in the log may move.
 *
 * The place moves up to the first event that is neither delivered nor to be put aside. In the order of rooms, one event of
 * a room is under way at a time, and those after one that was put aside are put aside behind it.
 */
import { assert } from '../../base/lib/assert.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { takeList } from './webhook-body.ts';
import type { Aside } from './webhook-waiting.sql.ts';

/** Events beyond the place, which a process that dies forgets. So many are sent while one takes a second. */
export const WINDOW_MAX = 400;

interface Item {
  readonly event: LoggedEvent;
  /** Neither delivered nor to be put aside. */
  isOpen: boolean;
  /** With what it is put aside. */
  aside: Aside | undefined;
}

/** What the place may move to, and what is put aside by that. */
export interface Settled {
  readonly to: bigint;
  readonly put: readonly Aside[];
}

export class DeliveryWindow {
  readonly #isByRoom: boolean;
  /** Rooms of which events are put aside. */
  readonly #blocked: Set<string>;
  /** In order. */
  readonly #items: Item[] = [];
  /** The open ones of each room, in order. */
  readonly #rooms = new Map<string, Item[]>();
  /** Those that may be sent now. */
  readonly #ready = new Set<Item>();
  #place: bigint;
  #reached: bigint;

  /** `blocked`: rooms of which events are put aside already. */
  constructor(place: bigint, isByRoom: boolean, blocked: readonly string[]) {
    this.#place = place;
    this.#reached = place;
    this.#isByRoom = isByRoom;
    this.#blocked = new Set(isByRoom ? blocked : []);
  }

  /** How many events it holds. */
  get size(): number {
    return this.#items.length;
  }

  /** How many may be sent now. */
  get ready(): number {
    return this.#ready.size;
  }

  /** Whether the place may move. */
  get hasSettled(): boolean {
    const first = this.#items[0];
    return first ? !first.isOpen : this.#reached > this.#place;
  }

  /** Up to where it has the events of the log. */
  get reached(): bigint {
    return this.#reached;
  }

  /** The next events of the log, which has no others up to `reached`. */
  add(events: readonly LoggedEvent[], reached: bigint): void {
    for (const event of events) {
      const item: Item = { event, isOpen: true, aside: undefined };
      this.#items.push(item);
      const room = this.#orderOf(event);
      if (this.#blocked.has(room)) this.#putBehind(item);
      else this.#queue(room, item);
    }
    this.#reached = reached;
  }

  /** Up to `max` events to send now in one request, of which no two are of one room in the order of rooms. */
  takeNext(max: number): LoggedEvent[] {
    const items = [...this.#ready].slice(0, max);
    const events = takeList(
      items.map(({ event }) => event),
      max,
    );
    for (const item of items.slice(0, events.length)) this.#ready.delete(item);
    return events;
  }

  /** It was sent, and accepted. */
  deliver(event: LoggedEvent): void {
    const item = this.#find(event);
    item.isOpen = false;
    const room = this.#orderOf(event);
    const [, next] = this.#rooms.get(room)!;
    this.#rooms.get(room)!.shift();
    if (next) this.#ready.add(next);
    else this.#rooms.delete(room);
  }

  /** It was sent, and is put aside. So are those after it in its room. */
  putAside(event: LoggedEvent, failures: number, waitSeconds: number): void {
    const room = this.#orderOf(event);
    const item = this.#find(event);
    const [, ...behind] = this.#rooms.get(room)!;
    this.#rooms.delete(room);
    this.#ready.delete(item);
    item.isOpen = false;
    item.aside = asideOf(event, failures, waitSeconds);
    if (!this.#isByRoom) return;
    this.#blocked.add(room);
    for (const each of behind) this.#putBehind(each);
  }

  /**
   * Puts aside, due at once, what was not sent before an event that was delivered. Otherwise the place stays before that
   * one, and the next turn sends it again. No event may be under way.
   */
  closeGaps(): void {
    const delivered = this.#items.findLastIndex(({ isOpen, aside }) => !isOpen && !aside);
    for (const { event, isOpen } of this.#items.slice(0, Math.max(delivered, 0))) {
      if (isOpen) this.putAside(event, 0, 0);
    }
  }

  /** Nothing of the room is put aside in the database any more. */
  free(room: string): void {
    const next = this.#items.find((each) => each.aside?.room === room);
    if (next?.aside) next.aside = { ...next.aside, waitSeconds: next.aside.waitSeconds ?? 0 };
    else this.#blocked.delete(room);
  }

  /** `undefined`: the place stays. */
  takeSettled(): Settled | undefined {
    const open = this.#items.findIndex((each) => each.isOpen);
    const settled = this.#items.splice(0, open < 0 ? this.#items.length : open);
    const to = open < 0 ? this.#reached : (settled.at(-1)?.event.seq ?? this.#place);
    if (to === this.#place) return undefined;
    this.#place = to;
    return { to, put: settled.flatMap(({ aside }) => aside ?? []) };
  }

  /** Events with the same one come one after the other. */
  #orderOf({ roomUid, seq }: LoggedEvent): string {
    return this.#isByRoom ? (roomUid ?? '') : String(seq);
  }

  #queue(room: string, item: Item): void {
    const queue = this.#rooms.get(room);
    if (queue) queue.push(item);
    else {
      this.#rooms.set(room, [item]);
      this.#ready.add(item);
    }
  }

  #putBehind(item: Item): void {
    item.isOpen = false;
    item.aside = asideOf(item.event, 0, null);
  }

  #find(event: LoggedEvent): Item {
    const item = this.#rooms.get(this.#orderOf(event))?.[0];
    assert(item?.event === event, 'the event that is under way in its room');
    return item;
  }
}

function asideOf({ seq, roomUid }: LoggedEvent, failures: number, waitSeconds: number | null): Aside {
  return { seq, room: roomUid ?? '', failures, waitSeconds };
}
