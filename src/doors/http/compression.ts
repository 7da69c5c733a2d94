/** Compresses what browsers read. Source: RFC 9110, 8.4 and 12.5.3. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { parseWeighted } from './weighted.ts';

const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Smaller ones would hardly get smaller. */
const COMPRESSED_BYTES_MIN = 1_024;

/** The coding that the header `Accept-Encoding` likes best for so many bytes; `undefined`: as they are. */
export function chooseCoding(accepted: string | undefined, bytes: number): Coding | undefined {
  if (bytes < COMPRESSED_BYTES_MIN) return undefined;
  const weights = new Map(parseWeighted(accepted ?? '').map(({ value, weight }) => [value, weight]));
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = CODINGS.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one));
  const ofNone = weights.get('identity') ?? 0;
  return weightOf(best) > 0 && weightOf(best) >= ofNone ? best : undefined;
}

/** `quality`: that of Brotli, from 0, which is fast, to 11. */
export function compress(bytes: Buffer, coding: Coding, quality: number): Promise<Buffer> {
  if (coding === 'gzip') return promisify(gzip)(bytes);
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return promisify(brotliCompress)(bytes, { params });
}
