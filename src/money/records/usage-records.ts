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

/** The columns of one record take so many bytes. */
const COLUMN_BYTES = 8 + 8 + 4 + 4 * 2 * TEXTS + 1 + 1;

interface ColumnOf<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (space: ArrayBuffer, start: number, length: number): T;
}

/** For reading and writing several bytes at a time. */
export function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

export class UsageRecords {
  /** UTF-8. */
  readonly bytes: Buffer;
  /** A view of `bytes`. */
  readonly view: DataView;
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
  #rowsById: Uint16Array | undefined;

  /** Space for `capacity` records, whose texts lie in `bytes`. */
  constructor(bytes: Buffer, capacity: number) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.capacity = capacity;
    // One buffer for all columns, because each buffer costs the garbage collector as much as a large one.
    const space = new ArrayBuffer(capacity * COLUMN_BYTES);
    let at = 0;
    const column = <T>(of: ColumnOf<T>, width = 1): T => {
      const made = new of(space, at, capacity * width);
      at += capacity * width * of.BYTES_PER_ELEMENT;
      return made;
    };
    this.egressBytes = column(Float64Array);
    this.ingressBytes = column(Float64Array);
    this.seconds = column(Uint32Array);
    this.#texts = column(Int32Array, 2 * TEXTS);
    this.roles = column(Uint8Array);
    this.tiers = column(Uint8Array);
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

  rows(): Int16Array {
    const rows = new Int16Array(this.length);
    for (let row = 0; row < rows.length; row += 1) rows[row] = row;
    return rows;
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
    return this.#textLength(row, ID) + this.#textLength(row, ROOM) + this.#textLength(row, PARTICIPANT);
  }

  #textLength(row: number, column: TextColumn): number {
    const start = this.textStart(row, column);
    return start < 0 ? 0 : this.textEnd(row, column) - start;
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
  sortById(): Uint16Array {
    this.#rowsById ??= sortRows(this);
    return this.#rowsById;
  }
}

/** Rows are sorted by so many bytes of their ids. */
const KEY_BYTES = 5;
/** Rows have two bytes. */
const ROWS_MAX = 2 ** 16;

/**
 * Sorts by the bytes after the common prefix of the ids. Only PostgreSQL's speed depends on the order, so
 * a few bytes are enough. A radix sort: by the last of these bytes first, and each time rows with the same
 * byte stay in order.
 */
function sortRows(records: UsageRecords): Uint16Array {
  const { length } = records;
  assert(length <= ROWS_MAX, 'rows of two bytes');
  const keys = keysOf(records);
  let rows = new Uint16Array(length);
  for (let row = 0; row < length; row += 1) rows[row] = row;
  let spare = new Uint16Array(length);
  for (let column = KEY_BYTES - 1; column >= 0; column -= 1) {
    if (sortByColumn(keys, column * length, rows, spare)) [rows, spare] = [spare, rows];
  }
  return rows;
}

/** The bytes of the ids after their common prefix: first one byte of each id, then the next. */
function keysOf(records: UsageRecords): Uint8Array {
  const { bytes, length } = records;
  const skipped = commonBytes(records);
  const keys = new Uint8Array(length * KEY_BYTES);
  for (let row = 0; row < length; row += 1) {
    const start = records.textStart(row, ID) + skipped;
    const count = Math.min(records.textEnd(row, ID) - start, KEY_BYTES);
    for (let column = 0; column < count; column += 1) keys[column * length + row] = bytes[start + column]!;
  }
  return keys;
}

/** By byte: how many rows have it, and then the place of the next one. */
const places = new Uint32Array(256);

/** Writes `rows` to `sorted`, in the order of their keys from `first` on. Returns false if all keys are the same. */
function sortByColumn(keys: Uint8Array, first: number, rows: Uint16Array, sorted: Uint16Array): boolean {
  places.fill(0);
  for (let row = 0; row < rows.length; row += 1) places[keys[first + row]!]! += 1;
  if (places[keys[first]!] === rows.length) return false;
  let place = 0;
  for (let byte = 0; byte < places.length; byte += 1) {
    const count = places[byte]!;
    places[byte] = place;
    place += count;
  }
  for (let at = 0; at < rows.length; at += 1) {
    const byte = keys[first + rows[at]!]!;
    sorted[places[byte]!] = rows[at]!;
    places[byte]! += 1;
  }
  return true;
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
