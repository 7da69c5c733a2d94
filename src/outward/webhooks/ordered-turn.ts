/**
 * A turn of a webhook that gets events in the order of the tenant's log, one at a time.
 *
 * The next request is signed while the one before is under way, and sent once that is noted. Events that were put aside
 * under another order come first, the oldest first.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { wantedTypes } from '../events/event-catalogue.ts';
import { listPublicEvents } from '../events/public-events.sql.ts';
import type { ClaimedWebhook } from './claimed-webhook.ts';
import { composeEvent } from './compose-event.ts';
import { isDelivered } from './delivery.ts';
import { standingAfter } from './delivery-lane.ts';
import { DeliveryPace } from './delivery-pace.ts';
import type { Turn, TurnEnd } from './delivery-turn.ts';
import { giveUp } from './give-up.ts';
import { waitAfter } from './retry-schedule.ts';
import {
  type Message,
  type Sent,
  type SignedMessage,
  sendSigned,
  signEvent,
  type WebhookDeps,
} from './send-event.ts';
import { pauserAfter, tellPaused } from './tell-paused.ts';
import { failDelivery, finishDelivery, moveWebhook } from './webhook-cursors.sql.ts';
import {
  type AsideOutcomes,
  findOldestWaiting,
  lockCursor,
  NO_OUTCOMES,
  noteAside,
  type WaitingEvent,
} from './webhook-waiting.sql.ts';

/** Small, because a page is in memory until its last event is delivered. */
const EVENTS_AT_ONCE = 20;
/** How often a turn looks whether others want its place while it waits. */
const WAIT_MS = 250;

export class OrderedTurn {
  readonly #deps: WebhookDeps;
  readonly #webhook: ClaimedWebhook;
  readonly #turn: Turn;
  readonly #keys: readonly Uint8Array[];
  readonly #endAt: number;
  readonly #pace: DeliveryPace;
  #hasDelivered = false;
  #seq: bigint;
  #skipped: bigint;
  #failures: number;
  #standing: number;

  constructor(deps: WebhookDeps, webhook: ClaimedWebhook, turn: Turn, keys: readonly Uint8Array[]) {
    this.#deps = deps;
    this.#webhook = webhook;
    this.#turn = turn;
    this.#keys = keys;
    this.#endAt = performance.now() + turn.turnMs;
    this.#pace = new DeliveryPace(webhook.maxPerSecond, webhook.idleSeconds);
    this.#seq = webhook.seq;
    this.#skipped = webhook.skipped;
    this.#failures = webhook.failures;
    this.#standing = webhook.standing;
  }

