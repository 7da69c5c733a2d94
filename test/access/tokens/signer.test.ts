import { createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { findActiveKid, findPublicKeys } from '../../../src/access/tokens/signing-keys.sql.ts';
import { useService } from '../../support/service.ts';

const app = useService();

/** About 16 of 2,000 signatures have an r or an s that is shorter than 32 bytes. */
test('each signature has 64 bytes, and fits', async () => {
  const { db, signer } = app.service.deps;
  const kid = (await findActiveKid(db))!;
  const { kty, crv, x, y } = (await findPublicKeys(db)).find((key) => key.kid === kid)!;
  const key = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
  const fits = async (bytes: Buffer) => {
    const signature = await signer.sign(kid, bytes);
    return signature.length === 64 && verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature);
  };
  const signed = await Promise.all(Array.from({ length: 2_000 }, (_, at) => fits(Buffer.from(`text ${at}`))));
  expect(signed.filter(Boolean)).toHaveLength(2_000);
});
