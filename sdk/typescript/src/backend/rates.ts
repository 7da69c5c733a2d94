/** Prices of usage. */
import type { CallOptions } from './calls.ts';
import type { Rest } from './rest.ts';
import type { RateCard } from './rest-types.ts';

/** Prices: `boxoffice.rates`. */
export class Rates {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** The rate card in effect. */
  async get(options?: CallOptions): Promise<RateCard> {
    return await this.#rest.call('GET /v1/rates', {}, options);
  }
}
