/**
 * Rows of `usage_records` in PostgreSQL's binary COPY format.
 *
 * Source: PostgreSQL manual, COPY, "Binary Format". Written straight into buffers: the same rows as
 * text cost the service three times as much, most of it in strings that are thrown away at once.
 */
import type { Role, Tier } from '../pricing/rate-card.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { ID, PARTICIPANT, ROOM, type TextColumn, type UsageRecords } from './usage-records.ts';

/** What a posting holds of one batch: the rows that are new, and for each of them what it costs, in micros. */
export interface ChargedRows {
  readonly records: UsageRecords;
  readonly rows: readonly number[];
  readonly amounts: readonly bigint[];
  readonly capped: readonly boolean[];
}

/** The records of one posting, in its order. */
export interface PostedRecords {
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly charged: readonly ChargedRows[];
}

/** The columns, in the order in which `copyRows` writes them. */
export const COPIED_COLUMNS =
  'tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier, capped, id, room, participant';

const COLUMNS = 13;

export const ROLE_CODES: Readonly<Record<Role, string>> = {
  host: 'h',
  audience: 'a',
  broadcast_audience: 'b',
};
export const TIER_CODES: Readonly<Record<Tier, string>> = {
  audio: 'a',
  hd: 'h',
  full_hd: 'f',
  '2k': '2',
  '2k_plus': 'k',
};

/** PostgreSQL stores one piece while the next is being written. */
const PIECE_BYTES = 64 * 1024;

const SPARE_BUFFERS_MAX = 48;

/** Signature, no flags, no extension. */
const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TAIL = Buffer.from([0xff, 0xff]);

/**
 * The rows, in pieces.
 *
 * Those of a batch go in the order of their ids, which takes a quarter off PostgreSQL's time:
 * neighbours in the index are then inserted one after the other, into pages that are at hand.
 */
export function* copyRows(postings: readonly PostedRecords[], buffers: Buffers): Generator<Buffer> {
  yield HEAD;
  let piece = new Piece(buffers.take(PIECE_BYTES));
  for (const { tenant, seq, charged } of postings) {
    let line = 0;
    for (const batch of charged) {
      for (const place of orderOfIds(batch)) {
        const size = sizeMax(batch, place);
        if (!piece.hasRoom(size)) {
          yield piece.bytes();
          piece = new Piece(buffers.take(size));
        }
        writeRow(piece, tenant, seq, line + place, batch, place);
      }
      line += batch.rows.length;
    }
  }
  yield piece.bytes();
  yield TAIL;
}

function writeRow(
  piece: Piece,
  tenant: TenantId,
  seq: bigint,
  line: number,
  { records, rows, amounts, capped }: ChargedRows,
  place: number,
): void {
  const row = rows[place]!;
  piece.columns(COLUMNS);
  piece.bigint(tenant);
  piece.bigint(seq);
  piece.quantity(records.egressBytes[row]!);
  piece.quantity(records.ingressBytes[row]!);
  piece.bigint(amounts[place]!);
  piece.integer(records.seconds[row]!);
  piece.smallint(line);
  piece.char(ROLE_CODES[records.role(row)]);
  piece.char(TIER_CODES[records.tier(row)]);
  piece.boolean(capped[place]!);
  piece.text(records, row, ID);
  piece.text(records, row, ROOM);
  piece.text(records, row, PARTICIPANT);
}

/** Two bytes for the row, four for each column, 49 for those of fixed size, and the texts. */
function sizeMax({ records, rows }: ChargedRows, place: number): number {
  return 2 + 4 * COLUMNS + 49 + records.textBytes(rows[place]!);
}

/** Of an id, as many bytes as fit a double beside a place. */
const KEY_BYTES = 5;
const PLACES = 2 ** 13;

/**
 * The places of the rows, roughly in the order of their ids: by what follows their common beginning.
 *
 * Only PostgreSQL's speed depends on it, so a few bytes will do; as numbers they are sorted ten times
 * as fast as texts are compared.
 */
