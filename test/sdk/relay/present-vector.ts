/** A vector of docs/vectors, presented to a relay as the file says. */
import { onTestFinished, vi } from 'vitest';
import type { Revocations } from '../../../sdk/typescript/src/relay/index.ts';
import { codeOf, createRelay } from './support.ts';
import type { Vector, VectorFile } from './vectors.ts';

/** The code of the refusal; null: admitted. */
export async function answerTo(file: VectorFile, vector: Vector): Promise<string | null> {
  return (await codeOf(present(file, vector))) ?? null;
}

async function present(file: VectorFile, vector: Vector): Promise<unknown> {
  const { challenge, dtls_fingerprint, ...connection } = { ...file.connection, ...vector.connection };
  const relay = createRelay({
    issuer: file.issuer,
    audience: file.audience,
    jwks: file.jwks,
    tenants: new Set([file.served.tenant]),
    rooms: new Set([file.served.room]),
    currentRoomUid: () => file.served.room_uid,
    admitted: () => vector.admitted ?? true,
    budgetReached: (_, budgets) => budgets.some((each) => vector.reached_budgets?.includes(each)),
    ...(vector.revocations && { revocations: () => vector.revocations as unknown as Revocations }),
  });
  if (vector.challenge_issued !== false) issue(relay, challenge);

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

/** Let the relay issue this challenge, which it would draw at random. */
function issue(relay: ReturnType<typeof createRelay>, challenge: string): void {
  const random = vi.spyOn(crypto, 'getRandomValues');
  onTestFinished(() => random.mockRestore());
  random.mockImplementation((array) => {
    Buffer.from(challenge, 'base64url').copy(array as unknown as Uint8Array);
    return array;
  });
  if (relay.challenge() !== challenge) throw new Error('the relay issued another challenge');
}
