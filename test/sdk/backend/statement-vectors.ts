/** Makes docs/vectors/statements.json: signed statements, genuine and not. Everything but the signatures is derived from here. */
import { createHmac, createPrivateKey, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { textOf } from '../../../src/money/statements/statement-document.ts';
import { SAMPLE } from '../../money/statements/support.ts';
import { KID, keyNamed, publicOf, signingKey, thiefKey } from '../relay/support.ts';

const olderKey = keyNamed('boxoffice test vectors: an older signing key');
const encryptionKey = keyNamed('boxoffice test vectors: a key for encryption');

const TEXT = textOf(SAMPLE);
const OTHER = TEXT.replace('"month":"2026-10"', '"month":"2026-09"');
const HEADER = { alg: 'ES256', kid: KID, typ: 'statement+jwt' };

const encode = (text: string) => Buffer.from(text).toString('base64url');
const inputOf = (header: unknown, text: string) => `${encode(JSON.stringify(header))}.${encode(text)}`;

function signed(
  input: string,
  key: JWK = signingKey,
  dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363',
): string {
  const privateKey = createPrivateKey({ key: { ...key } as Record<string, string>, format: 'jwk' });
  return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding }).toString('base64url')}`;
}

const withHeader = (changes: object) => signed(inputOf({ ...HEADER, ...changes }, TEXT));
const withText = (text: string) => signed(inputOf(HEADER, text));
const GOOD = withText(TEXT);
const [FIRST, SECOND, THIRD] = GOOD.split('.') as [string, string, string];
/** The last character of a signature has four bits that mean nothing. */
const respelled = (text: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1];
};
const byPublicKey = () => {
  const input = inputOf({ ...HEADER, alg: 'HS256' }, TEXT);
  return `${input}.${createHmac('sha256', JSON.stringify(publicOf(signingKey)))
    .update(input)
    .digest('base64url')}`;
};

const TABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MALFORMED: {
    'an empty text': '',
    'two segments': `${FIRST}.${SECOND}`,
    'four segments': `${GOOD}.`,
    padding: `${GOOD}=`,
    'another spelling of the signature': respelled(GOOD),
    'a line break in the payload': `${FIRST}.${SECOND.slice(0, 8)}\n${SECOND.slice(8)}.${THIRD}`,
    'a header that is a list': `${encode('[]')}.${SECOND}.${THIRD}`,
    'a header that is no JSON': `${encode('{')}.${SECOND}.${THIRD}`,
    'the JSON of the answer': JSON.stringify({ statement: JSON.parse(TEXT), jws: GOOD }),
  },
  WRONG_TYPE: {
    'the type of a token': withHeader({ typ: 'participant+jwt' }),
    'typ JWT': withHeader({ typ: 'JWT' }),
    'no type': withHeader({ typ: undefined }),
  },
  WRONG_ALGORITHM: {
    'alg none': `${inputOf({ ...HEADER, alg: 'none' }, TEXT)}.`,
    'a MAC with the public key': byPublicKey(),
    'no algorithm': withHeader({ alg: undefined }),
  },
  HEADER_INVALID: {
    'a critical member': withHeader({ crit: ['x'] }),
    'a key in the header': withHeader({ jwk: publicOf(thiefKey) }),
    'no key id': withHeader({ kid: undefined }),
  },
  UNKNOWN_KEY: {
    'a key that is not there': signed(inputOf({ ...HEADER, kid: 'other' }, TEXT), thiefKey),
    'a key id that is no text': withHeader({ kid: 5 }),
    'a key for encryption': signed(inputOf({ ...HEADER, kid: 'encryption' }, TEXT), encryptionKey),
  },
  BAD_SIGNATURE: {
    'another month': `${inputOf(HEADER, OTHER)}.${THIRD}`,
    'the signature of another key': signed(inputOf(HEADER, TEXT), thiefKey),
    'no signature': `${FIRST}.${SECOND}.`,
    'a signature with a byte more': `${FIRST}.${SECOND}.${Buffer.concat([Buffer.from(THIRD, 'base64url'), Buffer.alloc(1)]).toString('base64url')}`,
    'a signature in DER': signed(inputOf(HEADER, TEXT), signingKey, 'der'),
  },
  BAD_BODY: {
    'no members': withText('{}'),
    null: withText('null'),
    'a list': withText('[]'),
    'no JSON': withText('x'),
    'version 2': withText(TEXT.replace('"version":1', '"version":2')),
    'no month': withText(TEXT.replace('"month":"2026-10",', '')),
  },
};

const older = signed(inputOf({ ...HEADER, kid: 'older' }, TEXT), olderKey);

export const STATEMENT_VECTORS = {
  about:
    'Signed statements, and keys as /.well-known/statement-keys.json has them. code: why a text is refused; null: it is genuine, and its statement is the payload. See docs/statements.md.',
  keys: {
    keys: [
      { ...publicOf(olderKey), kid: 'older', alg: 'ES256', use: 'sig' },
      { ...publicOf(signingKey), kid: KID, alg: 'ES256', use: 'sig' },
      { ...publicOf(encryptionKey), kid: 'encryption', alg: 'ES256', use: 'enc' },
      { kty: 'oct', kid: 'other-kind', k: 'AAAA' },
    ],
  },
  vectors: [
    { name: 'good', jws: GOOD, code: null },
    { name: 'good, by an older key', jws: older, code: null },
    ...Object.entries(TABLE).flatMap(([code, cases]) =>
      Object.entries(cases).map(([name, jws]) => ({ name, jws, code })),
    ),
  ],
};
