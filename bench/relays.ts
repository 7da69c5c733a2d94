/** Relay traffic: participants join, stay for a while and leave, with one record for each interval. */

import { requestBytes } from './load.ts';

/** Participants per relay at a time. */
const PARTICIPANTS = 500;
const ROOMS = 40;
const INTERVALS_MAX = 240;
const ROLES = ['audience', 'audience', 'host', 'broadcast_audience'];
const TIERS = ['hd', 'hd', 'audio', 'full_hd', '2k'];

interface Stay {
  readonly session: number;
  interval: number;
  readonly intervals: number;
}

/** Ids have the format that docs/usage.md recommends. */
export class Relay {
  readonly #name: string;
  readonly #stays: Stay[] = [];
  #sessions = 0;
  #turn = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** The next interval of the next participant in turn, as JSON. */
  record(): string {
    const place = this.#turn % PARTICIPANTS;
    let stay = this.#stays[place];
    if (!stay || stay.interval === stay.intervals) this.#stays[place] = stay = this.#begin();
    stay.interval += 1;
    this.#turn += 1;
    const { session, interval } = stay;
    const egressBytes = 1_000_000 + ((this.#turn * 7_919) % 20_000_000);
    return `{"id":"${this.#name}.${session}.${interval}","room":"room-${place % ROOMS}",\
"participant":"user-${session % 1_000}","role":"${ROLES[session % ROLES.length]}","tier":"${TIERS[session % TIERS.length]}",\
"seconds":30,"egress_bytes":${egressBytes},"ingress_bytes":${egressBytes >> 6}}`;
  }

  #begin(): Stay {
    this.#sessions += 1;
    const intervals = 1 + ((this.#sessions * 7_919) % INTERVALS_MAX);
    return { session: this.#sessions, interval: 0, intervals };
  }
}

/** The relays of one tenant, which report in turn. */
export class Relays {
  readonly #url: string;
  readonly #key: string;
  readonly #relays: readonly Relay[];
  #batches = 0;

  /** `url` of the service; `key` is a relay key. */
  constructor(url: string, key: string, count: number) {
    this.#url = url;
    this.#key = key;
    this.#relays = Array.from({ length: count }, (_, index) => new Relay(`relay-${index}.3`));
  }

  /** A request with this many new records. */
  batch(size: number): Buffer {
    const relay = this.#relays[this.#batches % this.#relays.length]!;
    this.#batches += 1;
    const records = Array.from({ length: size }, () => relay.record());
    return requestBytes('POST', `${this.#url}/v1/usage`, {
      token: this.#key,
      json: `{"records":[${records.join(',')}]}`,
    });
  }

  /** Default size of the next batch: one in 20 has the maximum size. */
  usualSize(sizeMax: number): number {
    return this.#batches % 20 === 0 ? sizeMax : 20 + ((this.#batches * 7_919) % 481);
  }
}
