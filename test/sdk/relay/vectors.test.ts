/**
 * docs/vectors is up to date. After a change of vectors.ts, write it again:
 * `WRITE_VECTORS=1 npm test -- test/sdk/relay/vectors.test.ts && npm run format`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { REFUSALS, type Revocations } from '../../../sdk/typescript/src/relay/index.ts';
import { codeOf, createRelay } from './support.ts';
import { buildVectors, type Vector, type VectorFile } from './vectors.ts';

const PATH = new URL('../../../docs/vectors/participant-tokens.json', import.meta.url);

if (process.env.WRITE_VECTORS) {
  const committed = existsSync(PATH) ? readFile().vectors : [];
  writeFileSync(PATH, `${JSON.stringify(await buildVectors(committed), undefined, 2)}\n`);
}
const file = readFile();

afterEach(() => {
  vi.restoreAllMocks();
});

test('everything but the signatures is reproduced', async () => {
  // Through JSON, which leaves out what is undefined.
  expect(JSON.parse(JSON.stringify(await buildVectors(file.vectors)))).toEqual(file);
});

describe('the relay answers as the file says', () => {
  test.each(file.vectors)('$name: $code', async (vector) => {
    expect((await codeOf(present(vector))) ?? null).toBe(vector.code);
  });
});

test('every code has a vector, except the one that needs a network', () => {
  const codes = new Set(file.vectors.map(({ code }) => code));
  expect(Object.keys(REFUSALS).filter((code) => !codes.has(code))).toEqual(['KEYS_UNAVAILABLE']);
});

test('every code is explained in docs/tokens.md', () => {
  const page = readFileSync(new URL('../../../docs/tokens.md', import.meta.url), 'utf8');
  expect(Object.keys(REFUSALS).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

test('every member of a vector, and of the session that it renews, is explained there as well', () => {
  const text = readFileSync(new URL('../../../docs/tokens.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('## Test vectors'));
  const members = new Set(
    file.vectors.flatMap((vector) => [vector, vector.renews ?? {}].flatMap(Object.keys)),
  );
  const explained = (member: string) => section.includes(`\`${member}\``);
  expect([...members].filter((member) => !explained(member))).toEqual([]);
});

async function present(vector: Vector): Promise<unknown> {
  const { challenge, dtls_fingerprint, ...connection } = { ...file.connection, ...vector.connection };
  const relay = createRelay({
    issuer: file.issuer,
    audience: file.audience,
    jwks: file.jwks,
    tenants: new Set([file.served.tenant]),
    rooms: new Set([file.served.room]),
    currentRoomUid: () => file.served.room_uid,
    admitted: () => vector.admitted ?? true,
    ...(vector.revocations && { revocations: () => vector.revocations as unknown as Revocations }),
  });
  const random = vi.spyOn(crypto, 'getRandomValues');
  random.mockImplementation((array) => {
    Buffer.from(challenge, 'base64url').copy(array as unknown as Uint8Array);
    return array;
  });
  if (vector.challenge_issued !== false) expect(relay.challenge()).toBe(challenge);

  const { token, proof, renews } = vector;
  const attempt = { token, proof, challenge, dtlsFingerprint: dtls_fingerprint, ...connection };
  if (!renews) return await relay.verify(attempt);
  return await relay.renew(
    {
      tenant: renews.tenant,
      username: renews.username,
      roomUid: renews.room_uid,
      deviceThumbprint: renews.device,
    },
    attempt,
  );
}

function readFile(): VectorFile {
  return JSON.parse(readFileSync(PATH, 'utf8'));
}
