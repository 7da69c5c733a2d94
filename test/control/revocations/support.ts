/** What a relay reads in a snapshot, and the hashes of users and rooms in it. */
import { createHash } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { RevocationClaims } from '../../../src/control/revocations/revocations.ts';
import type { TestService } from '../../support/service.ts';

/** Written out, independently of the service. */
export function hashed(purpose: string, roomOrTenant: string, value?: string): string {
  const sha256 = createHash('sha256').update(`${purpose}\0${roomOrTenant}`);
  if (value !== undefined) sha256.update(`\0${value}`);
  return Buffer.from(sha256.digest('hex').slice(0, 32), 'hex').toString('base64url');
}

/** The claims of a snapshot, verified with the published keys. */
export async function readSnapshot(app: TestService, jws: string): Promise<RevocationClaims> {
  const { json } = await app.request('GET', '/.well-known/jwks.json');
  const { payload } = await jwtVerify(jws, createLocalJWKSet(json), {
    typ: 'revocations+jwt',
    algorithms: ['ES256'],
    issuer: 'http://service.test',
    audience: 'relay:service.test',
  });
  return payload as unknown as RevocationClaims;
}
