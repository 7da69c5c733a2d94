/** Prices of usage. */
import type { CallOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';
import type { RateCard } from './rest-types.ts';

/** Who is in a room that is to be priced. */
export type SimulateRequest = BodyOf<'POST /v1/rates/simulate'>;

/** What the room would cost. */
export type Simulation = AnswerOf<'POST /v1/rates/simulate'>;

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

  /** Price a room that you make up, as if a relay reported it now. Nothing is charged. */
  async simulate(body: SimulateRequest, options?: CallOptions): Promise<Simulation> {
    return await this.#rest.call('POST /v1/rates/simulate', { body }, options);
  }
}
