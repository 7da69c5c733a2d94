/**
 * What usage records add up to, by posting, and by hour and room: sums of records that come in the order of charging.
 *
 * Sums are taken slice by slice, so that any number of records needs little memory. A slice ends between two postings, and one of
 * hours between two hours of a tenant. Slices touch, and reach from before the first record to after the last, so that rows
 * without records are in one of them as well.
 */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ReadRecord } from '../records/read-record.ts';

/** Everything from one key of a table up to another, without the other. */
export interface Slice<Sum, Key> {
  readonly from: Key;
  readonly to: Key;
  /** At least all sums in between that are not zero. */
  readonly sums: readonly Sum[];
}

export interface PostingSum {
  readonly tenant: TenantId;
  readonly seq: bigint;
  records: number;
  /** Micros. */
  amount: bigint;
}

export interface HourSum {
  readonly tenant: TenantId;
  readonly hour: string;
  readonly room: string;
  /** One letter each, as stored. */
  readonly role: string;
  readonly tier: string;
  records: number;
  seconds: number;
  egressBytes: bigint;
  ingressBytes: bigint;
  /** Micros: what was charged, and what would have been. */
  amount: bigint;
  unbilled: bigint;
}

export type PostingKey = readonly [tenant: TenantId, seq: bigint];
export type HourKey = readonly [tenant: TenantId, hour: string];

/** Those that are full. */
export interface Slices {
  readonly postings: Slice<PostingSum, PostingKey> | undefined;
  readonly hours: Slice<HourSum, HourKey> | undefined;
}

const INT64_MIN = -(2n ** 63n) as TenantId;
const INT64_MAX = (2n ** 63n - 1n) as TenantId;
const HOUR_MS = 3_600_000;
/** As the tables of sums have them. */
const ROOM_MAX = 200;
const SUMS_MAX = 20_000;

export class RecordSums {
  readonly #max: number;
  #postings: PostingSum[] = [];
  #postingsFrom: PostingKey = [INT64_MIN, 0n];
  /** By hour, and by role, tier and room. */
  #hours = new Map<string, Map<string, HourSum>>();
  #hoursFrom: HourKey = [INT64_MIN, '-infinity'];
  #newestHour = this.#hoursFrom;
  #sumsOfHours = 0;
  #groups: Map<string, HourSum> | undefined;

  /** `max`: a slice with so many sums ends as soon as it can. */
  constructor(max = SUMS_MAX) {
    this.#max = max;
  }

  /** Add a record. Returns the slices that are full and end before it. */
  add(record: ReadRecord): Slices | undefined {
    const last = this.#postings.at(-1);
    const isNext = last?.tenant !== record.tenant || last.seq !== record.seq;
    const full = isNext ? this.#begin(record) : undefined;
    const posting = this.#postings.at(-1)!;
    posting.records += 1;
    posting.amount += record.amount;
    // No sum has records without a posting.
    if (this.#groups) this.#addToHour(this.#groups, record);
    return full;
  }

  /** The last slices. */
  finish(): Slices {
    return {
      postings: this.#cutPostings([INT64_MAX, INT64_MAX]),
      hours: this.#cutHours([INT64_MAX, 'infinity']),
    };
  }

  #begin({ tenant, seq, at }: ReadRecord): Slices | undefined {
    const hour = at && hourOf(at);
    const postings = this.#postings.length >= this.#max ? this.#cutPostings([tenant, seq]) : undefined;
    const hours = hour && this.#endsBefore([tenant, hour]) ? this.#cutHours([tenant, hour]) : undefined;
    this.#postings.push({ tenant, seq, records: 0, amount: 0n });
    this.#groups = hour ? this.#groupsOf(tenant, hour) : undefined;
    return (postings || hours) && { postings, hours };
  }

  /** Whether a slice of hours is full, and this one comes after all of its own. Times go back only where tables were changed by hand. */
  #endsBefore(key: HourKey): boolean {
    const [tenant, hour] = this.#newestHour;
    const isNewer = key[0] !== tenant || key[1] > hour;
    if (isNewer) this.#newestHour = key;
    return isNewer && this.#sumsOfHours >= this.#max;
  }

  #groupsOf(tenant: TenantId, hour: string): Map<string, HourSum> {
    const key = `${tenant} ${hour}`;
    const groups = this.#hours.get(key) ?? new Map<string, HourSum>();
    this.#hours.set(key, groups);
    return groups;
  }

  #addToHour(groups: Map<string, HourSum>, record: ReadRecord): void {
    const { tenant, role, tier, kind, amount } = record;
    const room = shorten(record.room ?? '');
    const key = role + tier + room;
    let sum = groups.get(key);
    if (!sum) {
      const hour = hourOf(record.at!);
      const none = { records: 0, seconds: 0, egressBytes: 0n, ingressBytes: 0n, amount: 0n, unbilled: 0n };
      sum = { tenant, hour, room, role, tier, ...none };
      groups.set(key, sum);
      this.#sumsOfHours += 1;
    }
    sum.records += 1;
    sum.seconds += record.seconds;
    sum.egressBytes += record.egressBytes;
    sum.ingressBytes += record.ingressBytes;
    if (kind === 'usage') sum.amount += amount;
    if (kind === 'unbilled') sum.unbilled += amount;
  }

  #cutPostings(to: PostingKey): Slice<PostingSum, PostingKey> {
    const slice = { from: this.#postingsFrom, to, sums: this.#postings };
    this.#postings = [];
    this.#postingsFrom = to;
    return slice;
  }

  #cutHours(to: HourKey): Slice<HourSum, HourKey> {
    const sums = [...this.#hours.values()].flatMap((groups) => [...groups.values()]);
    const slice = { from: this.#hoursFrom, to, sums };
    this.#hours = new Map();
    this.#sumsOfHours = 0;
    this.#hoursFrom = to;
    return slice;
  }
}

/** The hour in UTC, as texts that are in the order of time. */
function hourOf(at: Date): string {
  return new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS).toISOString();
}

/** PostgreSQL counts characters, not halves of them. */
function shorten(room: string): string {
  return room.length > ROOM_MAX ? [...room].slice(0, ROOM_MAX).join('') : room;
}
