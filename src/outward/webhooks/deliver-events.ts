/**
 * One turn of a webhook: deliver its next events, in order and one at a time.
 *
 * No transaction is open during a request. The lease keeps other processes away; each delivery renews it, and the place
 * moves only from where this turn has seen it. A process that dies leaves a lease that is free once the others know that
 * it is gone: the event that was under way is then sent again.
 */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { newId } from '../../base/lib/ids.ts';
import type { LeaseHolder } from '../../base/processes/own-process.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { wantedTypes } from '../events/event-catalogue.ts';
import { publicEventId, renderPublicEvent } from '../events/public-event.ts';
import { listPublicEvents } from '../events/public-events.sql.ts';
import { isDelivered } from './delivery.ts';
import { standingAfter } from './delivery-lane.ts';
import { GONE, type RetrySchedule, retryWaitSeconds } from './retry-schedule.ts';
import { type Message, openSecrets, type Sent, sendEvent, type WebhookDeps } from './send-event.ts';
import { pausedEntry } from './webhook-audit.ts';
import {
  type ClaimedWebhook,
  claimWebhook,
  failDelivery,
  finishDelivery,
  moveWebhook,
  releaseWebhook,
  type WebhookName,
} from './webhook-cursors.sql.ts';
import { webhookPaused } from './webhook-events.ts';
import { findSecrets } from './webhooks.sql.ts';

const WEBHOOKS: Actor = { kind: 'system', id: 'webhooks' };

/** Small, because a page is in memory until its last event is delivered. */
const EVENTS_AT_ONCE = 20;

export interface DeliveryRules {
  readonly schedule: RetrySchedule;
  /** Longer than one request may take. */
  readonly leaseSeconds: number;
  /** How long a turn may take before another webhook gets the lane. */
  readonly turnMs: number;
}

