/**
 * The usage records of one request, as columns.
 *
 * Five thousand records as objects are a hundred thousand heap objects, and collecting them took longer
 * than charging. As columns they are a few arrays, and their texts stay in the request body.
 */
import { assert } from '../../base/lib/assert.ts';
import { ROLES, type Role, TIERS, type Tier } from '../pricing/role.ts';
import type { Usage } from '../pricing/usage-price.ts';
import type { UsageRecord } from './usage-record.ts';

/** The text columns of a record. */
export const ID = 0;
export const ROOM = 1;
export const PARTICIPANT = 2;
export type TextColumn = typeof ID | typeof ROOM | typeof PARTICIPANT;
const TEXTS = 3;

export class UsageRecords {
  /** UTF-8. */
  readonly bytes: Buffer;
  /** Indexes into ROLES and TIERS. */
  readonly roles: Uint8Array;
  readonly tiers: Uint8Array;
  readonly seconds: Uint32Array;
  /** Safe integers. */
  readonly egressBytes: Float64Array;
  readonly ingressBytes: Float64Array;
  readonly capacity: number;
  length = 0;
  readonly #texts: Int32Array;
  #rowsById: readonly number[] | undefined;

  /** Space for `capacity` records, whose texts lie in `bytes`. */
  constructor(bytes: Buffer, capacity: number) {
    this.bytes = bytes;
    this.capacity = capacity;
    this.roles = new Uint8Array(capacity);
    this.tiers = new Uint8Array(capacity);
    this.seconds = new Uint32Array(capacity);
    this.egressBytes = new Float64Array(capacity);
    this.ingressBytes = new Float64Array(capacity);
    this.#texts = new Int32Array(capacity * 2 * TEXTS);
  }

  static from(records: readonly UsageRecord[]): UsageRecords {
    const texts = records.flatMap(({ id, room, participant }) => [id, room ?? '', participant ?? '']);
    const columns = new UsageRecords(Buffer.from(texts.join('')), records.length);
    let at = 0;
    for (const [row, record] of records.entries()) {
      for (const [column, text] of [record.id, record.room, record.participant].entries()) {
        if (text === undefined) continue;
        const end = at + Buffer.byteLength(text);
        columns.setText(row, column as TextColumn, at, end);
        at = end;
      }
      columns.roles[row] = ROLES.indexOf(record.role);
      columns.tiers[row] = TIERS.indexOf(record.tier);
      columns.seconds[row] = record.seconds;
      columns.egressBytes[row] = Number(record.egressBytes);
      columns.ingressBytes[row] = Number(record.ingressBytes);
    }
    columns.length = records.length;
    return columns;
  }

  rows(): number[] {
    return Array.from({ length: this.length }, (_, row) => row);
  }

  setText(row: number, column: TextColumn, start: number, end: number): void {
    const at = 2 * (TEXTS * row + column);
    this.#texts[at] = start + 1;
    this.#texts[at + 1] = end;
  }

  /** The start of the text in `bytes`; -1 if there is none. */
  textStart(row: number, column: TextColumn): number {
    return this.#texts[2 * (TEXTS * row + column)]! - 1;
  }

  textEnd(row: number, column: TextColumn): number {
    return this.#texts[2 * (TEXTS * row + column) + 1]!;
  }

  /** The total length of the texts of a record. */
  textBytes(row: number): number {
    let sum = 0;
    for (let column: TextColumn = ID; column < TEXTS; column += 1) {
      sum += this.textEnd(row, column as TextColumn) - Math.max(this.textStart(row, column as TextColumn), 0);
    }
    return sum;
  }

  #text(row: number, column: TextColumn): string | undefined {
    const start = this.textStart(row, column);
    return start < 0 ? undefined : this.bytes.toString('utf8', start, this.textEnd(row, column));
  }

  id(row: number): string {
    return this.#text(row, ID)!;
  }

  room(row: number): string | undefined {
    return this.#text(row, ROOM);
  }

  participant(row: number): string | undefined {
    return this.#text(row, PARTICIPANT);
  }

  role(row: number): Role {
    return ROLES[this.roles[row]!]!;
  }

  tier(row: number): Tier {
    return TIERS[this.tiers[row]!]!;
  }

  /** The part of a record that is charged. */
  usage(row: number): Usage {
    return {
      role: this.role(row),
      tier: this.tier(row),
      seconds: this.seconds[row]!,
      egressBytes: BigInt(this.egressBytes[row]!),
    };
  }

  record(row: number): UsageRecord {
    return {
      id: this.id(row),
      room: this.room(row),
      participant: this.participant(row),
      ...this.usage(row),
      ingressBytes: BigInt(this.ingressBytes[row]!),
    };
  }

  /** All rows, roughly in the order of their ids. Sorted once, then cached. */
  sortById(): readonly number[] {
    this.#rowsById ??= sortRows(this);
    return this.#rowsById;
  }
}

/** A sort key holds this many bytes of the id, and the row: both fit the 53 bits of a double. */
const KEY_BYTES = 5;
const ROWS = 2 ** 13;

/**
 * Sorts by the bytes after the common prefix of the ids. Only PostgreSQL's speed depends on the order, so
 * a few bytes are enough; sorting them as numbers is several times as fast as sorting texts.
 */
function sortRows(records: UsageRecords): number[] {
  const { bytes, length } = records;
  assert(length <= ROWS, 'rows that fit beside an id');
  const skipped = commonBytes(records);
  const keys = new Float64Array(length);
  for (let row = 0; row < length; row += 1) {
    const start = records.textStart(row, ID) + skipped;
    const end = records.textEnd(row, ID);
    let key = 0;
    for (let at = start; at < start + KEY_BYTES; at += 1) key = key * 256 + (at < end ? bytes[at]! : 0);
    keys[row] = key * ROWS + row;
  }
  return Array.from(keys.sort(), (key) => key % ROWS);
}

/** The length of the common prefix of all ids. */
function commonBytes(records: UsageRecords): number {
  const { bytes, length } = records;
  if (length === 0) return 0;
  const first = records.textStart(0, ID);
  let common = records.textEnd(0, ID) - first;
  for (let row = 1; row < length; row += 1) {
    const start = records.textStart(row, ID);
    common = Math.min(common, records.textEnd(row, ID) - start);
    for (let at = 0; at < common; at += 1) if (bytes[start + at] !== bytes[first + at]) common = at;
  }
  return common;
}
