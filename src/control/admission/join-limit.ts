/** Thirty joins a minute per credential, counted across all processes. Source: specification 4.11. */
import { Failure } from '../../base/failure.ts';
import type { Window } from '../../base/limits/rate-limits.sql.ts';

export const JOINS_PER_MINUTE = 30;
export const JOINS_WINDOW_SECONDS = 60;

/** The key of the window of a credential. */
export function joinsKeyOf(credentialId: string): string {
  return `join:${credentialId}`;
}

/** Throws `too_many_joins` beyond the limit. */
export function refuseTooManyJoins({ points, msLeft }: Window): void {
  if (points <= JOINS_PER_MINUTE) return;
  throw new Failure('too_many_joins', { retryAfter: Math.ceil(msLeft / 1000) });
}
