/**
 * A turn of a webhook that gets events in the order of the tenant's log, one request at a time.
 *
 * The next request is signed while the one before is under way, and sent once that is noted: after a kill only the last one comes
 * again. After a failure a request has one event, and the next ones twice as many each time, so that an event that is refused does
 * not hold those before it. Events that were put aside under another order come first, the oldest first.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { listPublicEvents } from '../events/public-events.sql.ts';
import type { ServedWebhook } from './claimed-webhook.ts';
import { composeMessage, type SentAs } from './compose-message.ts';
import { isDelivered, type NewDelivery } from './delivery.ts';
import { standingAfter } from './delivery-lane.ts';
import { DeliveryPace } from './delivery-pace.ts';
import type { Turn, TurnEnd } from './delivery-turn.ts';
import { giveUp } from './give-up.ts';
import { waitAfter } from './retry-schedule.ts';
import {
  type AllSent,
  type SignedMessage,
  sendSigned,
  signMessage,
  type WebhookDeps,
} from './send-message.ts';
import { pauserAfter, tellPaused } from './tell-paused.ts';
import { isWanted, wantedEvents } from './wanted-events.ts';
import { takeList } from './webhook-body.ts';
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

/** The next request. */
interface Request {
  /** The number of its last event. */
  readonly to: bigint;
  /** How many events of the page are before the one after it. */
  readonly taken: number;
  readonly signed: SignedMessage;
}

export class OrderedTurn {
  readonly #deps: WebhookDeps;
  readonly #webhook: ServedWebhook;
  readonly #turn: Turn;
  readonly #keys: readonly Uint8Array[];
  readonly #endAt: number;
  readonly #pace: DeliveryPace;
  #hasDelivered = false;
  #seq: bigint;
  #skipped: bigint;
  #failures: number;
  #standing: number;
  /** Events in the next request, at most. */
  #batch: number;

  constructor(deps: WebhookDeps, webhook: ServedWebhook, turn: Turn, keys: readonly Uint8Array[]) {
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
    this.#batch = webhook.failures > 0 ? 1 : webhook.maxBatch;
  }

  async run(): Promise<TurnEnd> {
    return (await this.#deliverWaiting()) ?? this.#deliverLog();
  }

  async #deliverLog(): Promise<TurnEnd> {
    const { tenant, maxBatch } = this.#webhook;
    const wanted = { ...wantedEvents(this.#webhook), limit: Math.max(EVENTS_AT_ONCE, maxBatch) };
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
    let next = this.#take(events, 0, { attempt: this.#failures + 1, skipped: this.#skipped });
    while (next) {
      const end = await this.#waitForPace();
      if (end !== undefined) return end;
      const { to, taken, signed } = next;
      const sending = this.#send(signed);
      next = this.#take(events, taken, { attempt: 1 });
      const sent = await sending;
      if (!sent) return 'more';
      if (!isDelivered(sent[0].delivery)) return this.#fail(sent);
      if (!(await this.#finish(to, sent))) return 'more';
    }
    return undefined;
  }

  /** The request with the events from `at` on. `taken`: where the one after it begins. `undefined`: there are none. */
  #take(events: readonly LoggedEvent[], at: number, as: Omit<SentAs, 'kind'>): Request | undefined {
    const batch = takeList(events.slice(at), this.#batch);
    if (batch.length === 0) return undefined;
    this.#batch = Math.min(2 * this.#batch, this.#webhook.maxBatch);
    const signed = this.#sign(batch, { kind: 'event', ...as });
    return { to: batch.at(-1)!.seq, taken: at + batch.length, signed };
  }

  #sign(events: readonly LoggedEvent[], as: SentAs): SignedMessage {
    return signMessage(this.#keys, composeMessage(this.#webhook, events, as));
  }

  /** `undefined`: the outcome does not count. */
  async #send(signed: SignedMessage): Promise<AllSent | undefined> {
    const { place } = this.#turn;
    this.#pace.begin();
    const sent = await place.during((signal) => sendSigned(this.#deps, this.#webhook, signed, signal));
    const [{ delivery }] = sent;
    const hasDelivered = isDelivered(delivery);
    if (!hasDelivered && place.isAborted()) return undefined;
    const { latencyMs } = delivery;
    this.#standing = standingAfter(this.#standing, { isDelivered: hasDelivered, latencyMs });
    if (hasDelivered) this.#hasDelivered = true;
    return sent;
  }

  /** Notes that the events up to `to` were accepted. Returns whether the turn goes on. */
  async #finish(to: bigint, sent: AllSent): Promise<boolean> {
    const move = { ...this.#move(to), skipped: -this.#skipped };
    const deliveries = sent.map(({ delivery }) => delivery);
    const goesOn = await this.#inDatabase(() =>
      finishDelivery(this.#deps.db, this.#webhook, move, deliveries),
    );
    this.#seq = to;
    this.#skipped = 0n;
    this.#failures = 0;
    return goesOn;
  }

  /** Puts the next attempt off, or pauses the webhook and appends the event of that. */
  async #fail(sent: AllSent): Promise<TurnEnd> {
    const deliveries = sent.map(({ delivery }) => delivery);
    const [delivery] = deliveries as [NewDelivery];
    const waitSeconds = waitAfter(this.#turn.schedule, sent[0]);
    const pausedBy = pauserAfter(delivery);
    const failing = { seq: this.#seq, waitSeconds, pausedBy, standing: this.#standing };
    const isPaused = await this.#inDatabase(() =>
      inTransaction(this.#deps.db, async (tx) => {
        const pauses = await failDelivery(tx, this.#webhook, failing, deliveries);
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
    const wanted = wantedEvents(this.#webhook);
    for (;;) {
      const oldest = await this.#inDatabase(() => findOldestWaiting(this.#deps.db, this.#webhook));
      if (!oldest) return undefined;
      const { event } = oldest;
      const end =
        event && isWanted(wanted, event) ? await this.#sendWaiting(oldest, event) : await this.#drop(oldest);
      if (end !== undefined) return end;
    }
  }

  async #sendWaiting({ seq, failures }: WaitingEvent, event: LoggedEvent): Promise<TurnEnd | undefined> {
    const end = await this.#waitForPace();
    if (end !== undefined) return end;
    const all = await this.#send(this.#sign([event], { kind: 'aside', attempt: failures + 1 }));
    if (!all) return 'more';
    const [sent] = all;
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