function orderOfIds({ records, rows }: ChargedRows): number[] {
  const { bytes } = records;
  const skipped = commonBytes(records, rows);
  const keys = Float64Array.from(rows, (row, place) => {
    const start = records.textStart(row, ID) + skipped;
    const end = Math.min(records.textEnd(row, ID), start + KEY_BYTES);
    let key = 0;
    for (let at = start; at < end; at += 1) key = key * 256 + bytes[at]!;
    return key * 256 ** (KEY_BYTES - (end - start)) * PLACES + place;
  });
  return Array.from(keys.sort(), (key) => key % PLACES);
}

/** How many bytes all ids begin with in common. */
function commonBytes(records: UsageRecords, rows: readonly number[]): number {
  const { bytes } = records;
  const first = records.textStart(rows[0]!, ID);
  let common = records.textEnd(rows[0]!, ID) - first;
  for (const row of rows) {
    const start = records.textStart(row, ID);
    common = Math.min(common, records.textEnd(row, ID) - start);
    for (let at = 0; at < common; at += 1) if (bytes[start + at] !== bytes[first + at]) common = at;
  }
  return common;
}

/**
 * The buffers of one COPY. They are used again by the next: as garbage, they would be most of what
 * a busy service leaves behind.
 */
export class Buffers {
  static readonly #spare: Buffer[] = [];
  readonly #taken: Buffer[] = [];

  /** Of PIECE_BYTES, or larger where `size` is. */
  take(size: number): Buffer {
    const spare = size <= PIECE_BYTES ? Buffers.#spare.pop() : undefined;
    const buffer = spare ?? Buffer.allocUnsafeSlow(Math.max(size, PIECE_BYTES));
    this.#taken.push(buffer);
    return buffer;
  }

  /** Once they are sent. */
  giveBack(): void {
    for (const buffer of this.#taken) {
      const isWanted = buffer.length === PIECE_BYTES && Buffers.#spare.length < SPARE_BUFFERS_MAX;
      if (isWanted) Buffers.#spare.push(buffer);
    }
  }
}

class Piece {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#view = new DataView(this.#buffer.buffer);
  }

  hasRoom(size: number): boolean {
    return this.#at + size <= this.#buffer.length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  columns(count: number): void {
    this.#view.setInt16(this.#at, count);
    this.#at += 2;
  }

  bigint(value: bigint): void {
    this.#view.setInt32(this.#at, 8);
    this.#view.setBigInt64(this.#at + 4, value);
    this.#at += 12;
  }

  /** A whole number up to 2^53, as an eight-byte integer. */
  quantity(value: number): void {
    this.#view.setInt32(this.#at, 8);
    this.#view.setUint32(this.#at + 4, value / 2 ** 32);
    this.#view.setUint32(this.#at + 8, value % 2 ** 32);
    this.#at += 12;
  }

  integer(value: number): void {
    this.#view.setInt32(this.#at, 4);
    this.#view.setInt32(this.#at + 4, value);
    this.#at += 8;
  }

  smallint(value: number): void {
    this.#view.setInt32(this.#at, 2);
    this.#view.setInt16(this.#at + 4, value);
    this.#at += 6;
  }

  /** A single ASCII character, of the type "char". */
  char(value: string): void {
    this.#byte(value.charCodeAt(0));
  }

  boolean(value: boolean): void {
    this.#byte(value ? 1 : 0);
  }

  #byte(value: number): void {
    this.#view.setInt32(this.#at, 1);
    this.#view.setInt8(this.#at + 4, value);
    this.#at += 5;
  }

  text(records: UsageRecords, row: number, column: TextColumn): void {
    const start = records.textStart(row, column);
    const length = start < 0 ? -1 : records.textEnd(row, column) - start;
    this.#view.setInt32(this.#at, length);
    this.#at += 4;
    // Texts are short: copying them byte by byte costs less than calling into Node for each.
    for (let offset = 0; offset < length; offset += 1) {
      this.#buffer[this.#at + offset] = records.bytes[start + offset]!;
    }
    this.#at += Math.max(length, 0);
  }
}