export interface Turn extends DeliveryRules {
  /** Whose leases it takes. */
  readonly process: LeaseHolder;
  /** Sends one request in the place of the turn, which may end it by the signal. */
  readonly during: <T>(send: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Whether the service itself has ended the request that was under way, so that its outcome does not count. */
  readonly isAborted: () => boolean;
  /** Whether to end the turn after the request that is under way. */
  readonly isEnding: () => boolean;
  /** Whether another webhook waits for the place, so that the turn should end after a delivery. */
  readonly isWanted: () => boolean;
  /** Runs the statements of all turns, so that they do not take every database connection. */
  readonly inDatabase: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Deliver until nothing waits, a delivery fails, or the time of the turn is over. Returns whether events may still wait. */
export async function deliverEvents(deps: WebhookDeps, name: WebhookName, turn: Turn): Promise<boolean> {
  const { leaseSeconds, inDatabase } = turn;
  const { id: holder, gone } = turn.process;
  const claim = { lease: newId('le'), leaseSeconds, holder, gone };
  const claimed = await inDatabase(() => claimWebhook(deps.db, name, claim));
  if (!claimed) return false;
  let isHeld = true;
  try {
    const left = await new WebhookTurn(deps, claimed, turn).run();
    isHeld = left !== 'failed';
    return left === 'more';
  } finally {
    if (isHeld) await inDatabase(() => releaseWebhook(deps.db, claimed));
  }
}

/** `failed`: the lease has been given up. */
type Left = 'nothing' | 'more' | 'failed';

class WebhookTurn {
  readonly #deps: WebhookDeps;
  readonly #webhook: ClaimedWebhook;
  readonly #turn: Turn;
  readonly #endAt: number;
  #hasDelivered = false;
  #seq: bigint;
  #skipped: bigint;
  #failures: number;
  #standing: number;

  constructor(deps: WebhookDeps, webhook: ClaimedWebhook, turn: Turn) {
    this.#deps = deps;
    this.#webhook = webhook;
    this.#turn = turn;
    this.#endAt = performance.now() + turn.turnMs;
    this.#seq = webhook.seq;
    this.#skipped = webhook.skipped;
    this.#failures = webhook.failures;
    this.#standing = webhook.standing;
  }

  async run(): Promise<Left> {
    const { tenant, id, types } = this.#webhook;
    const { db } = this.#deps;
    const wanted = { types: wantedTypes(types), limit: EVENTS_AT_ONCE };
    const keys = openSecrets(
      this.#deps,
      tenant,
      id,
      await this.#inDatabase(() => findSecrets(db, tenant, id)),
    );
    for (;;) {
      const after = this.#seq;
      const page = await this.#inDatabase(() => listPublicEvents(db, tenant, { ...wanted, after }));
      if (page.keptAfter > after) {
        if (!(await this.#skipTo(page.keptAfter))) return 'more';
        continue;
      }
      for (const event of page.events) {
        if (this.#isOver()) return 'more';
        const left = await this.#deliver(event, keys);
        if (left !== undefined) return left;
      }
      if (page.reached > this.#seq && !(await this.#moveTo(page.reached))) return 'more';
      if (page.reached >= page.lastSeq) return 'nothing';
    }
  }

  #inDatabase<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn.inDatabase(work);
  }

  #isOver(): boolean {
    const { isEnding, isWanted } = this.#turn;
    return isEnding() || performance.now() > this.#endAt || (this.#hasDelivered && isWanted());
  }

  /** `undefined`: the turn goes on. */
  async #deliver(event: LoggedEvent, keys: readonly Uint8Array[]): Promise<Left | undefined> {
    const { tenant, url } = this.#webhook;
    const skipped = this.#skipped;
    const message: Omit<Message, 'signedAt'> = {
      kind: 'event',
      eventId: publicEventId(tenant, event),
      seq: event.seq,
      type: event.type,
      attempt: this.#failures + 1,
      body: renderPublicEvent(tenant, event, skipped),
      skipped,
    };
    const sent = await this.#turn.during((signal) =>
      sendEvent(this.#deps, { tenant, url }, keys, { ...message, signedAt: new Date() }, signal),
    );
    const hasDelivered = isDelivered(sent.delivery);
    if (!hasDelivered && this.#turn.isAborted()) return 'more';
    const { latencyMs } = sent.delivery;
    this.#standing = standingAfter(this.#standing, { isDelivered: hasDelivered, latencyMs });
    if (!hasDelivered) return this.#fail(sent);
    const move = { ...this.#move(event.seq), skipped: -skipped };
    const goesOn = await this.#inDatabase(() =>
      finishDelivery(this.#deps.db, this.#webhook, move, sent.delivery),
    );
    this.#seq = event.seq;
    this.#skipped = 0n;
    this.#failures = 0;
    this.#hasDelivered = true;
    return goesOn ? undefined : 'more';
  }

  /** Puts the next attempt off, or pauses the webhook and appends the event of that. */
  async #fail({ delivery, outcome }: Sent): Promise<Left> {
    const { tenant } = this.#webhook;
    const isGone = delivery.status === GONE;
    const retryAfterSeconds = outcome.kind === 'answered' ? outcome.retryAfterSeconds : undefined;
    const waitSeconds = isGone
      ? undefined
      : retryWaitSeconds(this.#turn.schedule, delivery.attempt, {
          ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        });
    const pausedBy = isGone ? ('gone' as const) : ('failing' as const);
    const failing = { seq: this.#seq, waitSeconds, pausedBy, standing: this.#standing };
    const isPaused = await this.#inDatabase(() =>
      inTransaction(this.#deps.db, async (tx) => {
        const pauses = await failDelivery(tx, this.#webhook, failing, delivery);
        if (!pauses) return false;
        await appendAudit(tx, tenant, WEBHOOKS, pausedEntry(this.#webhook.id, pausedBy));
        await appendEvents(tx, tenant, [webhookPaused(this.#webhook, pausedBy, delivery)]);
        return true;
      }),
    );
    if (isPaused) this.#deps.events.wake(tenant);
    return 'failed';
  }

  /** No event is wanted up to `to`. Returns whether the turn goes on. */
  async #moveTo(to: bigint): Promise<boolean> {
    const goesOn = await this.#inDatabase(() => moveWebhook(this.#deps.db, this.#webhook, this.#move(to)));
    this.#seq = to;
    this.#failures = 0;
    return goesOn && !this.#isOver();
  }

  /** The events up to `to` were deleted: the next delivery tells how many. */
  async #skipTo(to: bigint): Promise<boolean> {
    const skipped = to - this.#seq;
    const move = { ...this.#move(to), skipped };
    const goesOn = await this.#inDatabase(() => moveWebhook(this.#deps.db, this.#webhook, move));
    this.#seq = to;
    this.#skipped += skipped;
    this.#failures = 0;
    return goesOn;
  }

  #move(to: bigint) {
    const { leaseSeconds } = this.#turn;
    return { from: this.#seq, to, skipped: 0n, leaseSeconds, standing: this.#standing };
  }
}
