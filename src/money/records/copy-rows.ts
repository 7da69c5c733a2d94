/**
 * Rows of `usage_records` in PostgreSQL's binary COPY format.
 *
 * Source: PostgreSQL manual, COPY, "Binary Format". Written straight into buffers: the same rows as
 * text cost three times as much, mostly in short-lived strings.
 */

import type { TenantId } from '../../base/tenants/tenant.ts';
import { ROLES, TIERS } from '../pricing/role.ts';
import { ROLE_CODES, TIER_CODES } from '../pricing/role-codes.ts';
import { ID, PARTICIPANT, ROOM, type TextColumn, type UsageRecords, viewOf } from './usage-records.ts';

/** One batch of a posting. */
export interface ChargedRecords {
  readonly records: UsageRecords;
  /** By row: its index among the new records of the batch; -1 for a duplicate. */
  readonly lines: Int16Array;
  /** The number of new records. */
  readonly count: number;
  /** By row: micros, and 1 if the ceiling lowered the amount. */
  readonly amounts: BigInt64Array;
  readonly capped: Uint8Array;
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

/** By the index of a role or tier, as in the columns of the records. */
const ROLE_BYTES = ROLES.map((role) => ROLE_CODES[role].charCodeAt(0));
const TIER_BYTES = TIERS.map((tier) => TIER_CODES[tier].charCodeAt(0));

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
  piece.head();
  for (const { tenant, seq, charged } of postings) {
    let firstLine = 0;
    for (const batch of charged) {
      const posted = { ...batch, tenant, seq, firstLine };
      const rows = batch.records.sortById();
      let done = piece.rows(posted, rows, 0);
      while (done < rows.length) {
        yield piece.message();
        const size = ROW_BYTES + batch.records.textBytes(rows[done]!);
        piece = new Piece(buffers.take(size + PIECE_REST_BYTES));
        done = piece.rows(posted, rows, done);
      }
      firstLine += batch.count;
    }
  }
  piece.end();
  yield piece.message();
}

/** One batch of a posting, with what its rows have in common. */
interface PostedBatch extends ChargedRecords {
  readonly tenant: TenantId;
  readonly seq: bigint;
  /** The line of its first new record. */
  readonly firstLine: number;
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

/** The columns before the texts, each with its length: five of eight bytes, one of four, one of two, three of one. */
const FIXED_BYTES = 5 * 12 + 8 + 6 + 3 * 5;
/** Without the texts: the number of columns, and the lengths of the texts. */
const ROW_BYTES = 2 + FIXED_BYTES + 3 * 4;

class Piece {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  #at = MESSAGE_HEAD_BYTES;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#view = viewOf(buffer);
  }

  head(): void {
    this.#at += HEAD.copy(this.#buffer, this.#at);
  }

  end(): void {
    this.#view.setInt16(this.#at, END);
    this.#at += 2;
  }

  /** What was written, as one message. */
  message(): Buffer {
    this.#view.setInt8(0, COPY_DATA);
    this.#view.setInt32(1, this.#at - 1);
    return this.#buffer.subarray(0, this.#at);
  }

  /** Writes the rows from place `next` on that fit beside an end mark. Returns the place of the first that does not. */
  rows(batch: PostedBatch, rows: Uint16Array, next: number): number {
    const { records, lines } = batch;
    const room = this.#buffer.length - 2 - ROW_BYTES;
    for (let at = next; at < rows.length; at += 1) {
      const row = rows[at]!;
      if (lines[row] === -1) continue;
      if (this.#at + records.textBytes(row) > room) return at;
      this.#numbers(batch, row);
      this.#text(records, row, ID);
      this.#text(records, row, ROOM);
      this.#text(records, row, PARTICIPANT);
    }
    return rows.length;
  }

  /** The columns before the texts. Each has its length in front of it. */
  #numbers({ tenant, seq, firstLine, lines, records, amounts, capped }: PostedBatch, row: number): void {
    const view = this.#view;
    const at = this.#at;
    view.setInt16(at, COLUMNS);
    view.setInt32(at + 2, 8);
    view.setBigInt64(at + 6, tenant);
    view.setInt32(at + 14, 8);
    view.setBigInt64(at + 18, seq);
    view.setInt32(at + 26, 8);
    setQuantity(view, at + 30, records.egressBytes[row]!);
    view.setInt32(at + 38, 8);
    setQuantity(view, at + 42, records.ingressBytes[row]!);
    view.setInt32(at + 50, 8);
    view.setBigInt64(at + 54, amounts[row]!);
    view.setInt32(at + 62, 4);
    view.setInt32(at + 66, records.seconds[row]!);
    view.setInt32(at + 70, 2);
    view.setInt16(at + 74, firstLine + lines[row]!);
    view.setInt32(at + 76, 1);
    view.setInt8(at + 80, ROLE_BYTES[records.roles[row]!]!);
    view.setInt32(at + 81, 1);
    view.setInt8(at + 85, TIER_BYTES[records.tiers[row]!]!);
    view.setInt32(at + 86, 1);
    view.setInt8(at + 90, capped[row]!);
    this.#at = at + 2 + FIXED_BYTES;
  }

  #text(records: UsageRecords, row: number, column: TextColumn): void {
    const view = this.#view;
    const from = records.view;
    const start = records.textStart(row, column);
    const length = start < 0 ? -1 : records.textEnd(row, column) - start;
    view.setInt32(this.#at, length);
    const at = this.#at + 4;
    // Texts are short: copying four bytes at a time costs less than calling into Node for each.
    let offset = 0;
    for (; offset + 4 <= length; offset += 4) view.setInt32(at + offset, from.getInt32(start + offset));
    for (; offset < length; offset += 1) view.setInt8(at + offset, from.getInt8(start + offset));
    this.#at = at + offset;
  }
}

/** A whole number up to 2^53, as an eight-byte integer. */
function setQuantity(view: DataView, at: number, value: number): void {
  view.setUint32(at, value / 2 ** 32);
  view.setUint32(at + 4, value % 2 ** 32);
}
