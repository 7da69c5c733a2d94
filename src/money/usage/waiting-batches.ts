/**
 * The batches that wait for a transaction, in order: those of tenants that paid first, each by its start; of equal ones, in order
 * of arrival.
 *
 * No step looks at all of them, because a crowd of tenants may send thousands. The batches of a tenant are in a list; a queue has the
 * lists whose tenants are not busy, by their first batch.
 */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Batch } from './bill.ts';

/** A large batch has a transaction to itself. */
export type Kind = 'large' | 'small';

/** Whose first batch may lead a transaction, or may not, together. */
export interface QueueOf {
  readonly hasPaid: boolean;
  readonly kind: Kind;
  /** That has the tenant. `undefined`: one server has all, or it is not known yet. */
  readonly server: number | undefined;
}

export interface Queued {
  readonly batch: Batch;
  readonly kind: Kind;
  hasPaid: boolean;
  /** Its place among those of tenants that paid, or never did: the lowest is next. */
  start: number;
  /** Among those with the same start. */
  arrival?: number;
}

interface List<Item> {
  readonly tenant: TenantId;
  readonly kind: Kind;
  /** In order. */
  readonly items: Item[];
  /** `undefined`: its tenant is busy. */
  queue: Queue<Item> | undefined;
}

interface Queue<Item> extends QueueOf {
  /** By their first batch, none empty. */
  readonly lists: List<Item>[];
}

/** What may go together. */
export interface Together {
  readonly records: number;
  readonly tenants: number;
}

/** So many batches that do not fit are passed over to find some that do. */
const MISFITS_MAX = 32;

export class WaitingBatches<Item extends Queued> {
  readonly #serverOf: (tenant: TenantId) => number | undefined;
  readonly #lists = { small: new Map<TenantId, List<Item>>(), large: new Map<TenantId, List<Item>>() };
  readonly #queues: Queue<Item>[] = [];
  readonly #busy = new Set<TenantId>();
  #arrivals = 0;

  constructor(serverOf: (tenant: TenantId) => number | undefined) {
    this.#serverOf = serverOf;
  }

  /** Behind those with the same start. */
  add(item: Item): void {
    this.#arrivals += 1;
    item.arrival = this.#arrivals;
    this.#insert(item);
  }

  /** Nothing of the tenant is taken until `release()`. */
  hold(tenant: TenantId): void {
    this.#busy.add(tenant);
    for (const lists of Object.values(this.#lists)) this.#leave(lists.get(tenant));
  }

  release(tenant: TenantId): void {
    this.#busy.delete(tenant);
    for (const lists of Object.values(this.#lists)) this.#enter(lists.get(tenant));
  }

  drop(item: Item): void {
    const list = this.#lists[item.kind].get(item.batch.tenant);
    const at = list?.items.indexOf(item) ?? -1;
    if (at >= 0) this.#change(list!, () => void list!.items.splice(at, 1));
  }

  /** Those of the tenant, in order, which wait no longer. */
  removeAll(tenant: TenantId): Item[] {
    return Object.values(this.#lists)
      .flatMap((lists) => {
        const list = lists.get(tenant);
        return list ? this.#change(list, () => list.items.splice(0)) : [];
      })
      .sort(compare);
  }

  /** Those of the tenant, in no order. */
  of(tenant: TenantId): Item[] {
    return Object.values(this.#lists).flatMap((lists) => lists.get(tenant)?.items ?? []);
  }

  /** Takes the first batch of a queue that may lead, and those behind it that fit with it. Their tenants are busy then. */
  take(mayLead: (queue: QueueOf) => boolean, { records: max, tenants: tenantsMax }: Together): Item[] {
    const queue = this.#leading(mayLead);
    const taken: Item[] = [];
    const misfits: Item[] = [];
    /** Lists of which a batch was taken. */
    const begun = new Set<List<Item>>();
    let records = 0;
    while (queue && records <= max && misfits.length <= MISFITS_MAX) {
      const list = begun.size < tenantsMax ? queue.lists[0] : queue.lists.find((each) => begun.has(each));
      if (!list) break;
      const item = this.#change(list, () => list.items.shift()!);
      const fits = taken.length === 0 || records + item.batch.records.length <= max;
      (fits ? taken : misfits).push(item);
      if (!fits) continue;
      begun.add(list);
      records += item.batch.records.length;
    }
    for (const { tenant } of begun) this.hold(tenant);
    for (const item of misfits) this.#insert(item);
    return taken;
  }

  #leading(mayLead: (queue: QueueOf) => boolean): Queue<Item> | undefined {
    let first: Queue<Item> | undefined;
    for (const queue of this.#queues) {
      this.#moveToServers(queue);
      const [head, other] = [queue, first].map((each) => each?.lists[0]?.items[0]);
      if (head && (!other || compare(head, other) < 0) && mayLead(queue)) first = queue;
    }
    return first;
  }

  /** The server of its first tenant may be known only now, or be another. */
  #moveToServers(queue: Queue<Item>): void {
    let list = queue.lists[0];
    while (list && this.#serverOf(list.tenant) !== queue.server) {
      this.#leave(list);
      this.#enter(list);
      list = queue.lists[0];
    }
  }

  #insert(item: Item): void {
    const { tenant } = item.batch;
    const lists = this.#lists[item.kind];
    const list = lists.get(tenant) ?? { tenant, kind: item.kind, items: [], queue: undefined };
    const at = list.items.findLastIndex((other) => compare(other, item) < 0) + 1;
    if (at > 0) list.items.splice(at, 0, item);
    else this.#change(list, () => list.items.unshift(item));
  }

  /** Its first batch may be another afterwards. */
  #change<T>(list: List<Item>, change: () => T): T {
    this.#leave(list);
    const result = change();
    const lists = this.#lists[list.kind];
    if (list.items.length > 0) lists.set(list.tenant, list);
    else lists.delete(list.tenant);
    this.#enter(list);
    return result;
  }

  #leave(list: List<Item> | undefined): void {
    if (!list?.queue) return;
    const { lists } = list.queue;
    lists.splice(placeOf(list, lists), 1);
    list.queue = undefined;
  }

  #enter(list: List<Item> | undefined): void {
    const [first] = list?.items ?? [];
    if (!list || list.queue || !first || this.#busy.has(list.tenant)) return;
    list.queue = this.#queueOf(first);
    list.queue.lists.splice(placeOf(list, list.queue.lists), 0, list);
  }

  #queueOf({ hasPaid, kind, batch }: Item): Queue<Item> {
    const server = this.#serverOf(batch.tenant);
    const known = this.#queues.find(
      (each) => each.hasPaid === hasPaid && each.kind === kind && each.server === server,
    );
    const queue = known ?? { hasPaid, kind, server, lists: [] };
    if (!known) this.#queues.push(queue);
    return queue;
  }
}

/** Below zero: the one goes before the other. */
function compare(one: Queued, other: Queued): number {
  if (one.hasPaid !== other.hasPaid) return one.hasPaid ? -1 : 1;
  return one.start - other.start || one.arrival! - other.arrival!;
}

/** The list of a queue is where its first batch is among theirs. */
function placeOf<Item extends Queued>(list: List<Item>, lists: readonly List<Item>[]): number {
  let [from, to] = [0, lists.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(lists[middle]!.items[0]!, list.items[0]!) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
