/** Credit and what it went into. Amounts are bigints of micros: millionths of a US dollar. */
import type { CallOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';
import type { Tenant } from './rest-types.ts';

/** Credit of the tenant: `boxoffice.billing`. */
export class Billing {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** The tenant, its balance, and its newest ledger entries. */
  async get(options?: CallOptions): Promise<AnswerOf<'GET /v1/billing'>> {
    return await this.#rest.call('GET /v1/billing', {}, options);
  }

  /** Open a page on which credit is paid for: 1000 to 1000000 cents. It is sent once, whatever happens. */
  async checkout(
    body: BodyOf<'POST /v1/billing/checkout'>,
    options?: CallOptions,
  ): Promise<AnswerOf<'POST /v1/billing/checkout'>> {
    return await this.#rest.call('POST /v1/billing/checkout', { body }, options);
  }

  /** Open the portal for receipts and saved cards. It is sent once, whatever happens. */
  async portal(options?: CallOptions): Promise<AnswerOf<'POST /v1/billing/portal'>> {
    return await this.#rest.call('POST /v1/billing/portal', {}, options);
  }

  /** Charge the saved card whenever the balance falls below a threshold, or stop to. */
  async setAutoTopUp(body: BodyOf<'PUT /v1/billing/auto-top-up'>, options?: CallOptions): Promise<Tenant> {
    return await this.#rest.call('PUT /v1/billing/auto-top-up', { body }, options);
  }
}
