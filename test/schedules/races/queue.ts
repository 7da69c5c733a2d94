/** Batches that wait for a transaction: those of a tenant go one after another, and small transactions alone at first. */
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import type { Batch, ChargeOutcome } from '../../../src/money/usage/bill.ts';
import * as module from '../../../src/money/usage/charge-queue.ts';
import { Connections, inProcess, type Played } from '../support/in-process.ts';

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

function queued({ ChargeQueue }: Pick<typeof module, 'ChargeQueue'>): Played {
  const connections = new Connections();
  const faults: string[] = [];
  const charged: Numbered[] = [];
  const underWay = new Set<{ readonly since: number; readonly tenants: readonly TenantId[] }>();
  let reported = 0;
  const free = async (taken: readonly Batch[]) => {
    const own = { since: performance.now(), tenants: taken.map(({ tenant }) => tenant) };
    for (const { since, tenants } of underWay) {
      if (own.since - since < ALONE_MS) faults.push('a small transaction is not alone');
      if (tenants.some((each) => own.tenants.includes(each))) faults.push('a tenant is in two transactions');
    }
    underWay.add(own);
    return connections.send(`commit ${own.tenants}`, async () => {
      underWay.delete(own);
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
  return {
    works: connections.serve({ questions: TENANTS, ask: report, tickMs: 50 }),
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

export const CHARGE_QUEUE = inProcess(
  { part: 'charge queue', scenario: 'batches that wait', file: 'src/money/usage/charge-queue.ts', module },
  queued,
  [
    {
      name: 'a tenant is charged by two transactions',
      file: 'src/money/usage/waiting-batches.ts',
      from: 'for (const { tenant } of begun) this.hold(tenant);',
      to: '',
    },
    {
      name: 'a slow transaction ends its time alone twice',
      from: 'if (!isOver) this.#alone[standing] -= 1;',
      to: 'this.#alone[standing] -= 1;',
    },
  ],
);
