/** Turns of tenants in a job that goes through all that have something to do. */
import type { BaseDeps } from '../deps.ts';
import { renderTenantId, type TenantId } from './tenant.ts';
import { retryAfterSeconds } from './turn-backoff.ts';

/**
 * A tenant whose turn fails is left out for a while, each time longer, so that it does not hold back the others. This process
 * remembers it: another one tries by itself.
 */
export class TenantTurns {
  readonly #log: BaseDeps['log'];
  readonly #job: string;
  readonly #failed = new Map<TenantId, { readonly failures: number; readonly retryAt: number }>();

  /** `job`: its name in the log. */
  constructor(log: BaseDeps['log'], job: string) {
    this.#log = log;
    this.#job = job;
  }

  /** The tenants that are left out now. */
  leftOut(): TenantId[] {
    const now = performance.now();
    return [...this.#failed].flatMap(([tenant, { retryAt }]) => (retryAt > now ? [tenant] : []));
  }

  /** Returns what the turn returns; `undefined` if it fails. */
  async take<T>(tenant: TenantId, turn: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await turn();
      this.#failed.delete(tenant);
      return done;
    } catch (err) {
      const failures = 1 + (this.#failed.get(tenant)?.failures ?? 0);
      const retryAt = performance.now() + retryAfterSeconds(failures) * 1000;
      this.#failed.set(tenant, { failures, retryAt });
      this.#log.error(
        { err, tenant: renderTenantId(tenant), failures },
        `${this.#job} failed; it is tried again`,
      );
      return undefined;
    }
  }
}
