/** Credit and charges. Amounts are bigints of micros: millionths of a US dollar. */
import type { CallOptions } from './calls.ts';
import type { Listing } from './listing.ts';
import type { AnswerOf, BodyOf, PageRequest, Rest } from './rest.ts';
import type { LedgerEntry, Tenant } from './rest-types.ts';

/** One change of the balance, in the list of all. */
export type ListedEntry = AnswerOf<'GET /v1/ledger'>['entries'][number];

/** Which entries of the ledger to list. */
export interface ListLedgerRequest extends PageRequest {
  /** Only these kinds; none: all. */
  readonly kinds?: readonly LedgerEntry['kind'][] | undefined;
  /** Only usage of this room; empty: only usage without one. */
  readonly room?: string | undefined;
  /** Only usage of this participant. */
  readonly participant?: string | undefined;
  /** Only changes at this time or later. */
  readonly from?: Date | undefined;
  /** Only changes before this time. */
  readonly to?: Date | undefined;
}

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

  /** All entries of the ledger, newest first: one for each usage record and each other change. */
  ledger(request: ListLedgerRequest = {}, options?: CallOptions): Listing<ListedEntry> {
    const { kinds: kind, ...others } = request;
    return this.#rest.list('GET /v1/ledger', (page) => page.entries, { ...others, kind }, options);
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
