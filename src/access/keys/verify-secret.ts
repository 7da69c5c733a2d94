/**
 * The check of a secret that somebody shows: of an API key, or of a device credential.
 *
 * A revoked key is refused at once and in every process, because every check asks the database; what
 * spares the database is never a cached yes, only that text which cannot be a key is not looked up,
 * and that an address which keeps presenting wrong keys is turned away.
 */
import { Failure } from '../../base/failure.ts';
import { keyIdOf, secretMatches } from './api-key.ts';
import type { FailedKeys } from './failed-keys.ts';

export interface PresentedSecret {
  /** The id inside it, which anybody may have made up. */
  readonly id: string;
  readonly plaintext: string;
}

/** The secret in an `Authorization` header; `undefined` where it cannot be one with this prefix. */
export function parseAuthorization(
  authorization: string | undefined,
  prefix: string,
): PresentedSecret | undefined {
  const [, plaintext] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const id = plaintext && keyIdOf(plaintext, prefix);
  return id ? { id, plaintext } : undefined;
}

/**
 * What `find` knows under the id of a secret, once the secret has proved right.
 *
 * Fails with `invalid_api_key`, the same for an id that does not exist; with `too_many_failed_keys`
 * when the address has used up its wrong guesses.
 */
export async function verifySecret<Found extends { readonly hash: Buffer }>(
  failedKeys: FailedKeys,
  { id, plaintext }: PresentedSecret,
  address: string,
  find: (id: string) => Promise<Found | undefined>,
): Promise<Found> {
  if (!failedKeys.isKnown(id)) failedKeys.refuseIfBlocked(address);

  const found = await find(id);
  if (!secretMatches(plaintext, found?.hash) || !found) {
    await failedKeys.count(address);
    throw new Failure('invalid_api_key');
  }
  failedKeys.remember(id);
  return found;
}
