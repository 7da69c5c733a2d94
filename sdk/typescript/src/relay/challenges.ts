/** Challenges that this process has issued and that are still unused. Each can be used once. */
import { base64url } from 'jose';
import type { Clock } from './usage/clock.ts';

export const CHALLENGE_SECONDS = 60;
/** Beyond this many the oldest is dropped, so a flood of connections uses a bounded amount of memory. */
export const CHALLENGES_MAX = 100_000;

export interface Challenges {
  /** 32 random bytes in base64url. */
  issue(): string;
  /** True once for each challenge, until it expires. */
  use(challenge: string): boolean;
}

export function createChallenges(clock: Pick<Clock, 'now'>): Challenges {
  // A Map keeps insertion order, so the first entry is the oldest.
  const expiries = new Map<string, number>();

  function forgetOldest(): void {
    for (const [challenge, expiry] of expiries) {
      if (expiry > clock.now() && expiries.size < CHALLENGES_MAX) return;
      expiries.delete(challenge);
    }
  }

  return {
    issue() {
      forgetOldest();
      const challenge = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
      expiries.set(challenge, clock.now() + CHALLENGE_SECONDS * 1000);
      return challenge;
    },
    use(challenge) {
      const expiry = expiries.get(challenge);
      expiries.delete(challenge);
      return expiry !== undefined && clock.now() < expiry;
    },
  };
}
