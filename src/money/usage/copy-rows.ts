/**
 * Rows of `usage_records` in PostgreSQL's binary COPY format.
 *
 * Source: PostgreSQL manual, COPY, "Binary Format". Written straight into buffers: the same rows as
 * text cost three times as much, mostly in short-lived strings.
 */

import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Role, Tier } from '../pricing/role.ts';
import { ID, PARTICIPANT, ROOM, type TextColumn, type UsageRecords } from './usage-records.ts';

/** One batch of a posting. */
export interface ChargedRecords {
  readonly records: UsageRecords;
  /** By row: its index among the new records of the batch; -1 for a duplicate. */
  readonly lines: readonly number[];
  /** The number of new records. */
  readonly count: number;
  /** By row: micros, and whether the ceiling lowered the amount. */
  readonly amounts: readonly bigint[];
  readonly capped: readonly boolean[];
}

/** The records of one posting, in its order. */
export interface PostedRecords {
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly charged: readonly ChargedRecords[];
}

/** The columns, in the order in which `copyRows` writes them. */
export const COPIED_COLUMNS =
  'tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier, capped, id, room, participant';

const COLUMNS = 13;
/** Instead of the number of columns, after the last row. */
const END = -1;

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

/** PostgreSQL stores one piece while we write the next. */
const PIECE_BYTES = 64 * 1024;

const SPARE_BUFFERS_MAX = 48;

/** Signature, no flags, no extension. */
const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');

/** The type of a CopyData message, and its length. */
const MESSAGE_HEAD_BYTES = 5;
const COPY_DATA = 'd'.charCodeAt(0);
/** What a piece has besides rows: the head of its message, and in the first and last one HEAD and an end mark. */
const PIECE_REST_BYTES = MESSAGE_HEAD_BYTES + HEAD.length + 2;

/**
 * The rows, in pieces, each a CopyData message.
 *
 * The rows of a batch are ordered by id, which saves a quarter of PostgreSQL's time: neighbours in the
 * index are inserted one after the other, into cached pages.
 */
export function* copyRows(postings: readonly PostedRecords[], buffers: Buffers): Generator<Buffer> {
  let piece = new Piece(buffers.take(PIECE_BYTES));
  piece.bytes(HEAD);
  for (const { tenant, seq, charged } of postings) {
    let firstLine = 0;
    for (const batch of charged) {
      const { records, lines } = batch;
      for (const row of records.sortById()) {
        if (lines[row] === -1) continue;
        const size = ROW_BYTES + records.textBytes(row);
        if (!piece.hasRoom(size)) {
          yield piece.message();
          piece = new Piece(buffers.take(size + PIECE_REST_BYTES));
        }
        writeRow(piece, tenant, seq, firstLine + lines[row]!, batch, row);
      }
      firstLine += batch.count;
    }
  }
  piece.columns(END);
  yield piece.message();
}

/** Without the texts: two bytes for the row, four per column, 49 for the columns of fixed size. */
const ROW_BYTES = 2 + 4 * COLUMNS + 49;

function writeRow(
  piece: Piece,
  tenant: TenantId,
  seq: bigint,
  line: number,
  { records, amounts, capped }: ChargedRecords,
  row: number,
): void {
  piece.columns(COLUMNS);
  piece.bigint(tenant);
  piece.bigint(seq);
  piece.quantity(records.egressBytes[row]!);
  piece.quantity(records.ingressBytes[row]!);
  piece.bigint(amounts[row]!);
  piece.integer(records.seconds[row]!);
  piece.smallint(line);
  piece.char(ROLE_CODES[records.role(row)]);
  piece.char(TIER_CODES[records.tier(row)]);
  piece.boolean(capped[row]!);
  piece.text(records, row, ID);
  piece.text(records, row, ROOM);
  piece.text(records, row, PARTICIPANT);
}

/**
 * The buffers of one COPY, reused by the next. Otherwise they would be most of the garbage of a busy
 * service.
 */
export class Buffers {
  static readonly #spare: Buffer[] = [];
  readonly #taken: Buffer[] = [];

  /** A buffer of PIECE_BYTES, or of `size` if that is larger. */
  take(size: number): Buffer {
    const spare = size <= PIECE_BYTES ? Buffers.#spare.pop() : undefined;
    const buffer = spare ?? Buffer.allocUnsafeSlow(Math.max(size, PIECE_BYTES));
    this.#taken.push(buffer);
    return buffer;
  }

  /** Call once they are sent. */
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
  #at = MESSAGE_HEAD_BYTES;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#view = new DataView(this.#buffer.buffer);
  }

  /** For a row of this size, and an end mark. */
  hasRoom(size: number): boolean {
    return this.#at + size + 2 <= this.#buffer.length;
  }

  /** What was written, as one message. */
  message(): Buffer {
    this.#view.setInt8(0, COPY_DATA);
    this.#view.setInt32(1, this.#at - 1);
    return this.#buffer.subarray(0, this.#at);
  }

  bytes(bytes: Buffer): void {
    this.#at += bytes.copy(this.#buffer, this.#at);
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
