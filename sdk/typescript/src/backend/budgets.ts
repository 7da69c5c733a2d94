/** Budgets: what may be spent at most. */
import type { CallOptions, MutationOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';

/** A budget, with what is spent and held of it. */
export type Budget = AnswerOf<'GET /v1/budgets/{id}'>;

/** A budget to make or change. */
export interface WantedBudget extends BodyOf<'PUT /v1/budgets/{id}'> {
  /** The id, which you choose. */
  readonly id: string;
}

/** Budgets of the tenant: `boxoffice.budgets`. */
export class Budgets {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** All budgets, in the order of their ids. */
  async list(options?: CallOptions): Promise<Budget[]> {
    return (await this.#rest.call('GET /v1/budgets', {}, options)).budgets;
  }

  /** One budget. */
  async get(id: string, options?: CallOptions): Promise<Budget> {
    return await this.#rest.call('GET /v1/budgets/{id}', { path: { id } }, options);
  }

  /**
   * Make a budget, or change its limit, its kind and its percentages. It is in force with the next token. Of one that exists, what it
   * is of and its period cannot be changed.
   */
  async set({ id, ...body }: WantedBudget, options?: MutationOptions): Promise<Budget> {
    return await this.#rest.call('PUT /v1/budgets/{id}', { path: { id }, body }, options);
  }

  /** Delete a budget: with the next token, it refuses nothing more. */
  async delete(id: string, options?: MutationOptions): Promise<void> {
    await this.#rest.call('DELETE /v1/budgets/{id}', { path: { id } }, options);
  }
}
