/**
 * A turn of a webhook whose events are sent side by side: of all rooms, or in no order.
 *
 * The place in the log is moved past what was delivered. An event that fails is put aside, and so is one whose request
 * takes more than a second while that is under way: neither keeps the place from moving on. What is known only here is
 * bounded by the window: a process that dies sends those events again.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { listPublicEvents } from '../events/public-events.sql.ts';
import type { ServedWebhook } from './claimed-webhook.ts';
import { composeMessage } from './compose-message.ts';
import { isDelivered, type NewDelivery } from './delivery.ts';
import { laneOf, SLOW_MS, standingAfter } from './delivery-lane.ts';
import { DeliveryPace } from './delivery-pace.ts';
import type { RequestPlace, Turn, TurnEnd } from './delivery-turn.ts';
import { DeliveryWindow, WINDOW_MAX } from './delivery-window.ts';
import { giveUp, type LastAttempt } from './give-up.ts';
import { RESTS_AFTER, restSeconds, waitAfter } from './retry-schedule.ts';
import { type AllSent, type Sent, sendMessage, type WebhookDeps } from './send-message.ts';
import { isWanted, wantedEvents } from './wanted-events.ts';
import { WAITING_MAX } from './webhook.ts';
import { noteDeliveries } from './webhook-cursors.sql.ts';
import {
  type AsideFailure,
  findDueWaiting,
  lockCursor,
  noteAside,
  type Waiting,
  type WaitingEvent,
} from './webhook-waiting.sql.ts';

/** Enough for some hundred a second, and few enough to be in memory for many webhooks. */
const EVENTS_AT_ONCE = 100;
/** How often to look for events that were put aside and are due. */
const LOOK_MS = 1_000;
/** How often a turn looks whether others want its place while it waits. */
const WAIT_MS = 250;

/** One request that is under way. */
interface Attempt {
  readonly events: readonly LoggedEvent[];
  /** How often they have failed before. */
  readonly failures: number;
  /** Its event was put aside before this attempt. */
  readonly isAside: boolean;
  readonly skipped: bigint;
  /** It has taken more than a second, and is put aside meanwhile. */
  isLate: boolean;
  ending: Promise<void>;
}

/** What became of an event that is put aside. */
interface AsideOutcome {
  readonly seq: bigint;
  readonly failures: number;
  /** `undefined`: it is not to be sent. */
  readonly sent: Sent | undefined;
  /** It is not kept any more. */
  readonly isDeleted?: boolean;
}

export class ParallelTurn {
  readonly #deps: WebhookDeps;
  readonly #webhook: ServedWebhook;
  readonly #turn: Turn;
  readonly #keys: readonly Uint8Array[];
  readonly #endAt: number;
  readonly #window: DeliveryWindow;
  readonly #pace: DeliveryPace;
  readonly #underWay = new Set<Attempt>();
  /** Those of them that are not late. */
  #quick = 0;
  #isOwnPlaceFree = true;
  /** Put aside, due, and not sent yet. */
  #due: WaitingEvent[] = [];
  #waiting: number;
  #lookAt: number;
  #place: bigint;
  #isAtEnd = false;
  #standing: number;
  #failures: number;
  #sent = 0;
  #hasDelivered = false;
  /** How many deleted events the next delivery tells of, and how many the cursor does not know of yet. */
  #skipped: bigint;
  #newlySkipped = 0n;
  /** To be noted. */
  #deliveries: NewDelivery[] = [];
  #late: AsideFailure[] = [];
  #asides: AsideOutcome[] = [];
  /** The lease, the place and the webhook are as this turn knows them. */
  #isSame = true;
  #hasEnded = false;
  #error: unknown;
  #onNews = () => {};

