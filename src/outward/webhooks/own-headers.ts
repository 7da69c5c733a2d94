/**
 * Headers of a tenant's own, and Basic authentication: what its receiver lets requests in by. They may be secrets, so
 * they are sealed, and no answer, log or page has their values.
 */
import { invalidField } from '../../base/failure.ts';

export const OWN_HEADERS_MAX = 10;
/** In characters. */
export const OWN_HEADER_NAME_LENGTH_MAX = 100;
export const OWN_HEADER_VALUE_LENGTH_MAX = 1_024;
export const BASIC_AUTH_LENGTH_MAX = 256;

export interface OwnHeader {
  readonly name: string;
  readonly value: string;
}

export interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

export interface OwnHeaders {
  readonly headers: readonly OwnHeader[];
  readonly basicAuth: BasicAuth | null;
}

export const NO_OWN_HEADERS: OwnHeaders = { headers: [], basicAuth: null };

/** What may be shown of them. */
export interface ShownHeaders {
  /** In lower case. */
  readonly headerNames: readonly string[];
  readonly hasBasicAuth: boolean;
}

/** Source: RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable ASCII, without a space at either end. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** What the request itself has, or what is said about the connection. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['host', 'user-agent', 'accept-encoding', 'date', 'expect'],
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);
const TAKEN_BEGINNINGS = ['content-', 'webhook-', 'proxy-'];

/** Names come back in lower case. Fails with `invalid_request` about the field `headers` or `basic_auth`. */
export function parseOwnHeaders({ headers, basicAuth }: OwnHeaders): OwnHeaders {
  if (headers.length > OWN_HEADERS_MAX) throw invalidField('headers', `must be at most ${OWN_HEADERS_MAX}`);
  const parsed = headers.map(parseOwnHeader);
  const names = new Set<string>();
  for (const { name } of parsed) {
    if (names.has(name)) throw invalidField('headers', `must have each name once: ${name}`);
    names.add(name);
  }
  if (basicAuth && names.has('authorization'))
    throw invalidField('basic_auth', 'must not come with a header authorization');
  return { headers: parsed, basicAuth: basicAuth && parseBasicAuth(basicAuth) };
}

/** Errors name the header, and never show its value. */
function parseOwnHeader({ name, value }: OwnHeader): OwnHeader {
  const lower = name.toLowerCase();
  if (!TOKEN.test(name) || name.length > OWN_HEADER_NAME_LENGTH_MAX)
    throw invalidField('headers', 'must have names of headers, such as x-api-key');
  if (TAKEN.has(lower) || TAKEN_BEGINNINGS.some((each) => lower.startsWith(each)))
    throw invalidField('headers', `must not have ${lower}: the request has its own`);
  if (!VALUE.test(value) || value.length > OWN_HEADER_VALUE_LENGTH_MAX) {
    throw invalidField(
      'headers',
      `must have values of 1 to ${OWN_HEADER_VALUE_LENGTH_MAX} printable ASCII characters, without a space at either end: ${lower}`,
    );
  }
  return { name: lower, value };
}

/** Source: RFC 7617, section 2: a user name has no colon. */
function parseBasicAuth({ username, password }: BasicAuth): BasicAuth | null {
  if (username === '' && password === '') return null;
  const isRight = (text: string) =>
    text.length <= BASIC_AUTH_LENGTH_MAX && !/\p{Cc}/u.test(text) && text.isWellFormed();
  if (!isRight(username) || !isRight(password) || username.includes(':')) {
    throw invalidField(
      'basic_auth',
      `must have a user name without a colon and a password, of at most ${BASIC_AUTH_LENGTH_MAX} characters each`,
    );
  }
  return { username, password };
}

/** As they are sent. */
export function renderOwnHeaders({ headers, basicAuth }: OwnHeaders): Readonly<Record<string, string>> {
  const own = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  if (!basicAuth) return own;
  const credentials = Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64');
  return { ...own, authorization: `Basic ${credentials}` };
}

export function shownHeaders({ headers, basicAuth }: OwnHeaders): ShownHeaders {
  return { headerNames: headers.map(({ name }) => name), hasBasicAuth: basicAuth !== null };
}
