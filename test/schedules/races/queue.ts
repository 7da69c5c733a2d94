/** Batches that wait for a transaction: those of a tenant go one after another, and small transactions alone at first. */
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import type { Batch, ChargeOutcome } from '../../../src/money/usage/bill.ts';
import type * as product from '../../../src/money/usage/charge-queue.ts';
import type { Actor } from '../support/actor.ts';
import { clock, type Played } from '../support/in-process.ts';
import type { Edit } from '../support/mutated.ts';

export const QUEUE_FILE = 'src/money/usage/charge-queue.ts';

export type QueueModule = Pick<typeof product, 'ChargeQueue'>;

/** For so long, a transaction of few records is the only one. */
const ALONE_MS = 80;
/** Whose batches each relay reports. */
const TENANTS = [
  [1, 2, 1],
  [1, 3, 2],
];
const OUTCOME: ChargeOutcome = {
  ...{ charged: 1, duplicates: 0, unbilled: 0, total: 1n, admitted: true, conflicts: 0 },
};

interface Numbered extends Batch {
  readonly number: number;
}

/** Relays that report, two connections that commit, and a clock. */
export function batches({ ChargeQueue }: QueueModule): Played {
  const connections: Actor[] = [];
  const faults: string[] = [];
  const charged: Numbered[] = [];
  const underWay = new Map<number, { readonly since: number; readonly tenants: readonly TenantId[] }>();
  let begun = 0;
  let reported = 0;
  const free = async (taken: readonly Batch[]) => {
    const at = begun;
    begun += 1;
    const now = performance.now();
    const tenants = taken.map(({ tenant }) => tenant);
    for (const { since, tenants: others } of underWay.values()) {
      if (now - since < ALONE_MS) faults.push('a small transaction is not alone');
      if (others.some((each) => tenants.includes(each))) faults.push('a tenant is in two transactions');
    }
    underWay.set(at, { since: now, tenants });
    return connections[at % connections.length]!.step(`commit ${tenants}`, async () => {
      underWay.delete(at);
      charged.push(...(taken as readonly Numbered[]));
      return { outcomes: new Map(taken.map((batch) => [batch, OUTCOME])), repeating: new Set<TenantId>() };
    });
  };
  const queue = new ChargeQueue(
    { free, tenant: () => Promise.reject(new Error('no account is locked')) },
    { aloneMs: ALONE_MS, transactions: 3 },
  );
  const report = (tenant: number) => {
    const records = new UsageRecords(Buffer.alloc(0), 1);
    records.length = 1;
    reported += 1;
    const batch: Numbered = { tenant: BigInt(tenant) as TenantId, records, number: reported };
    return queue.charge(batch);
  };
  const relays = TENANTS.map((tenants) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return {
      promise,
      work: async (actor: Actor) => {
        const outcomes: Promise<ChargeOutcome>[] = [];
        for (const tenant of tenants)
          await actor.step(`report ${tenant}`, async () => void outcomes.push(report(tenant)));
        await Promise.all(outcomes);
        resolve();
      },
    };
  });
  const all = Promise.all(relays.map(({ promise }) => promise));
  const connection = (actor: Actor) => {
    connections.push(actor);
    return all;
  };
  return {
    works: [connection, connection, clock(4, 50), ...relays.map(({ work }) => work)],
    check: () => faults[0] ?? findDisorder(charged),
  };
}

function findDisorder(charged: readonly Numbered[]): string | undefined {
  for (const [tenant, own] of Map.groupBy(charged, (batch) => batch.tenant)) {
    const numbers = own.map(({ number }) => number);
    if (numbers.some((each, at) => at > 0 && each < numbers[at - 1]!)) return `tenant ${tenant}: ${numbers}`;
  }
  return undefined;
}

export const QUEUE_RACES: readonly { readonly name: string; readonly edit: Edit }[] = [
  {
    name: 'a tenant is charged by two transactions',
    edit: {
      file: 'src/money/usage/waiting-batches.ts',
      from: 'for (const { tenant } of begun) this.hold(tenant);',
      to: '',
    },
  },
  {
    name: 'a slow transaction ends its time alone twice',
    edit: {
      file: QUEUE_FILE,
      from: 'if (!isOver) this.#alone[standing] -= 1;',
      to: 'this.#alone[standing] -= 1;',
    },
  },
];
