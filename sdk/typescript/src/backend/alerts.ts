/** Thresholds below which the tenant is alerted. */
import type { CallOptions, MutationOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';

/** A threshold, and since when the balance is below it. */
export type AlertThreshold = AnswerOf<'GET /v1/alerts'>['thresholds'][number];

/** A threshold to set: `belowMicros` for the kind `balance`, `belowHours` for `runway`. */
export type NewThreshold = BodyOf<'PUT /v1/alerts'>['thresholds'][number];

/** Thresholds of the tenant: `boxoffice.alerts`. */
export class Alerts {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** All thresholds; none until they are set. */
  async get(options?: CallOptions): Promise<AlertThreshold[]> {
    return (await this.#rest.call('GET /v1/alerts', {}, options)).thresholds;
  }

  /**
   * Replace all thresholds, ten at most. One that was set before stays as it is. A new one is raised at once if
   * the balance is below it.
   */
  async set(thresholds: readonly NewThreshold[], options?: MutationOptions): Promise<AlertThreshold[]> {
    const body = { thresholds: [...thresholds] };
    return (await this.#rest.call('PUT /v1/alerts', { body }, options)).thresholds;
  }
}