  async run(): Promise<TurnEnd> {
    return (await this.#deliverWaiting()) ?? this.#deliverLog();
  }

  async #deliverLog(): Promise<TurnEnd> {
    const { tenant, types } = this.#webhook;
    const wanted = { types: wantedTypes(types), limit: EVENTS_AT_ONCE };
    for (;;) {
      const after = this.#seq;
      const page = await this.#inDatabase(() =>
        listPublicEvents(this.#deps.db, tenant, { ...wanted, after }),
      );
      if (page.keptAfter > after) {
        if (!(await this.#skipTo(page.keptAfter))) return 'more';
        continue;
      }
      const end = await this.#deliverPage(page.events);
      if (end !== undefined) return end;
      if (page.reached > this.#seq && !(await this.#moveTo(page.reached))) return 'more';
      if (page.reached >= page.lastSeq) return 'nothing';
    }
  }

  /** `undefined`: the turn goes on. */
  async #deliverPage(events: readonly LoggedEvent[]): Promise<TurnEnd | undefined> {
    let next = events[0] && this.#sign(events[0], this.#failures + 1, this.#skipped);
    for (const [at, event] of events.entries()) {
      const end = await this.#waitForPace();
      if (end !== undefined) return end;
      const sending = this.#send(next!);
      const following = events[at + 1];
      next = following && this.#sign(following, 1, 0n);
      const sent = await sending;
      if (!sent) return 'more';
      if (!isDelivered(sent.delivery)) return this.#fail(sent);
      if (!(await this.#finish(event, sent))) return 'more';
    }
    return undefined;
  }

  #sign(
    event: LoggedEvent,
    attempt: number,
    skipped: bigint,
    kind: Message['kind'] = 'event',
  ): SignedMessage {
    return signEvent(this.#keys, composeEvent(this.#webhook.tenant, event, { kind, attempt, skipped }));
  }

  /** `undefined`: the outcome does not count. */
  async #send(signed: SignedMessage): Promise<Sent | undefined> {
    const { place } = this.#turn;
    this.#pace.begin();
    const sent = await place.during((signal) => sendSigned(this.#deps, this.#webhook, signed, signal));
    const { latencyMs } = sent.delivery;
    const hasDelivered = isDelivered(sent.delivery);
    if (!hasDelivered && place.isAborted()) return undefined;
    this.#standing = standingAfter(this.#standing, { isDelivered: hasDelivered, latencyMs });
    if (hasDelivered) this.#hasDelivered = true;
    return sent;
  }

  async #finish({ seq }: LoggedEvent, { delivery }: Sent): Promise<boolean> {
    const move = { ...this.#move(seq), skipped: -this.#skipped };
    const goesOn = await this.#inDatabase(() => finishDelivery(this.#deps.db, this.#webhook, move, delivery));
    this.#seq = seq;
    this.#skipped = 0n;
    this.#failures = 0;
    return goesOn;
  }

  /** Puts the next attempt off, or pauses the webhook and appends the event of that. */
  async #fail(sent: Sent): Promise<TurnEnd> {
    const { delivery } = sent;
    const waitSeconds = waitAfter(this.#turn.schedule, sent);
    const pausedBy = pauserAfter(delivery);
    const failing = { seq: this.#seq, waitSeconds, pausedBy, standing: this.#standing };
    const isPaused = await this.#inDatabase(() =>
      inTransaction(this.#deps.db, async (tx) => {
        const pauses = await failDelivery(tx, this.#webhook, failing, delivery);
        if (pauses) await tellPaused(tx, this.#webhook, pausedBy, delivery);
        return pauses;
      }),
    );
    if (isPaused) this.#deps.events.wake(this.#webhook.tenant);
    return 'released';
  }

  /** Delivers those that were put aside under another order, the oldest first. `undefined`: there are no more. */
  async #deliverWaiting(): Promise<TurnEnd | undefined> {
    if (!this.#webhook.hasWaiting) return undefined;
    const types = new Set(wantedTypes(this.#webhook.types));
    for (;;) {
      const oldest = await this.#inDatabase(() => findOldestWaiting(this.#deps.db, this.#webhook));
      if (!oldest) return undefined;
      const { event } = oldest;
      const end =
        event && types.has(event.type) ? await this.#sendWaiting(oldest, event) : await this.#drop(oldest);
      if (end !== undefined) return end;
    }
  }

  async #sendWaiting({ seq, failures }: WaitingEvent, event: LoggedEvent): Promise<TurnEnd | undefined> {
    const end = await this.#waitForPace();
    if (end !== undefined) return end;
    const sent = await this.#send(this.#sign(event, failures + 1, 0n, 'aside'));
    if (!sent) return 'more';
    const { delivery } = sent;
    if (isDelivered(delivery)) {
      this.#failures = 0;
      return this.#note({ ended: [seq], deliveries: [delivery], hasDelivered: true });
    }
    this.#failures += 1;
    const waitSeconds = waitAfter(this.#turn.schedule, sent);
    if (waitSeconds === undefined) {
      const last = { seq, failures, delivery };
      await this.#inDatabase(() => giveUp(this.#deps, this.#webhook, last, this.#state()));
      return 'more';
    }
    const failed = [{ seq, failures, waitSeconds, isUnderWay: false }];
    return (await this.#note({ failed, deliveries: [delivery] })) ?? { restSeconds: waitSeconds };
  }

  /** It is deleted, or not wanted any more. */
  #drop({ seq, event }: WaitingEvent): Promise<TurnEnd | undefined> {
    const skipped = event === null ? 1n : 0n;
    this.#skipped += skipped;
    return this.#note({ ended: [seq], skipped });
  }

  /** `undefined`: the turn goes on. */
  async #note(outcomes: Partial<AsideOutcomes>): Promise<TurnEnd | undefined> {
    const noted = { ...NO_OUTCOMES, ...this.#state(), ...outcomes };
    const { isSame } = await this.#inDatabase(() =>
      inTransaction(this.#deps.db, (tx) => noteAside(tx, this.#webhook, noted), {
        first: [lockCursor(this.#webhook)],
      }),
    );
    return isSame ? undefined : 'more';
  }

  #state() {
    const { leaseSeconds } = this.#turn;
    return { failures: this.#failures, standing: this.#standing, leaseSeconds };
  }

  /** Until the next request may begin. `undefined`: it may. */
  async #waitForPace(): Promise<TurnEnd | undefined> {
    for (;;) {
      if (this.#isOver()) return 'more';
      const waitMs = this.#pace.waitMs();
      if (waitMs === 0) return undefined;
      // The place is for others meanwhile.
      if (this.#turn.isWanted()) return { restSeconds: waitMs / 1_000 };
      await new Promise((resolve) => setTimeout(resolve, Math.ceil(Math.min(waitMs, WAIT_MS))));
    }
  }

  #isOver(): boolean {
    const { isEnding, isWanted } = this.#turn;
    return isEnding() || performance.now() > this.#endAt || (this.#hasDelivered && isWanted());
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

  #inDatabase<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn.inDatabase(work);
  }
}
