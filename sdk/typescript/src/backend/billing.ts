/** Credit and charges. Amounts are bigints of micros: millionths of a US dollar. */
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Listing } from './listing.ts';
import { type AnswerOf, type BodyOf, type PageRequest, type Rest, toQuery } from './rest.ts';
import type { LedgerEntry, Tenant } from './rest-types.ts';

/** One change of the balance, in the list of all. */
export type ListedEntry = AnswerOf<'GET /v1/ledger'>['entries'][number];

/** The balance of a month that has a statement. */
export type ListedStatement = AnswerOf<'GET /v1/statements'>['statements'][number];

/** A statement, and its signature if the month is over. */
export type SignedStatement = AnswerOf<'GET /v1/statements/{month}'>;

/** How long the credit lasts, and which rooms use most of it. */
export type Runway = AnswerOf<'GET /v1/billing/runway'>;

/** Name, address and tax id on statements. What is absent is not known. */
export type BillingDetails = AnswerOf<'GET /v1/billing/details'>;

/** Name, address and tax id to show on statements. What is absent is removed. */
export type NewBillingDetails = BodyOf<'PUT /v1/billing/details'>;

/** Where the days and months of a tenant begin. */
export type TimeZone = AnswerOf<'GET /v1/billing/time-zone'>;

/** Which rooms `runway` shows. */
export interface RunwayRequest {
  /** Those that used most in this window. Default: `24h`. */
  readonly window?: Runway['rooms']['window'] | undefined;
}

/** Which statement, and time limits. */
export interface StatementOptions extends CallOptions {
  /** Also for a month that is not over: up to now, and unsigned. */
  readonly soFar?: boolean | undefined;
}

/** A payment that was credited. */
export type Payment = AnswerOf<'GET /v1/payments'>['payments'][number];

/** Credit that the operator granted, and what is left of it. */
export type Grant = AnswerOf<'GET /v1/grants'>['grants'][number];

/** Pages of the payment provider. They expire after at most 30 days. */
export type Receipt = AnswerOf<'GET /v1/payments/{id}/receipt'>;

/** Which payments to list. */
export interface ListPaymentsRequest extends PageRequest {
  /** Only those credited at this time or later. */
  readonly from?: Date | undefined;
  /** Only those credited before this time. */
  readonly to?: Date | undefined;
}

/** Which grants to list. */
export interface ListGrantsRequest {
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
}

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

  /** How long the credit lasts at the rate of the last hour, day and week, and which rooms use most of it. */
  async runway({ window }: RunwayRequest = {}, options?: CallOptions): Promise<Runway> {
    return await this.#rest.call('GET /v1/billing/runway', { query: toQuery({ window }) }, options);
  }

  /** All entries of the ledger, newest first: one for each usage record and each other change. */
  ledger(request: ListLedgerRequest = {}, options?: CallOptions): Listing<ListedEntry> {
    const { kinds: kind, ...others } = request;
    return this.#rest.list('GET /v1/ledger', (page) => page.entries, { ...others, kind }, options);
  }

  /** The months in which the balance changed and that are over, newest first. */
  async statements(options?: CallOptions): Promise<ListedStatement[]> {
    return (await this.#rest.call('GET /v1/statements', {}, options)).statements;
  }

  /**
   * The statement of a month such as `2026-10`, UTC, also signed. Fails with `Precondition` until the month is
   * over, unless `soFar` is set, and with `NotFound` for one before the signup.
   */
  async statement(month: string, { soFar, ...options }: StatementOptions = {}): Promise<SignedStatement> {
    const given = { path: { month }, ...(soFar && { query: { soFar: 'true' } as const }) };
    return await this.#rest.call('GET /v1/statements/{month}', given, options);
  }

  /** The tenant's name, address and tax id, as statements show them from now on. */
  async details(options?: CallOptions): Promise<BillingDetails> {
    return await this.#rest.call('GET /v1/billing/details', {}, options);
  }

  /** Replace name, address and tax id. Statements of months that are over keep those that they had. */
  async setDetails(body: NewBillingDetails, options?: MutationOptions): Promise<BillingDetails> {
    return await this.#rest.call('PUT /v1/billing/details', { body }, options);
  }

  /** Where the tenant's days and months begin. */
  async timeZone(options?: CallOptions): Promise<TimeZone> {
    return await this.#rest.call('GET /v1/billing/time-zone', {}, options);
  }

  /** Set it by an IANA name, from the next month on or, before the first usage, from this one on. Months before keep theirs. */
  async setTimeZone(name: string, options?: MutationOptions): Promise<TimeZone> {
    return await this.#rest.call('PUT /v1/billing/time-zone', { body: { timeZone: name } }, options);
  }

  /** Payments that were credited, newest first: checkouts and automatic top-ups. */
  payments(request: ListPaymentsRequest = {}, options?: CallOptions): Listing<Payment> {
    return this.#rest.list('GET /v1/payments', (page) => page.payments, { ...request }, options);
  }

  /** Credit that the operator granted, newest first, with what is left of each grant. */
  grants(request: ListGrantsRequest = {}, options?: CallOptions): Listing<Grant> {
    return this.#rest.list('GET /v1/grants', (page) => page.grants, { ...request }, options);
  }

  /** The provider's receipt of a payment. */
  async receipt(id: string, options?: CallOptions): Promise<Receipt> {
    return await this.#rest.call('GET /v1/payments/{id}/receipt', { path: { id } }, options);
  }

  /** Open a payment page for credit: 1000 to 1000000 cents. */
  async checkout(
    body: BodyOf<'POST /v1/billing/checkout'>,
    options?: MutationOptions,
  ): Promise<AnswerOf<'POST /v1/billing/checkout'>> {
    return await this.#rest.call('POST /v1/billing/checkout', { body }, options);
  }

  /** Open the portal for receipts and saved cards. */
  async portal(options?: MutationOptions): Promise<AnswerOf<'POST /v1/billing/portal'>> {
    return await this.#rest.call('POST /v1/billing/portal', {}, options);
  }

  /** Charge the saved card whenever the balance falls below a threshold, or turn that off. */
  async setAutoTopUp(
    body: BodyOf<'PUT /v1/billing/auto-top-up'>,
    options?: MutationOptions,
  ): Promise<Tenant> {
    return await this.#rest.call('PUT /v1/billing/auto-top-up', { body }, options);
  }
}
