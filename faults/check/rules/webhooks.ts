/** Rules of webhooks: what receivers got, beside the events that there are. */
import { tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
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

/** Receivers refuse what is older, or that much ahead (docs/webhooks.md). While the clock of a service is wrong, so are its timestamps. */
async function checkAges(facts: Facts, look: Look): Promise<void> {
  const overlap = overlapsOf(facts);
  for (const request of facts.of('webhook.received')) {
    const { id, webhook, ageSeconds } = request.args;
    if (ageSeconds === undefined) continue;
    const isWrong = Math.abs(ageSeconds) > AGE_SECONDS_MAX;
    look.at();
    if (isWrong && !overlap(/clock of a service/, request.invokedUs - STOOD_STILL_US, endOf(request)))
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
    for (const request of webhook.requests.toSorted((a, b) => a.invokedUs - b.invokedUs)) {
      const seqs = eventsIn(request).map(({ seq }) => seq);
      look.at(seqs.length);
      for (const [at, seq] of seqs.entries()) {
        const early = rows.get(rowOf(seq))?.missingBefore(seq, seqs.slice(0, at));
        if (early !== undefined)
          look.wrong(`${seq} of ${webhook.tenant} came to ${webhook.id} before it had accepted ${early}`);
      }
      if (wasAccepted(request)) for (const seq of seqs) rows.get(rowOf(seq))?.accept(seq);
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

/**
 * A fault may eat an answer that was given so long before it, or after it: a process that could not say for four seconds that it lives is
 * gone for the others, and what it notes moves nothing.
 */
const EATEN_US = 5_000_000;

/** Faults of what sends, and of where it notes what was accepted. */
const EATS_ANSWERS = /service|worker|PostgreSQL|connection/;
const SPARES_ANSWERS = /provider|receiver/;

/** What stood still while others went on, or lost its lease to a clock, may send once more what it was about to send, so long after. */
const STANDS_STILL = /(service|worker).* stands? still|clock of PostgreSQL/;
const STOOD_STILL_US = 20_000_000;

/** What was noted without a lease comes again with the next turn, which waits longer after failures. */
const NOTED_IN_VAIN_SECONDS = 120;

/** Whether a fault of these names, which does not spare answers, happened in a time. */
function overlapsOf(facts: Facts): (names: RegExp, fromUs: number, untilUs: number) => boolean {
  const faults = facts.of('fault').map((fault) => ({
    name: fault.args.name ?? '',
    fromUs: fault.args.begunUs ?? fault.invokedUs,
    untilUs: endOf(fault),
  }));
  return (names: RegExp, fromUs: number, untilUs: number) =>
    faults.some(
      (fault) =>
        names.test(fault.name) &&
        !SPARES_ANSWERS.test(fault.name) &&
        fault.fromUs <= untilUs &&
        fault.untilUs >= fromUs,
    );
}

type Repeat = (webhook: Webhook, before: Entry, newest: Entry, again: Entry) => boolean;

/**
 * Whether an accepted event may come again: the answer may not have been noted. The campaign says so, or else any fault near it
 * may be the reason. In the order of the tenant, later events show that it was noted.
 */
function findExcuses(facts: Facts): Repeat {
  const saysSo = facts.of('webhook.received').some(({ args }) => args.mayBeLost !== undefined);
  const overlap = overlapsOf(facts);
  return ({ order }, before, newest, again) => {
    if (order === 'tenant' && newest !== before)
      return overlap(STANDS_STILL, again.invokedUs - STOOD_STILL_US, again.invokedUs);
    if (saysSo) return before.args.mayBeLost === true;
    return overlap(EATS_ANSWERS, endOf(before) - EATEN_US, endOf(before) + EATEN_US);
  };
}

async function checkRepeated(facts: Facts, look: Look): Promise<void> {
  const isExcused = findExcuses(facts);
  for (const webhook of await readWebhooks(facts)) {
    const accepted = new Map<string, Entry>();
    let newest: Entry | undefined;
    for (const request of webhook.requests.toSorted((a, b) => a.invokedUs - b.invokedUs)) {
      for (const { id, seq } of eventsIn(request)) {
        if (seq === 0) continue;
        const before = accepted.get(id);
        look.at();
        if (before && endOf(before) <= request.invokedUs && !isExcused(webhook, before, newest!, request))
          look.wrong(`${seq} of ${webhook.tenant} came to ${webhook.id} again after it was accepted`);
        if (!wasAccepted(request)) continue;
        if (!before || before === newest) newest = request;
        accepted.set(id, request);
      }
    }
  }
}

/**
 * The service's own log of attempts. One that began before the success of another was noted did not know of it. After a fault, two
 * processes may send the same for a while: one that has lost its lease notes what it sent, and moves nothing.
 */
async function checkAttempts(facts: Facts, look: Look): Promise<void> {
  const hasFaults = facts.of('fault').some(({ args }) => EATS_ANSWERS.test(args.name ?? ''));
  const graceSeconds = hasFaults ? NOTED_IN_VAIN_SECONDS : 0;
  const delivered = `from webhook_deliveries d where d.kind in ('event', 'aside') and d.status between 200 and 299
                       and ${tenantOf('d.tenant_id')} = any ($1)`;
  const tenants = [[...facts.tenants]];
  const [counted] = await facts.db.rows(`select count(*) as count ${delivered}`, tenants);
  look.at(Number(counted?.count ?? 0));
  const again = await facts.db.rows(
    `select d.webhook_id, d.seq, ${tenantOf('d.tenant_id')} as tenant ${delivered} and exists (
       select from webhook_deliveries l where l.tenant_id = d.tenant_id and l.webhook_id = d.webhook_id
          and l.event_id = d.event_id and l.id > d.id and l.kind in ('event', 'aside')
          and l.at - make_interval(secs => l.latency_ms / 1000.0) > d.at + make_interval(secs => ${graceSeconds}))`,
    tenants,
  );
  for (const { webhook_id, seq, tenant } of again)
    look.wrong(`${seq} of ${tenant} was sent to ${webhook_id} again`);
}
