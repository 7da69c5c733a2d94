/** What the bearer of a participant token can tell of it, by the keys that services publish. Source: RFC 7515, RFC 7638. */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { Reply } from '../journal.ts';
import type { Stage } from '../stage/stage.ts';
import { claimsOf } from './grpc.ts';
import { send } from './http.ts';

const HEADER = ['alg', 'kid', 'typ'];

/** By their ids. A key that was published once is known for the rest of the campaign. */
const published = new Map<string, KeyObject>();

/** The answer with the claims of its token, and whether a published key has signed it. */
export async function withToken<R extends Reply>(reply: R, token: string, stage: Stage): Promise<R> {
  const signed = await isSigned(token, stage);
  return {
    ...reply,
    answer: { ...reply.answer, claims: claimsOf(token), ...(signed !== undefined && { signed }) },
  };
}

/** `undefined`: no service tells its keys now. */
async function isSigned(token: string, stage: Stage): Promise<boolean | undefined> {
  const [head = '', body = '', signature = ''] = token.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString());
  if (Object.keys(header).toSorted().join() !== HEADER.join() || header.alg !== 'ES256') return false;
  if (!published.has(header.kid) && !(await fetchKeys(stage))) return undefined;
  const key = published.get(header.kid);
  const content = Buffer.from(`${head}.${body}`);
  const bytes = Buffer.from(signature, 'base64url');
  return key !== undefined && verify('sha256', content, { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

/** Returns whether a service has answered. */
async function fetchKeys({ places }: Stage): Promise<boolean> {
  for (const { service } of places) {
    const { outcome, json } = await send(service.url, { method: 'GET', path: '/.well-known/jwks.json' });
    if (outcome !== 'ok') continue;
    for (const jwk of json.keys as (JsonWebKey & { readonly kid: string })[])
      published.set(jwk.kid, createPublicKey({ key: jwk, format: 'jwk' }));
    return true;
  }
  return false;
}

/** The key is a public one of P-256. */
export function thumbprintOf({
  crv,
  kty,
  x,
  y,
}: Record<'crv' | 'kty' | 'x' | 'y', string | undefined>): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}
