import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { type Queued, WaitingBatches } from '../../../src/money/usage/waiting-batches.ts';

const RECORDS_MAX = 10;
const ALL = { records: RECORDS_MAX, tenants: Number.POSITIVE_INFINITY };

const idOf = (tenant: number) => BigInt(tenant) as TenantId;

function itemOf(tenant: number, { start = 0, records = 1, hasPaid = true } = {}): Queued {
  const batch = { tenant: idOf(tenant), records: { length: records } } as never;
  return { batch, kind: records > RECORDS_MAX ? 'large' : 'small', hasPaid, start };
}

/** One list of all, in order, which is looked through each time. */
class OneList {
  #waiting: Queued[] = [];
  readonly #busy = new Set<TenantId>();

  add(item: Queued): void {
    const isBefore = (other: Queued) =>
      other.hasPaid === item.hasPaid ? other.start <= item.start : other.hasPaid;
    this.#waiting.splice(this.#waiting.findLastIndex(isBefore) + 1, 0, item);
  }

  drop(item: Queued): void {
    this.#waiting = this.#waiting.filter((other) => other !== item);
  }

  removeAll(tenant: TenantId): Queued[] {
    const own = this.#waiting.filter(({ batch }) => batch.tenant === tenant);
    this.#waiting = this.#waiting.filter(({ batch }) => batch.tenant !== tenant);
    return own;
  }

  release(tenant: TenantId): void {
    this.#busy.delete(tenant);
  }

  take(mayLead: (item: Queued) => boolean, { records: max, tenants: tenantsMax }: typeof ALL): Queued[] {
    const taken: Queued[] = [];
    const tenants = new Set<TenantId>();
    let records = 0;
    for (const item of this.#waiting) {
      const { tenant } = item.batch;
      const { length } = item.batch.records;
      const isOneMore = !tenants.has(tenant) && tenants.size >= tenantsMax;
      const [first] = taken;
      const fits = first ? first.hasPaid === item.hasPaid && records + length <= max : mayLead(item);
      if (!fits || isOneMore || this.#busy.has(tenant)) continue;
      taken.push(item);
      tenants.add(tenant);
      records += length;
    }
    for (const tenant of tenants) this.#busy.add(tenant);
    this.#waiting = this.#waiting.filter((item) => !taken.includes(item));
    return taken;
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('add' as const),
      tenant: fc.nat(4),
      start: fc.nat(6),
      records: fc.nat(14),
      hasPaid: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('take' as const),
      large: fc.boolean(),
      neverPaid: fc.boolean(),
      tenants: fc.constantFrom(1, 2, Number.POSITIVE_INFINITY),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constantFrom('release' as const, 'pay' as const), tenant: fc.nat(4) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('drop' as const), at: fc.nat(20) }) },
);

test('are taken as from one list that is looked through each time', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [waiting, model] = [new WaitingBatches<Queued>(() => undefined), new OneList()];
      const added: Queued[] = [];
      const add = (item: Queued) => {
        added.push(item);
        waiting.add(item);
        model.add(item);
      };
      for (const each of steps) {
        if (each.does === 'add') add(itemOf(each.tenant, each));
        if (each.does === 'release') for (const one of [waiting, model]) one.release(idOf(each.tenant));
        if (each.does === 'drop') {
          const item = added[each.at];
          if (item) for (const one of [waiting, model]) one.drop(item);
        }
        if (each.does === 'pay') {
          const own = waiting.removeAll(idOf(each.tenant));
          expect(own).toEqual(model.removeAll(idOf(each.tenant)));
          for (const item of own) add(Object.assign(item, { hasPaid: true }));
        }
        if (each.does === 'take') {
          const mayLead = ({ kind, hasPaid }: Pick<Queued, 'kind' | 'hasPaid'>) =>
            (kind === 'small' || each.large) && (hasPaid || each.neverPaid);
          const together = { records: RECORDS_MAX, tenants: each.tenants };
          const taken = waiting.take(mayLead, together);
          const expected = model.take(mayLead, together);
          expect(taken.length).toBe(expected.length);
          for (const [at, item] of taken.entries()) expect(item).toBe(expected[at]);
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

describe('of thousands that wait', () => {
  /** Returns how often the places of batches are looked at meanwhile. */
  function counting(work: (waiting: WaitingBatches<Queued>) => void, records = 1): number {
    let looks = 0;
    const waiting = new WaitingBatches<Queued>(() => undefined);
    for (let count = 0; count < 20_000; count += 1) {
      const item = itemOf(count % 4_000, { records });
      const start = Math.floor(count / 4_000);
      waiting.add(
        Object.defineProperty(item, 'start', {
          get: () => {
            looks += 1;
            return start;
          },
        }),
      );
    }
    looks = 0;
    work(waiting);
    return looks;
  }

  test('few are looked at to add, take or drop some', () => {
    const added = itemOf(7, { start: 9 });
    expect(counting((waiting) => waiting.add(added))).toBeLessThan(50);
    expect(counting((waiting) => expect(waiting.take(() => true, ALL)).toHaveLength(10))).toBeLessThan(6_000);
    expect(counting((waiting) => waiting.take(() => false, ALL))).toBeLessThan(50);
    expect(
      counting((waiting) => {
        waiting.add(added);
        waiting.drop(added);
      }),
    ).toBeLessThan(100);
  });

  test('few are passed over because they do not fit', () => {
    expect(counting((waiting) => expect(waiting.take(() => true, ALL)).toHaveLength(1), 9)).toBeLessThan(
      6_000,
    );
  });
});

test('a tenant whose server becomes known goes to the queue of that', () => {
  const servers = new Map<TenantId, number>();
  const waiting = new WaitingBatches<Queued>((tenant) => servers.get(tenant));
  const [first, second] = [itemOf(1), itemOf(2, { start: 1 })];
  for (const item of [first, second]) waiting.add(item);
  servers.set(idOf(1), 7);
  expect(waiting.take(({ server }) => server !== 7, { ...ALL, tenants: 1 })).toEqual([second]);
  expect(waiting.take(({ server }) => server === 7, { ...ALL, tenants: 1 })).toEqual([first]);
});
