/**
 * Delivers to webhooks in lanes: each place of a lane has a turn of one webhook at a time.
 *
 * PostgreSQL is the queue. A wake-up tells of tenants whose events have just got their numbers; a look at all tenants
 * every second finds what no wake-up told of, retries that are due, and leases of processes that are gone. What is found
 * waits here for a place of its lane, for a second at most: the next look finds it again.
 */
import type { LeaseHolder } from '../../base/processes/own-process.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { deliverEvents } from './deliver-events.ts';
import { LANES, type Lane } from './delivery-lane.ts';
import { DeliveryPlaces, type Place } from './delivery-places.ts';
import type { DeliveryRules, RequestPlace, Turn } from './delivery-turn.ts';
import { laneStatements } from './lane-statements.ts';
import { RETRY_SCHEDULE } from './retry-schedule.ts';
import type { WebhookDeps } from './send-message.ts';
import { type DueWebhook, findDueWebhooks, findTenantsWithWebhooks } from './webhook-cursors.sql.ts';

/** In each lane. More than get a place until the next look. */
const WAITING_MAX = 256;
/** When the service stops, requests that are under way have so long to end. */
const STOP_MS = 5_000;

const DELIVERY_RULES: DeliveryRules = { schedule: RETRY_SCHEDULE, leaseSeconds: 30, turnMs: 5_000 };

export class WebhookWorker {
  readonly #deps: WebhookDeps;
  readonly #process: LeaseHolder;
  readonly #rules: DeliveryRules;
  readonly #places: DeliveryPlaces;
  readonly #statements = laneStatements();
  /** Tenants with webhooks, as of the last look at all. Others cost nothing. */
  #tenants: ReadonlySet<TenantId> = new Set();
  readonly #woken = new Set<TenantId>();
  /** Tenants that were woken during a turn, which may have read its last events before. */
  readonly #wokenMeanwhile = new Set<TenantId>();
  readonly #turns = new Map<TenantId, number>();
  readonly #running = new Set<Promise<void>>();
  /** Webhooks that are served here: their claims may not have been committed yet. */
  readonly #served = new Set<string>();
  /** Requests that have outlived the turns of their webhooks. */
  readonly #left = new Map<string, number>();
  /** Due webhooks without a place, by their ids. */
  readonly #waiting = Object.fromEntries(LANES.map((lane) => [lane, new Map()])) as Readonly<
    Record<Lane, Map<string, DueWebhook>>
  >;
  #looking: Promise<void> | undefined;
  #isStopping = false;

  constructor(deps: WebhookDeps, process: LeaseHolder, rules: DeliveryRules = DELIVERY_RULES) {
    this.#deps = deps;
    this.#process = process;
    this.#rules = rules;
    this.#places = new DeliveryPlaces(deps.metrics.webhookCuts, (lane) => this.#startTurns(lane));
    deps.metrics.watchWebhookLanes(() =>
      LANES.map((lane) => ({ lane, taken: this.#places.taken(lane), waiting: this.#waiting[lane].size })),
    );
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
    for (const lane of LANES) this.#waiting[lane].clear();
    this.wake(tenants);
    await this.#looking;
  }

  /** End all requests: this process has lost its leases, and others may send the same events. */
  loseLeases(): void {
    this.#places.abortAll();
  }

  /** Start no further turn. Resolves when those in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#looking;
    const timer = setTimeout(() => this.#places.abortAll(), STOP_MS);
    // A turn that ends may leave requests.
    while (this.#running.size > 0) await Promise.all(this.#running);
    clearTimeout(timer);
  }

  #mayStart(): boolean {
    return !this.#isStopping && this.#process.isAlive();
  }

  #look(): void {
    if (this.#woken.size === 0 || !this.#mayStart()) return;
    this.#looking ??= this.#findDue()
      .catch((error) => this.#deps.log.error({ err: error }, 'looking at webhooks failed'))
      .finally(() => {
        this.#looking = undefined;
        this.#look();
      });
  }

  async #findDue(): Promise<void> {
    const tenants = [...this.#woken];
    this.#woken.clear();
    for (const tenant of tenants) if (this.#turns.has(tenant)) this.#wokenMeanwhile.add(tenant);
    const options = { limit: WAITING_MAX, gone: this.#process.gone };
    for (const webhook of await findDueWebhooks(this.#deps.db, tenants, options)) {
      const waiting = this.#waiting[webhook.lane];
      if (waiting.size < WAITING_MAX && !this.#served.has(webhook.id)) waiting.set(webhook.id, webhook);
    }
    for (const lane of LANES) this.#startTurns(lane);
  }

  #startTurns(lane: Lane): void {
    const waiting = this.#waiting[lane];
    while (waiting.size > 0 && this.#mayStart()) {
      const next = this.#places.takeNext(lane, waiting.values());
      if (!next) return;
      waiting.delete(next.seeker.id);
      this.#startTurn(next.seeker, next.place);
    }
  }

  #startTurn(webhook: DueWebhook, place: Place): void {
    const { tenant, id } = webhook;
    this.#served.add(id);
    this.#turns.set(tenant, (this.#turns.get(tenant) ?? 0) + 1);
    const running = this.#serve(webhook, place).finally(() => {
      this.#running.delete(running);
      this.#served.delete(id);
      const left = this.#turns.get(tenant)! - 1;
      if (left > 0) this.#turns.set(tenant, left);
      else this.#turns.delete(tenant);
      if (this.#wokenMeanwhile.delete(tenant)) this.#woken.add(tenant);
      this.#places.release(place);
      this.#look();
    });
    this.#running.add(running);
  }

  async #serve(webhook: DueWebhook, place: Place): Promise<void> {
    const { tenant, id } = webhook;
    try {
      if (await deliverEvents(this.#deps, webhook, this.#turnOf(webhook, place))) this.#woken.add(tenant);
    } catch (error) {
      this.#deps.log.error(
        { err: error, tenant: renderTenantId(tenant), webhook: id },
        'a turn of a webhook failed',
      );
    }
  }

  #turnOf({ tenant, id }: DueWebhook, place: Place): Turn {
    const { lane } = place;
    const isWanted = () => this.#waiting[place.lane].size > 0;
    return {
      ...this.#rules,
      process: this.#process,
      place: this.#requestPlace(place),
      takePlace: () => {
        // One more request takes no place that others wait for.
        const more = isWanted() || place.isLeft ? undefined : this.#places.takeFree(tenant, lane);
        return more && this.#requestPlace(more);
      },
      left: () => this.#left.get(id) ?? 0,
      leave: (request) => this.#leave(id, request),
      isEnding: () => place.isLeft || place.isAborted || !this.#mayStart(),
      isWanted,
      inDatabase: (work) => this.#statements[place.lane](work),
    };
  }

  #requestPlace(place: Place): RequestPlace {
    return {
      during: (send) => this.#places.during(place, send),
      isAborted: () => place.isAborted,
      release: () => this.#places.release(place),
    };
  }

  #leave(id: string, request: Promise<void>): void {
    this.#left.set(id, (this.#left.get(id) ?? 0) + 1);
    const running = request.finally(() => {
      this.#running.delete(running);
      const others = this.#left.get(id)! - 1;
      if (others > 0) this.#left.set(id, others);
      else this.#left.delete(id);
    });
    this.#running.add(running);
  }
}
