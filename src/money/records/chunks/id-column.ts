/**
 * The ids of a chunk. An id that ends with a number, such as `relay-room-000123`, is the index of what is before its
 * number and the difference to the number before; a UUID is its bytes; any other id is its text.
 */
import { ByteReader, ByteWriter } from '../bytes.ts';
import { lengthenUuids, shortenUuids } from './short-uuids.ts';

/** The digits of a UUID. */
const HEX_DIGITS = 32;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** A number of so many digits is one that JavaScript holds exactly. */
const DIGITS_MAX = 15;

/** What an id is. Any larger number is NUMBERED_FROM and the index of its series. */
const TEXT = 0;
const HEX = 1;
const NUMBERED_FROM = 2;

/** A series of fewer ids is not worth its entry. */
const SERIES_MIN = 3;

/** Ids with the same text before their numbers, which have leading zeros up to `width`; 0: none. */
interface Series {
  readonly prefix: string;
  readonly width: number;
  last: number;
}

export function packIds(ids: readonly string[]): Buffer {
  const series = new Map<string, number>();
  const [kinds, numbers, prefixes, texts, hex] = Array.from({ length: 5 }, () => new ByteWriter());
  const all: Series[] = [];
  const counts = countSeries(ids);
  for (const id of ids) {
    const key = keyOf(id, counts);
    if (key !== undefined) {
      let index = series.get(key);
      if (index === undefined) {
        index = all.push({ ...partsOf(key), last: 0 }) - 1;
        series.set(key, index);
        prefixes!.number(all[index]!.width);
        prefixes!.text(all[index]!.prefix);
      }
      const own = all[index]!;
      const number = Number(id.slice(own.prefix.length));
      kinds!.number(NUMBERED_FROM + index);
      numbers!.signed(number - own.last);
      own.last = number;
    } else if (UUID.test(id)) {
      kinds!.number(HEX);
      hex!.raw(Buffer.from(id.replaceAll('-', ''), 'hex'));
    } else {
      kinds!.number(TEXT);
      texts!.text(id);
    }
  }
  const short = shortenUuids(hex!.written());
  const packed = new ByteWriter();
  for (const part of [kinds!, numbers!, prefixes!, texts!, short ? new ByteWriter() : hex!])
    packed.part(part);
  if (short) packed.raw(short);
  return packed.written();
}

/** The number at the end of an id, and what is before it. `undefined`: there is none. */
function splitNumber(id: string): { readonly prefix: string; readonly digits: string } | undefined {
  let at = id.length;
  while (id.length - at < DIGITS_MAX && isDigit(id.charCodeAt(at - 1))) at -= 1;
  if (at === id.length || UUID.test(id)) return undefined;
  return { prefix: id.slice(0, at), digits: id.slice(at) };
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

/** How many ids there are of each series. */
function countSeries(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const split = splitNumber(id);
    if (!split) continue;
    const { prefix, digits } = split;
    const width = digits.length > 1 && digits.startsWith('0') ? digits.length : 0;
    const key = `${width} ${prefix}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** The series of an id: of its width, or without leading zeros. `undefined`: it belongs to none. */
function keyOf(id: string, counts: ReadonlyMap<string, number>): string | undefined {
  const split = splitNumber(id);
  if (!split) return undefined;
  const { prefix, digits } = split;
  const isPadded = digits.length > 1 && digits.startsWith('0');
  const keys = [`${digits.length} ${prefix}`, ...(isPadded ? [] : [`0 ${prefix}`])];
  return keys.find((key) => (counts.get(key) ?? 0) >= SERIES_MIN);
}

function partsOf(key: string): Pick<Series, 'prefix' | 'width'> {
  const space = key.indexOf(' ');
  return { width: Number(key.slice(0, space)), prefix: key.slice(space + 1) };
}

/** As many ids as were packed. */
export function unpackIds(packed: Buffer): string[] {
  const parts = new ByteReader(packed);
  const [kinds, numbers, prefixes, texts, whole] = Array.from({ length: 5 }, () => parts.part());
  const hex = (parts.isAtEnd ? whole!.rest() : lengthenUuids(parts.rest())).toString('hex');
  let uuids = 0;
  const all: Series[] = [];
  while (!prefixes!.isAtEnd) all.push({ width: prefixes!.number(), prefix: prefixes!.text(), last: 0 });
  const ids: string[] = [];
  while (!kinds!.isAtEnd) {
    const kind = kinds!.number();
    if (kind === TEXT) ids.push(texts!.text());
    else if (kind === HEX) ids.push(uuidAt(hex, uuids++));
    else ids.push(nextOf(all[kind - NUMBERED_FROM]!, numbers!.signed()));
  }
  return ids;
}

function uuidAt(all: string, index: number): string {
  const from = index * HEX_DIGITS;
  const part = (start: number, end: number) => all.slice(from + start, from + end);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, HEX_DIGITS)}`;
}

function nextOf(series: Series, difference: number): string {
  series.last += difference;
  return series.prefix + String(series.last).padStart(series.width, '0');
}
