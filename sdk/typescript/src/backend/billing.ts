/** Credit and charges. Amounts are bigints of micros: millionths of a US dollar. */
import type { CallOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';
import type { Tenant } from './rest-types.ts';

/** The tenant's credit: `boxoffice.billing`. */
export class Billing {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** The tenant, its balance, and its newest ledger entries. */
  async get(options?: CallOptions): Promise<AnswerOf<'GET /v1/billing'>> {
    return await this.#rest.call('GET /v1/billing', {}, options);
  }

  /** Open a payment page for credit: 1000 to 1000000 cents. The request is never repeated. */
  async checkout(
    body: BodyOf<'POST /v1/billing/checkout'>,
    options?: CallOptions,
  ): Promise<AnswerOf<'POST /v1/billing/checkout'>> {
    return await this.#rest.call('POST /v1/billing/checkout', { body }, options);
  }

  /** Open the portal for receipts and saved cards. The request is never repeated. */
  async portal(options?: CallOptions): Promise<AnswerOf<'POST /v1/billing/portal'>> {
    return await this.#rest.call('POST /v1/billing/portal', {}, options);
  }

  /** Charge the saved card whenever the balance falls below a threshold, or turn that off. */
  async setAutoTopUp(body: BodyOf<'PUT /v1/billing/auto-top-up'>, options?: CallOptions): Promise<Tenant> {
    return await this.#rest.call('PUT /v1/billing/auto-top-up', { body }, options);
  }
}
