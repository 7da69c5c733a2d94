/**
 * Limits signups by client address, counted across all processes.
 *
 * Source: specification 4.2, which sets the five an hour. A network provider gives one customer a whole /56
 * or /48 of IPv6 addresses, so these are limited too, less strictly because they may also be shared. The
 * limit of the deployment stops an attack from many addresses.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { ipv6NetworkOf, networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

const SIGNUPS_PER_HOUR = 5;
/** By the length of the prefix. */
const SIGNUPS_PER_HOUR_OF_IPV6 = { 56: 10, 48: 20 } as const;
const HOUR_SECONDS = 3600;
/** A key that is no address. */
const DEPLOYMENT = 'deployment';

export class SignupLimit {
  readonly #limit: RateLimit;
  readonly #maxOfDeployment: number;

  /** `maxOfDeployment`: signups an hour from all addresses together. */
  constructor(pool: Pool, maxOfDeployment: number) {
    this.#limit = new RateLimit(pool, { name: 'signup', seconds: HOUR_SECONDS });
    this.#maxOfDeployment = maxOfDeployment;
  }

  /** Count one signup. Throws `too_many_signups` beyond a limit. */
  async count(address: string): Promise<void> {
    // The narrowest first: what it refuses uses up no wider limit.
    await this.#count(networkOf(address), SIGNUPS_PER_HOUR);
    for (const bits of [56, 48] as const) {
      const network = ipv6NetworkOf(address, bits);
      if (network !== undefined) await this.#count(network, SIGNUPS_PER_HOUR_OF_IPV6[bits]);
    }
    await this.#count(DEPLOYMENT, this.#maxOfDeployment, 'too many signups: try again later');
  }

  async #count(key: string, max: number, message?: string): Promise<void> {
    const waitMs = await this.#limit.count(key, max);
    if (waitMs === undefined) return;
    throw new Failure('too_many_signups', {
      retryAfter: Math.ceil(waitMs / 1000),
      ...(message !== undefined && { message }),
    });
  }
}
