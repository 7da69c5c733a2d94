/**
 * Delivers to webhooks in lanes: each lane has a turn of one webhook at a time.
 *
 * PostgreSQL is the queue. A wake-up tells of tenants whose events have just got their numbers; a look at all tenants
 * every second finds what no wake-up told of, retries that are due, and leases of processes that died. A tenant has a
 * few lanes only, so its slow receivers do not delay the events of others.
 */
import { Lanes } from '../../base/lib/lanes.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { type DeliveryRules, deliverEvents, type Turn } from './deliver-events.ts';
import { RETRY_SCHEDULE } from './retry-schedule.ts';
import type { WebhookDeps } from './send-event.ts';
import { findDueWebhooks, findTenantsWithWebhooks, type WebhookName } from './webhook-cursors.sql.ts';

/** A lane that waits for a receiver holds no database connection. */
const LANES = 128;
const LANES_PER_TENANT = 4;
/** Concurrent statements of all lanes. */
const STATEMENTS = 4;
/** When the service stops, requests that are under way have so long to end. */
const STOP_MS = 5_000;

export const DELIVERY_RULES: DeliveryRules = { schedule: RETRY_SCHEDULE, leaseSeconds: 30, turnMs: 5_000 };

export class WebhookWorker {
  readonly #deps: WebhookDeps;
  readonly #turn: Turn;
  readonly #aborting = new AbortController();
  /** Tenants with webhooks, as of the last look at all. Others cost nothing. */
  #tenants: ReadonlySet<TenantId> = new Set();
  readonly #woken = new Set<TenantId>();
  /** Tenants that were woken during a turn, which may have read its last events before. */
  readonly #wokenMeanwhile = new Set<TenantId>();
  readonly #turns = new Map<TenantId, number>();
  readonly #running = new Set<Promise<void>>();
  /** Webhooks that are served here: their claims may not have been committed yet. */
  readonly #served = new Set<string>();
  #looking: Promise<void> | undefined;
  #isStopping = false;

  constructor(deps: WebhookDeps, rules: DeliveryRules = DELIVERY_RULES) {
    this.#deps = deps;
    const statements = new Lanes(STATEMENTS);
    this.#turn = {
      ...rules,
      signal: this.#aborting.signal,
      isStopping: () => this.#isStopping,
      inDatabase: (work) => statements.run(work),
    };
  }

  /** These tenants have new events. */
  wake(tenants: readonly TenantId[]): void {
    for (const tenant of tenants) if (this.#tenants.has(tenant)) this.#woken.add(tenant);
    this.#look();
  }

  /** Look at all tenants that have webhooks. */
  async lookAtAll(): Promise<void> {
    const tenants = await findTenantsWithWebhooks(this.#deps.db);
    this.#tenants = new Set(tenants);
    this.wake(tenants);
    await this.#looking;
  }

  /** Start no further turn. Resolves when those in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#looking;
    const timer = setTimeout(() => this.#aborting.abort(), STOP_MS);
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  #look(): void {
    if (this.#woken.size === 0 || this.#isStopping) return;
    this.#looking ??= this.#startTurns()
      .catch((error) => this.#deps.log.error({ err: error }, 'looking at webhooks failed'))
      .finally(() => {
        this.#looking = undefined;
        if (this.#nextTenants().length > 0) this.#look();
      });
  }

  async #startTurns(): Promise<void> {
    for (;;) {
      const tenants = this.#nextTenants();
      if (tenants.length === 0) return;
      for (const tenant of tenants) {
        this.#woken.delete(tenant);
        if (this.#turns.has(tenant)) this.#wokenMeanwhile.add(tenant);
      }
      const due = await findDueWebhooks(this.#deps.db, tenants, LANES);
      for (const webhook of due) this.#startTurn(webhook);
    }
  }

  /** Tenants that use all their lanes are looked at when one of these turns ends. */
  #nextTenants(): TenantId[] {
    if (this.#running.size >= LANES || this.#isStopping) return [];
    return [...this.#woken].filter((tenant) => this.#mayServe(tenant));
  }

  #mayServe(tenant: TenantId): boolean {
    return (this.#turns.get(tenant) ?? 0) < LANES_PER_TENANT;
  }

  #startTurn(webhook: WebhookName): void {
    const { tenant, id } = webhook;
    if (this.#served.has(id)) return;
    if (this.#running.size >= LANES || !this.#mayServe(tenant)) {
      this.#woken.add(tenant);
      return;
    }
    this.#served.add(id);
    this.#turns.set(tenant, (this.#turns.get(tenant) ?? 0) + 1);
    const running = this.#serve(webhook).finally(() => {
      this.#running.delete(running);
      this.#served.delete(id);
      const left = this.#turns.get(tenant)! - 1;
      if (left > 0) this.#turns.set(tenant, left);
      else this.#turns.delete(tenant);
      if (this.#wokenMeanwhile.delete(tenant)) this.#woken.add(tenant);
      this.#look();
    });
    this.#running.add(running);
  }

  async #serve(webhook: WebhookName): Promise<void> {
    const { tenant, id } = webhook;
    try {
      if (await deliverEvents(this.#deps, webhook, this.#turn)) this.#woken.add(tenant);
    } catch (error) {
      this.#deps.log.error(
        { err: error, tenant: renderTenantId(tenant), webhook: id },
        'a turn of a webhook failed',
      );
    }
  }
}
