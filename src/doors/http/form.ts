/** Forms and queries in `application/x-www-form-urlencoded`. */
import { invalidRequest } from '../../base/failure.ts';

/** The fields of a form, each of which is there once. */
export type Form = ReadonlyMap<string, string>;

const FIELDS_MAX = 50;

/** Fails with `invalid_request` for a doubled field, for text that is not UTF-8, and for NUL. */
export function parseForm(text: string): Form {
  const fields = new Map<string, string>();
  if (text === '') return fields;
  const pairs = text.split('&');
  if (pairs.length > FIELDS_MAX) throw invalidRequest(`a form has at most ${FIELDS_MAX} fields`);
  for (const pair of pairs) {
    const [name, value] = splitOnce(pair).map(decode) as [string, string];
    if (fields.has(name)) throw invalidRequest(`${name.slice(0, 100)} must be sent once`);
    fields.set(name, value);
  }
  return fields;
}

function splitOnce(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest('a form must be UTF-8');
  }
  if (decoded.includes('\0') || !decoded.isWellFormed()) throw invalidRequest('a text must not contain NUL');
  return decoded;
}
