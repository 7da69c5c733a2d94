/**
 * The format of a segment file: entries one after the other, each on a line of its own.
 *
 *     <length, 8 hex digits> <CRC-32, 8 hex digits> <JSON>\n
 *
 * Length and checksum are those of the JSON in UTF-8. JSON has no line breaks, so after damage a reader
 * continues at the next one.
 */
import { crc32 } from 'node:zlib';

const HEADER_BYTES = 18;
const HEADER = /^([0-9a-f]{8}) ([0-9a-f]{8}) $/;
const LINE_BREAK = 0x0a;

export interface ParsedSegment {
  readonly lines: readonly string[];
  /** Damaged stretches, in bytes from the start of the file. */
  readonly corrupt: readonly { readonly offset: number; readonly bytes: number }[];
  /** Bytes of an incomplete entry at the end, which was never acknowledged. */
  readonly tornBytes: number;
}

export function encodeEntry(line: string): Buffer {
  const json = Buffer.from(line);
  const header = `${hex(json.length)} ${hex(crc32(json))} `;
  return Buffer.concat([Buffer.from(header), json, Buffer.of(LINE_BREAK)]);
}

export function parseSegment(bytes: Buffer): ParsedSegment {
  const lines: string[] = [];
  const corrupt: { offset: number; bytes: number }[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const end = bytes.indexOf(LINE_BREAK, offset);
    if (end === -1) {
      const rest = bytes.subarray(offset);
      if (isTorn(rest)) return { lines, corrupt, tornBytes: rest.length };
      return { lines, corrupt: [...corrupt, { offset, bytes: rest.length }], tornBytes: 0 };
    }
    const line = decodeEntry(bytes.subarray(offset, end));
    if (line === undefined) corrupt.push({ offset, bytes: end + 1 - offset });
    else lines.push(line);
    offset = end + 1;
  }
  return { lines, corrupt, tornBytes: 0 };
}

function decodeEntry(entry: Buffer): string | undefined {
  const header = HEADER.exec(entry.toString('latin1', 0, HEADER_BYTES));
  const json = entry.subarray(HEADER_BYTES);
  const sound = header && header[1] === hex(json.length) && header[2] === hex(crc32(json));
  return sound ? json.toString() : undefined;
}

/**
 * Whether this is an incomplete entry, as a killed process leaves it; after a power
 * failure it may be zeros. A complete or malformed entry was damaged later.
 */
function isTorn(rest: Buffer): boolean {
  if (rest.length < HEADER_BYTES || rest.every((byte) => byte === 0)) return true;
  const header = HEADER.exec(rest.toString('latin1', 0, HEADER_BYTES));
  return header !== null && rest.length <= HEADER_BYTES + Number.parseInt(header[1]!, 16);
}

function hex(number: number): string {
  return number.toString(16).padStart(8, '0');
}
