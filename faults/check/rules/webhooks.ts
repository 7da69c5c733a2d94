/** Rules of webhooks: what receivers got, beside the events that there are. */
import { tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import { type FaultTime, faultTimes, lateTimes, overlaps, shiftsDuring, touches } from '../faults.ts';
import { type DeliveredEvent, type Entry, endOf } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';
import { describeEvent, type ListedEvent } from '../views.ts';

export const WEBHOOK_RULES: readonly Rule[] = [
  { name: 'a webhook gets each of its events', check: checkComplete },
  { name: 'no event waits for its webhook', check: checkWaiting },
  { name: 'an event is the same wherever it appears', check: checkEvents },
  { name: 'a request to a webhook is signed, and named by its events', check: checkRequests },
  { name: 'a request to a webhook is as old as it says', check: checkAges },
  { name: 'a webhook gets events in its order', check: checkOrder },
  { name: 'an event that was accepted does not come again', check: checkRepeated },
  { name: 'no attempt follows one that is known to have succeeded', check: checkAttempts },
];

interface Webhook {
  readonly id: string;
  readonly tenant: string;
  readonly order: string;
  /** `undefined`: all. */
  readonly types: ReadonlySet<string> | undefined;
  readonly isPaused: boolean;
  /** The log was read up to this event. */
  readonly seq: number;
  /** Events before the cursor that are not delivered: they wait, or were given up. */
  readonly aside: ReadonlySet<number>;
  readonly gaveUp: ReadonlySet<number>;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** What its receiver got, in the order of time. */
  readonly requests: readonly Entry[];
}

const TIME = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const SEQS = (table: string, condition = '') =>
  `(select json_agg(seq) from ${table} e where e.tenant_id = w.tenant_id and e.webhook_id = w.id ${condition})`;

/** Webhooks of the campaign whose receiver is theirs alone, and that get events whatever the room. */
async function readWebhooks(facts: Facts): Promise<readonly Webhook[]> {
  const requests = Map.groupBy(facts.of('webhook.received'), ({ args }) => args.webhook!);
  const rows = await facts.db.rows(
    `select w.id, ${tenantOf('w.tenant_id')} as tenant, w.url, w.ordering, to_json(w.types) as types, c.paused_by, c.seq,
            ${TIME(`w.created_at + interval '2 seconds'`)} as created_at,
            ${SEQS('webhook_waiting')} as aside, ${SEQS('webhook_deliveries', 'and e.gave_up')} as gave_up
       from webhook_endpoints w join webhook_cursors c on c.tenant_id = w.tenant_id and c.webhook_id = w.id
      where ${tenantOf('w.tenant_id')} = any ($1) and w.rooms = '{}'`,
    [[...facts.tenants]],
  );
  const byReceiver = Map.groupBy(rows, ({ url }) => new URL(url!).pathname);
  return [...byReceiver].flatMap(([path, [row, ...others]]) => {
    if (others.length > 0) return [];
    const types = JSON.parse(row!.types!) as readonly string[];
    const own = requests.get(path) ?? requests.get(path.replace(/^\//, '')) ?? [];
    return {
      id: row!.id!,
      tenant: row!.tenant!,
      order: row!.ordering!,
      types: types.length === 0 ? undefined : new Set(types),
      isPaused: row!.paused_by !== null,
      seq: Number(row!.seq),
      aside: new Set(JSON.parse(row!.aside ?? '[]') as readonly number[]),
      gaveUp: givenUp(JSON.parse(row!.gave_up ?? '[]') as readonly number[], own),
      createdAt: row!.created_at!,
      requests: own,
    };
  });
}

/** An event has ten attempts at least (docs/webhook-delivery.md). */
const ATTEMPTS_MIN = 10;

/** Those of them that the receiver has refused so often. */
function givenUp(seqs: readonly number[], requests: readonly Entry[]): ReadonlySet<number> {
  const refused = requests.filter((request) => !wasAccepted(request)).flatMap(eventsIn);
  return new Set(seqs.filter((each) => refused.filter(({ seq }) => seq === each).length >= ATTEMPTS_MIN));
}

/** It is written down when it is answered, and a receiver may hang before. */
const arrivedUs = ({ args, invokedUs }: Entry) => args.arrivedUs ?? invokedUs;
const byArrival = (requests: readonly Entry[]) => requests.toSorted((a, b) => arrivedUs(a) - arrivedUs(b));
const eventsIn = ({ args }: Entry) => (args.events ?? []) as readonly DeliveredEvent[];
const wasAccepted = ({ args }: Entry) => (args.answered ?? 0) >= 200 && (args.answered ?? 0) < 300;

/**
 * What it should have got: events from its creation on, or from the first that it got, which may be earlier. What has happened since
 * `settledAt`, such as the end of a token, came after the journal was closed.
 */
function expectedOf(
  webhook: Webhook,
  events: readonly ListedEvent[],
  settledAt: string | undefined,
): readonly ListedEvent[] {
  const got = webhook.requests.flatMap((request) => eventsIn(request).map(({ seq }) => seq));
  const first = got.filter((seq) => seq > 0).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return events.filter(
    ({ seq, type, timestamp }) =>
      (webhook.types?.has(type) ?? true) &&
      (seq >= first || timestamp >= webhook.createdAt) &&
      (settledAt === undefined || Date.parse(timestamp) <= Date.parse(settledAt)),
  );
}

async function* expectations(
  facts: Facts,
): AsyncGenerator<{ webhook: Webhook; expected: readonly ListedEvent[] }> {
  const { readable } = facts;
  const settledAt = facts.of('settled')[0]?.args.at;
  const byTenant = Map.groupBy(await readWebhooks(facts), ({ tenant }) => tenant);
  for (const [tenant, webhooks] of byTenant) {
    if (!readable.has(tenant)) continue;
    const events = await facts.eventsOf(tenant);
    for (const webhook of webhooks) yield { webhook, expected: expectedOf(webhook, events, settledAt) };
  }
}

async function checkComplete(facts: Facts, look: Look): Promise<void> {
  for await (const { webhook, expected } of expectations(facts)) {
    const accepted = new Set(
      webhook.requests.filter(wasAccepted).flatMap((request) => eventsIn(request).map(({ id }) => id)),
    );
    for (const { id, seq, type } of expected) {
      if (seq > webhook.seq || webhook.aside.has(seq) || webhook.gaveUp.has(seq)) continue;
      look.at();
      if (!accepted.has(id)) look.wrong(`${type} ${seq} of ${webhook.tenant} never came to ${webhook.id}`);
    }
  }
}

async function checkWaiting(facts: Facts, look: Look): Promise<void> {
  for await (const { webhook, expected } of expectations(facts)) {
    if (webhook.isPaused) continue;
    const waiting = expected.filter(({ seq }) => seq > webhook.seq || webhook.aside.has(seq));
    look.at(expected.length);
    if (waiting.length > 0)
      look.wrong(`${waiting.length} of ${webhook.tenant} for ${webhook.id}, from ${waiting[0]!.seq} on`);
  }
}

async function checkEvents(facts: Facts, look: Look): Promise<void> {
  const { readable } = facts;
  const webhooks = Map.groupBy(await readWebhooks(facts), ({ tenant }) => tenant);
  for (const [tenant, own] of webhooks) {
    if (!readable.has(tenant)) continue;
    const listed = new Map((await facts.eventsOf(tenant)).map((event) => [event.seq, event]));
    for (const { id: webhook, requests } of own) {
      for (const { id, seq, type, digest } of requests.flatMap(eventsIn)) {
        if (seq === 0) continue;
        const [came, is] = [`${id} ${type} ${digest}`, describeEvent(listed.get(seq), digest)];
        look.at();
        if (came !== is) look.wrong(`${seq} of ${tenant} is ${is}, and came to ${webhook} as ${came}`);
      }
    }
  }
}

const SIGNATURES = ['v1', 'v1a'];
const AGE_SECONDS_MAX = 300;

/** The id of a request is that of its event. That of a list belongs to just these events in this order (docs/webhook-delivery.md). */
async function checkRequests(facts: Facts, look: Look): Promise<void> {
  for (const { id: webhook, tenant, requests } of await readWebhooks(facts)) {
    const lists = new Map<string, string>();
    for (const request of requests) {
      const { id = '', isList, verified } = request.args;
      const ids = eventsIn(request)
        .map((event) => event.id)
        .join(' ');
      const isNamed = isList ? (lists.get(id) ?? ids) === ids && (lists.get(ids) ?? id) === id : id === ids;
      lists.set(id, ids).set(ids, id);
      look.at();
      if (!isNamed) look.wrong(`${id} of ${tenant} came to ${webhook} with ${ids}`);
      for (const version of SIGNATURES)
        if (verified?.includes(version) === false)
          look.wrong(`${id} of ${tenant} came to ${webhook} without its signature ${version}`);
    }
  }
}

/** A request is signed before it is sent, and what sends it may stand still meanwhile. */
const SIGNED_US_MAX = 20_000_000;

/** Receivers refuse what is older, or that much ahead (docs/webhooks.md). While the clock of its service is wrong, so are timestamps, as much. */
async function checkAges(facts: Facts, look: Look): Promise<void> {
  const faults = faultTimes(facts);
  for (const request of facts.of('webhook.received')) {
    const { id, webhook, ageSeconds, sender } = request.args;
    if (ageSeconds === undefined) continue;
    const own = faults.filter((fault) => touches(fault, sender));
    const time = [arrivedUs(request) - SIGNED_US_MAX, endOf(request)] as const;
    const shifts = shiftsDuring(own, /clock of a service/, time);
    look.at();
    if (shifts.every((shiftUs) => Math.abs(ageSeconds + shiftUs / 1_000_000) > AGE_SECONDS_MAX))
      look.wrong(`${id} came to ${webhook} ${ageSeconds} s after its timestamp`);
  }
}

/** In the order `tenant` all events are in one row, in `room` those of each room. */
async function checkOrder(facts: Facts, look: Look): Promise<void> {
  const logs = await facts.logs;
  for await (const { webhook, expected } of expectations(facts)) {
    if (webhook.order === 'none') continue;
    const rooms = new Map(logs.get(webhook.tenant)?.map(({ seq, roomUid }) => [seq, roomUid]));
    const rowOf = (seq: number) => (webhook.order === 'room' ? (rooms.get(seq) ?? '') : '');
    const rows = new Map(
      [...Map.groupBy(expected, ({ seq }) => rowOf(seq))].map(([row, events]) => [
        row,
        new EventRow(
          events.map(({ seq }) => seq),
          webhook.gaveUp,
        ),
      ]),
    );
    const accepted = webhook.requests.filter(wasAccepted).toSorted((a, b) => endOf(a) - endOf(b));
    let at = 0;
    for (const request of byArrival(webhook.requests)) {
      for (; at < accepted.length && endOf(accepted[at]!) <= arrivedUs(request); at += 1)
        for (const { seq } of eventsIn(accepted[at]!)) rows.get(rowOf(seq))?.accept(seq);
      const seqs = eventsIn(request).map(({ seq }) => seq);
      look.at(seqs.length);
      for (const [place, seq] of seqs.entries()) {
        const early = rows.get(rowOf(seq))?.missingBefore(seq, seqs.slice(0, place));
        if (early !== undefined)
          look.wrong(`${seq} of ${webhook.tenant} came to ${webhook.id} before it had accepted ${early}`);
      }
    }
  }
}

/** Events that come one after another. */
class EventRow {
  readonly #seqs: readonly number[];
  readonly #over: Set<number>;
  #next = 0;

  constructor(seqs: readonly number[], gaveUp: ReadonlySet<number>) {
    this.#seqs = seqs;
    this.#over = new Set(gaveUp);
  }

  accept(seq: number): void {
    this.#over.add(seq);
  }

  /** The first one before this that is neither accepted nor in the same request. */
  missingBefore(seq: number, inRequest: readonly number[]): number | undefined {
    while (this.#over.has(this.#seqs[this.#next]!)) this.#next += 1;
    for (let at = this.#next; at < this.#seqs.length && this.#seqs[at]! < seq; at += 1)
      if (!this.#over.has(this.#seqs[at]!) && !inRequest.includes(this.#seqs[at]!)) return this.#seqs[at];
    return undefined;
  }
}

/** What was accepted with nothing in its way is noted so soon, and what waited so soon after that. */
const NOTED_US = 2_000_000;
const CAUGHT_UP_US = 1_000_000;
/** Answers that take longer say that the machine has much else to do. */
const LATE_US = 1_000_000;

/** Faults of what sends, and of where it notes what was accepted: the answer, or the note of it, may be lost. */
const TOUCHES_NOTES = /service|worker|PostgreSQL|a lock|connection/;
const ONLY_DELAYS = /is slow/;
/** While these last, a note waits, and another fault may meet it. */
const DELAYS = /slow|still|late|nothing|lost|gone|killed|to end|power|full|a lock/;
const SPARES_NOTES = /provider|receiver|clock/;

/**
 * What could not say for four seconds that it lives is gone for the others, and what it notes moves nothing. It may learn of that so
 * long afterwards.
 */
const STOPS = /still|late|nothing|lost|gone|killed|to end|power|full|a lock|clock of PostgreSQL/;
const STOPPED_US_MIN = 2_000_000;
const NOTED_IN_VAIN_US = 5_000_000;

/** What stood still while others went on, or lost its lease to a clock, may send once more what it was about to send, so long after. */
const STANDS_STILL = /(service|worker).* stands? still|clock of PostgreSQL/;
const STOOD_STILL_US = 20_000_000;

/** A process has so many requests to a webhook under way, in the order of the tenant one; each service may lose them. */
const UNDER_WAY_MAX = 20;
const UNDER_WAY_IN_ORDER_MAX = 2;

/** A request with an event that another one had brought, which was accepted before it came. */
interface Repeat {
  readonly webhook: Webhook;
  readonly seq: number;
  readonly before: Entry;
  /** The newest one that was accepted, of the events that came after. */
  readonly newest: Entry;
  readonly again: Entry;
  /** The log of attempts has the delivery before. */
  readonly isNoted: boolean;
}

const isStopped = (fault: FaultTime) =>
  STOPS.test(fault.name) &&
  !/provider|receiver/.test(fault.name) &&
  (/clock/.test(fault.name) ? Math.abs(fault.shiftUs) : fault.untilUs - fault.fromUs) >= STOPPED_US_MIN;

/** When an answer had been noted at the latest: one fault after another may keep it waiting. */
function notedUntil(faults: readonly FaultTime[], before: Entry): number {
  let untilUs = endOf(before) + NOTED_US;
  for (const fault of faults)
    if (DELAYS.test(fault.name) && overlaps(fault, [arrivedUs(before), untilUs]))
      untilUs = Math.max(untilUs, fault.untilUs + CAUGHT_UP_US);
  return untilUs;
}

/**
 * Faults that may be the reason for it: they touched the service that sent it, or PostgreSQL, from its arrival until its answer was
 * noted. In the order of the tenant, later events show that it was noted, and so does the log: it is in one commit with the place.
 */
function reasonsFor(
  all: readonly FaultTime[],
  { webhook, before, newest, again, isNoted }: Repeat,
): readonly FaultTime[] {
  const isInOrder = webhook.order === 'tenant';
  if (isInOrder && newest !== before) {
    const time = [arrivedUs(again) - STOOD_STILL_US, arrivedUs(again)] as const;
    return all.filter(
      (fault) => STANDS_STILL.test(fault.name) && touches(fault, again.args.sender) && overlaps(fault, time),
    );
  }
  const own = all.filter((fault) => touches(fault, before.args.sender));
  const noting = own.filter(({ name }) => TOUCHES_NOTES.test(name) && !SPARES_NOTES.test(name));
  const untilUs = Math.min(notedUntil(noting, before), arrivedUs(again));
  const lose = isInOrder && isNoted ? [] : noting.filter(({ name }) => !ONLY_DELAYS.test(name));
  return [
    ...lose.filter((fault) => overlaps(fault, [arrivedUs(before), untilUs])),
    ...own
      .filter(isStopped)
      .filter((fault) => overlaps(fault, [arrivedUs(before) - NOTED_IN_VAIN_US, untilUs])),
  ];
}

/** Excuses for repeats. A fault excuses no more of them than may have been under way. */
class Excuses {
  readonly #faults: readonly FaultTime[];
  readonly #excused = new Map<string, Set<Entry>>();

  constructor(facts: Facts) {
    const all = [...faultTimes(facts), ...lateTimes(facts, LATE_US)];
    this.#faults = all.toSorted((a, b) => a.fromUs - b.fromUs);
  }

  has(repeat: Repeat): boolean {
    const { webhook, before } = repeat;
    // The sender had gone before the answer.
    if (before.args.mayBeLost) return true;
    const most = webhook.order === 'tenant' ? UNDER_WAY_IN_ORDER_MAX : UNDER_WAY_MAX;
    for (const fault of reasonsFor(this.#faults, repeat)) {
      const name = `${webhook.id} ${fault.name} ${fault.fromUs}`;
      const excused = this.#excused.get(name) ?? new Set();
      this.#excused.set(name, excused);
      if (excused.has(before) || excused.size < most) {
        excused.add(before);
        return true;
      }
    }
    return false;
  }
}

/** How many deliveries of each event a webhook has noted as accepted. */
async function readNoted(facts: Facts): Promise<ReadonlyMap<string, number>> {
  const rows = await facts.db.rows(
    `select webhook_id || ' ' || event_id as name, count(*) as count ${DELIVERED} group by 1`,
    [[...facts.tenants]],
  );
  return new Map(rows.map(({ name, count }) => [name!, Number(count)]));
}

function* repeatsOf(webhook: Webhook, noted: ReadonlyMap<string, number>): Generator<Repeat> {
  const requests = byArrival(webhook.requests);
  const left = new Map<string, number>();
  for (const { id } of requests.filter(wasAccepted).flatMap(eventsIn)) left.set(id, (left.get(id) ?? 0) + 1);
  const accepted = new Map<string, Entry>();
  let newest: Entry | undefined;
  for (const again of requests) {
    for (const { id, seq } of eventsIn(again).filter((event) => event.seq > 0)) {
      const before = accepted.get(id);
      // Those that are still to come are noted, too.
      const isNoted = (noted.get(`${webhook.id} ${id}`) ?? 0) > (left.get(id) ?? 0);
      if (before && endOf(before) <= arrivedUs(again))
        yield { webhook, seq, before, newest: newest!, again, isNoted };
      if (!wasAccepted(again)) continue;
      left.set(id, left.get(id)! - 1);
      if (!before || before === newest) newest = again;
      accepted.set(id, again);
    }
  }
}

/** Each of them, and whether it has an excuse. */
async function judgeRepeats(facts: Facts): Promise<readonly (readonly [Repeat, isExcused: boolean])[]> {
  const excuses = new Excuses(facts);
  const noted = await readNoted(facts);
  return (await readWebhooks(facts)).flatMap((webhook) =>
    [...repeatsOf(webhook, noted)].map((repeat) => [repeat, excuses.has(repeat)] as const),
  );
}

async function checkRepeated(facts: Facts, look: Look): Promise<void> {
  for (const { requests } of await readWebhooks(facts))
    look.at(requests.flatMap(eventsIn).filter(({ seq }) => seq > 0).length);
  for (const [{ webhook, seq }, isExcused] of await judgeRepeats(facts))
    if (!isExcused)
      look.wrong(`${seq} of ${webhook.tenant} came to ${webhook.id} again after it was accepted`);
}

const DELIVERED = `from webhook_deliveries d where d.kind in ('event', 'aside') and d.status between 200 and 299
                       and ${tenantOf('d.tenant_id')} = any ($1)`;

/** What was noted without a lease comes again with the next turn, which waits longer after failures. */
const NOTED_IN_VAIN_SECONDS = 120;

/**
 * The service's own log of attempts. One that began before the success of another was noted did not know of it. Where the receiver saw
 * both, the rule above judges them. Otherwise two processes may send the same for a while after a fault: one that has lost its lease
 * notes what it sent, and moves nothing.
 */
async function checkAttempts(facts: Facts, look: Look): Promise<void> {
  const hasFaults = faultTimes(facts).some(({ name }) => TOUCHES_NOTES.test(name));
  const tenants = [[...facts.tenants]];
  const [counted] = await facts.db.rows(`select count(*) as count ${DELIVERED}`, tenants);
  look.at(Number(counted?.count ?? 0));
  const again = await facts.db.rows(
    `select d.webhook_id, d.seq, ${tenantOf('d.tenant_id')} as tenant, max(extract(epoch from l.began_at - d.at))::float8 as seconds
       from (select d.* ${DELIVERED}) d
       join (select *, at - make_interval(secs => latency_ms / 1000.0) as began_at from webhook_deliveries
              where kind in ('event', 'aside')) l
         on l.tenant_id = d.tenant_id and l.webhook_id = d.webhook_id and l.event_id = d.event_id
        and l.id > d.id and l.began_at > d.at
      group by 1, 2, 3`,
    tenants,
  );
  const judged = new Map(
    (await judgeRepeats(facts)).map(([{ webhook, seq }, isExcused]) => [`${webhook.id} ${seq}`, isExcused]),
  );
  for (const { webhook_id, seq, tenant, seconds } of again) {
    const isExcused =
      judged.get(`${webhook_id} ${seq}`) ?? (hasFaults && Number(seconds) <= NOTED_IN_VAIN_SECONDS);
    if (!isExcused) look.wrong(`${seq} of ${tenant} was sent to ${webhook_id} again`);
  }
}