  constructor(
    deps: WebhookDeps,
    webhook: ServedWebhook,
    turn: Turn,
    keys: readonly Uint8Array[],
    waiting: Waiting,
  ) {
    this.#deps = deps;
    this.#webhook = webhook;
    this.#turn = turn;
    this.#keys = keys;
    this.#endAt = performance.now() + turn.turnMs;
    this.#window = new DeliveryWindow(webhook.seq, webhook.order === 'room', waiting.rooms);
    this.#pace = new DeliveryPace(webhook.maxPerSecond, webhook.idleSeconds);
    this.#waiting = waiting.count;
    this.#lookAt = waiting.count > 0 ? 0 : Number.POSITIVE_INFINITY;
    this.#place = webhook.seq;
    this.#standing = webhook.standing;
    this.#failures = webhook.failures;
    this.#skipped = webhook.skipped;
  }

  async run(): Promise<TurnEnd> {
    try {
      for (;;) {
        if (this.#mayGoOn()) await this.#read();
        this.#sendMore();
        if (this.#error !== undefined) throw this.#error;
        if (this.#hasToNote()) await this.#note();
        else if (this.#quick > 0 || this.#mayWait()) await this.#news();
        else if (this.#hasReady() || !this.#mayGoOn() || !this.#mayRead()) break;
      }
      const end = this.#end();
      this.#hasEnded = true;
      if (this.#isSame) await this.#closeGaps();
      return this.#isSame ? end : 'more';
    } finally {
      this.#hasEnded = true;
      for (const { ending } of this.#underWay) this.#turn.leave(ending);
    }
  }

  /** Whether there are events that are put aside, or were. */
  get hasPutAside(): boolean {
    return this.#lookAt !== Number.POSITIVE_INFINITY;
  }

  #end(): TurnEnd {
    const { schedule, isEnding, isWanted } = this.#turn;
    if (!this.#isSame) return 'more';
    if (this.#isResting()) return { restSeconds: restSeconds(schedule, this.#failures) };
    if (this.#hasReady() && !this.#hasSlot()) return { restSeconds: LOOK_MS / 1_000 };
    const paceMs = this.#pace.waitMs();
    if (this.#hasReady() && paceMs > 0 && isWanted()) return { restSeconds: paceMs / 1_000 };
    if (this.#hasReady() || isEnding() || performance.now() > this.#endAt || this.#isDemoted()) return 'more';
    return this.#isFull() ? 'until due' : 'nothing';
  }

  /** Whether to begin anything. */
  #mayGoOn(): boolean {
    const { isEnding, isWanted } = this.#turn;
    if (!this.#isSame || this.#error !== undefined || this.#hasEnded || this.#isResting()) return false;
    if (isEnding() || performance.now() > this.#endAt) return false;
    return !(this.#hasDelivered && isWanted()) && !this.#isDemoted();
  }

  /** After failures in a row, one attempt for each rest. */
  #isResting(): boolean {
    return this.#sent > 0 && this.#failures >= RESTS_AFTER;
  }

  /** The webhook belongs into a slow lane by now. */
  #isDemoted(): boolean {
    const { isPending, standing } = this.#webhook;
    const isSlow = (each: number) => laneOf({ isPending, standing: each }).endsWith('slow');
    return isSlow(this.#standing) && !isSlow(standing);
  }

  #hasReady(): boolean {
    return this.#due.length > 0 || this.#window.ready > 0;
  }

  /** No more events may be put aside. */
  #isFull(): boolean {
    return this.#waitingMax() <= 0;
  }

  #waitingMax(): number {
    const max = WAITING_MAX[this.#webhook.isPending ? 'pending' : 'paid'];
    return max - this.#waiting - this.#window.size;
  }

  /** For the pace, or for requests that are late. The place is for others meanwhile, if they want it. */
  #mayWait(): boolean {
    if (!this.#mayGoOn() || !this.#hasReady() || this.#turn.isWanted()) return false;
    return this.#underWay.size > 0 || this.#pace.waitMs() > 0;
  }

  #mayRead(): boolean {
    if (performance.now() >= this.#lookAt && this.#due.length === 0) return true;
    const isShort = this.#window.ready < this.#webhook.maxInFlight && this.#window.size < WINDOW_MAX;
    return isShort && !this.#isAtEnd && !this.#isFull();
  }

  /** Reads events that are due, and the next ones of the log. */
  async #read(): Promise<void> {
    if (!this.#mayRead()) return;
    if (performance.now() >= this.#lookAt && this.#due.length === 0) await this.#readDue();
    if (this.#mayRead() && !this.#isAtEnd) await this.#readLog();
  }

  async #readDue(): Promise<void> {
    const underWay = [...this.#underWay].flatMap(({ events }) => events.map(({ seq }) => seq));
    const busy = [...underWay, ...this.#asides.map(({ seq }) => seq)];
    const found = await this.#inDatabase(() =>
      findDueWaiting(this.#deps.db, this.#webhook, { underWay: busy, limit: EVENTS_AT_ONCE }),
    );
    this.#lookAt = found.length === EVENTS_AT_ONCE ? 0 : performance.now() + LOOK_MS;
    const wanted = wantedEvents(this.#webhook);
    const isDue = ({ event }: WaitingEvent) => event !== null && isWanted(wanted, event);
    this.#due = found.filter(isDue);
    for (const { seq, failures, event } of found.filter((each) => !isDue(each))) {
      this.#asides.push({ seq, failures, sent: undefined, isDeleted: event === null });
    }
  }

  async #readLog(): Promise<void> {
    const { tenant } = this.#webhook;
    const limit = Math.min(EVENTS_AT_ONCE, WINDOW_MAX - this.#window.size, this.#waitingMax());
    const after = this.#window.reached;
    const wanted = { ...wantedEvents(this.#webhook), after, limit };
    const page = await this.#inDatabase(() => listPublicEvents(this.#deps.db, tenant, wanted));
    if (page.keptAfter > after) {
      // They are counted in the statement that moves the place past them, so nothing may be before them.
      if (this.#window.size > 0) return;
      this.#window.add([], page.keptAfter);
      this.#newlySkipped += page.keptAfter - after;
      this.#skipped += page.keptAfter - after;
      return;
    }
    this.#window.add(page.events, page.reached);
    this.#isAtEnd = page.reached >= page.lastSeq;
  }

  #hasSlot(): boolean {
    const { maxInFlight } = this.#webhook;
    if (this.#underWay.size + this.#turn.left() >= maxInFlight) return false;
    // A receiver that fails gets one request at a time.
    return this.#failures === 0 || this.#quick === 0;
  }

  #sendMore(): void {
    while (this.#mayGoOn() && this.#hasReady() && this.#hasSlot() && this.#pace.waitMs() === 0) {
      const place = this.#takePlace();
      if (!place) return;
      this.#pace.begin();
      const waiting = this.#due.shift();
      if (waiting) this.#send(place, [waiting.event!], waiting.failures, true);
      else this.#send(place, this.#window.takeNext(this.#batchMax()), 0, false);
    }
  }

  /** What a receiver that fails refuses is put aside, so it gets few. */
  #batchMax(): number {
    return this.#failures === 0 ? this.#webhook.maxBatch : 1;
  }

  /** That of the turn, or another one. */
  #takePlace(): RequestPlace | undefined {
    const { place, takePlace } = this.#turn;
    if (!this.#isOwnPlaceFree) return takePlace();
    this.#isOwnPlaceFree = false;
    const release = () => {
      this.#isOwnPlaceFree = true;
    };
    return { ...place, release };
  }

  #send(place: RequestPlace, events: readonly LoggedEvent[], failures: number, isAside: boolean): void {
    const skipped = isAside ? 0n : this.#skipped;
    if (!isAside) this.#skipped = 0n;
    const attempt: Attempt = {
      events,
      failures,
      isAside,
      skipped,
      isLate: false,
      ending: Promise.resolve(),
    };
    const message = composeMessage(this.#webhook, events, {
      kind: isAside ? 'aside' : 'event',
      attempt: failures + 1,
      skipped,
    });
    this.#sent += 1;
    this.#quick += 1;
    this.#underWay.add(attempt);
    const timer = setTimeout(() => this.#noteLate(attempt), SLOW_MS);
    attempt.ending = place
      .during((signal) => sendMessage(this.#deps, this.#webhook, this.#keys, message, signal))
      .finally(() => clearTimeout(timer))
      .then((sent) => this.#receive(attempt, sent, place.isAborted()))
      .catch((error) => {
        this.#error = error;
      })
      .then(() => this.#finish(attempt, place));
  }

  /** The place moves on without it. */
  #noteLate(attempt: Attempt): void {
    const { events, failures, isAside } = attempt;
    const waitSeconds = this.#turn.leaseSeconds;
    attempt.isLate = true;
    this.#quick -= 1;
    for (const event of events) {
      if (isAside) this.#late.push({ seq: event.seq, failures, waitSeconds, isUnderWay: true });
      else this.#window.putAside(event, 0, waitSeconds);
    }
    this.#onNews();
  }

  #receive(attempt: Attempt, sent: AllSent, isAborted: boolean): void {
    const { events, skipped } = attempt;
    const [{ delivery }] = sent;
    const hasDelivered = isDelivered(delivery);
    if (!hasDelivered && isAborted) {
      this.#isSame = false;
      return;
    }
    this.#standing = standingAfter(this.#standing, {
      isDelivered: hasDelivered,
      latencyMs: delivery.latencyMs,
    });
    // Those side by side fail for one reason, and the rest after them is that of one.
    const failuresMax = Math.max(RESTS_AFTER, this.#webhook.failures + 1);
    this.#failures = hasDelivered ? 0 : Math.min(this.#failures + 1, failuresMax);
    if (hasDelivered) {
      this.#hasDelivered = true;
      this.#newlySkipped -= skipped;
    } else this.#skipped += skipped;
    for (const [at, event] of events.entries()) this.#receiveOne(attempt, event, sent[at]!);
  }

  #receiveOne({ failures, isAside, isLate }: Attempt, event: LoggedEvent, sent: Sent): void {
    if (isAside || isLate) this.#asides.push({ seq: event.seq, failures, sent });
    else if (isDelivered(sent.delivery)) {
      this.#window.deliver(event);
      this.#deliveries.push(sent.delivery);
    } else this.#putAside(event, sent);
  }

  #putAside(event: LoggedEvent, sent: Sent): void {
    const waitSeconds = waitAfter(this.#turn.schedule, sent);
    if (waitSeconds === undefined) {
      // It is given up once it is put aside.
      this.#window.putAside(event, 0, this.#turn.leaseSeconds);
      this.#asides.push({ seq: event.seq, failures: 0, sent });
    } else {
      this.#window.putAside(event, 1, waitSeconds);
      this.#deliveries.push(sent.delivery);
    }
  }

  async #finish(attempt: Attempt, place: RequestPlace): Promise<void> {
    this.#underWay.delete(attempt);
    if (!attempt.isLate) this.#quick -= 1;
    place.release();
    this.#onNews();
    if (!this.#hasEnded) this.#sendMore();
    else {
      await this.#noteAsides(() => true).catch((error) =>
        this.#deps.log.error({ err: error, webhook: this.#webhook.id }, 'noting a late delivery failed'),
      );
    }
  }

  /** Until something has ended, or is late, or more may be sent. */
  #news(): Promise<void> {
    const waitMs = this.#hasReady() && this.#mayGoOn() ? this.#pace.waitMs() || WAIT_MS : WAIT_MS;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(Math.min(waitMs, WAIT_MS)));
      this.#onNews = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #isNotable = ({ seq }: { readonly seq: bigint }) => seq <= this.#place;

  #hasToNote(): boolean {
    return (
      this.#deliveries.length > 0 ||
      this.#window.hasSettled ||
      this.#late.length > 0 ||
      this.#asides.some(this.#isNotable)
    );
  }

  async #note(): Promise<void> {
    await this.#noteWindow();
    await this.#noteAsides(this.#isNotable);
  }

  async #noteWindow(): Promise<void> {
    const settled = this.#window.takeSettled();
    const deliveries = this.#deliveries;
    if (!settled && deliveries.length === 0) return;
    const { to, put } = settled ?? { to: this.#place, put: [] };
    const skipped = this.#newlySkipped;
    const note = {
      ...{ from: this.#place, to, put, skipped, deliveries },
      ...this.#state(deliveries),
    };
    this.#deliveries = [];
    this.#newlySkipped = 0n;
    this.#place = to;
    this.#waiting += put.length;
    if (put.length > 0) this.#lookAt = Math.min(this.#lookAt, performance.now() + LOOK_MS);
    const isSame = await this.#inDatabase(() => noteDeliveries(this.#deps.db, this.#webhook, note));
    if (!isSame) this.#isSame = false;
  }

  /** So that what was delivered beyond the place is not forgotten with this turn. */
  async #closeGaps(): Promise<void> {
    this.#window.closeGaps();
    await this.#noteWindow();
  }

  #state(deliveries: readonly NewDelivery[]) {
    return {
      hasDelivered: deliveries.some(isDelivered),
      failures: this.#failures,
      standing: this.#standing,
      leaseSeconds: this.#turn.leaseSeconds,
    };
  }

  async #noteAsides(isNotable: (outcome: AsideOutcome) => boolean): Promise<void> {
    const [outcomes, later] = [
      this.#asides.filter(isNotable),
      this.#asides.filter((each) => !isNotable(each)),
    ];
    const late = this.#late.filter(({ seq }) => !outcomes.some((each) => each.seq === seq));
    if (outcomes.length === 0 && late.length === 0) return;
    [this.#asides, this.#late] = [later, []];
    const last = await this.#noteEach(outcomes, late);
    for (const each of last) await this.#giveUp(each);
  }

  /** Notes them together. Returns those that have had their last attempt, which are not noted. */
  async #noteEach(outcomes: readonly AsideOutcome[], late: readonly AsideFailure[]): Promise<LastAttempt[]> {
    const ended: bigint[] = [];
    const failed: AsideFailure[] = [...late];
    const deliveries: NewDelivery[] = [];
    const last: LastAttempt[] = [];
    for (const { seq, failures, sent } of outcomes) {
      const waitSeconds = sent && waitAfter(this.#turn.schedule, sent);
      const isLast = sent && !isDelivered(sent.delivery) && waitSeconds === undefined;
      if (isLast) last.push({ seq, failures, delivery: sent.delivery });
      else if (sent) deliveries.push(sent.delivery);
      if (!sent || isDelivered(sent.delivery)) ended.push(seq);
      else if (waitSeconds !== undefined) failed.push({ seq, failures, waitSeconds, isUnderWay: false });
    }
    if (ended.length + failed.length === 0) return last;
    const skipped = BigInt(outcomes.filter(({ isDeleted }) => isDeleted).length);
    this.#skipped += skipped;
    const noted = { ended, failed, deliveries, skipped, ...this.#state(deliveries) };
    const { isSame, free } = await this.#inDatabase(() =>
      inTransaction(this.#deps.db, (tx) => noteAside(tx, this.#webhook, noted), {
        first: [lockCursor(this.#webhook)],
      }),
    );
    if (!isSame) this.#isSame = false;
    this.#endAsides(ended.length, free);
    return last;
  }

  async #giveUp(last: LastAttempt): Promise<void> {
    const state = this.#state([]);
    const outcome = await this.#inDatabase(() => giveUp(this.#deps, this.#webhook, last, state));
    if (outcome.kind === 'dropped') this.#endAsides(1, outcome.free);
    else this.#isSame = false;
  }

  /** So many are not put aside any more, and nothing of these rooms is. */
  #endAsides(count: number, free: readonly string[]): void {
    if (count === 0) return;
    this.#waiting -= count;
    this.#lookAt = 0;
    for (const room of free) this.#window.free(room);
  }

  #inDatabase<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn.inDatabase(work);
  }
}
