/**
 * Verifies the secret of an API key or device credential.
 *
 * Every check queries the database, so a revoked key is refused at once in every process. Nothing is cached.
 * Only malformed keys are refused without a query.
 */
import { Failure } from '../../base/failure.ts';
import { keyIdOf, secretMatches } from './api-key.ts';
import type { FailedKeys } from './failed-keys.ts';

export interface PresentedSecret {
  /** The id inside it, not yet verified. */
  readonly id: string;
  readonly plaintext: string;
}

/** The secret in an `Authorization` header; `undefined` if it cannot be one with this prefix. */
export function parseAuthorization(
  authorization: string | undefined,
  prefix: string,
): PresentedSecret | undefined {
  const [, plaintext] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const id = plaintext && keyIdOf(plaintext, prefix);
  return id ? { id, plaintext } : undefined;
}

/**
 * Verifies a secret, and returns what `find` returned for its id.
 *
 * Fails with `invalid_api_key`, also for an unknown id, and for the right secret of a key that works no
 * longer; with `too_many_failed_keys` when too many wrong ones came from the address.
 */
export async function verifySecret<Found extends { readonly hash: Buffer; readonly isWorking: boolean }>(
  failedKeys: FailedKeys,
  { id, plaintext }: PresentedSecret,
  address: string,
  find: (id: string) => Promise<Found | undefined>,
): Promise<Found> {
  const found = await find(id);
  if (!secretMatches(plaintext, found?.hash) || !found) throw await failedKeys.count(address, id);
  // Not counted: its holder learns that it was revoked, however often it is used.
  if (!found.isWorking) throw new Failure('invalid_api_key');
  return found;
}
