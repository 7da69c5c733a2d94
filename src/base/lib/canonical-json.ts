/**
 * JSON in one spelling, for texts that are signed and compared: members in the order of their names, no spaces.
 *
 * Numbers are integers, and stay exact however large they are. Apart from those beyond 2^53, this is RFC 8785.
 */
import { assert } from './assert.ts';

/** Members that are `undefined` are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) return `{${membersOf(value).join(',')}}`;
  assert(typeof value !== 'number' || Number.isSafeInteger(value), 'numbers of canonical JSON are integers');
  return JSON.stringify(value);
}

function membersOf(value: object): string[] {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
}

/** `source` is newer than the type declarations. */
type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

const asBigint: Reviver = (_name, value, { source = '' }) =>
  typeof value === 'number' ? BigInt(source) : value;

/** The value of a JSON text, with its numbers as `bigint`. Throws `SyntaxError`, also if one is not an integer. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, asBigint as Parameters<typeof JSON.parse>[1]);
}
