/** What a hard budget costs each token: mints of a tenant with one, and of a tenant without. */
import { inTransaction } from '../src/base/db/transaction.ts';
import { BUDGET_MICROS_MAX } from '../src/control/budgets/budget.ts';
import { putBudget } from '../src/control/budgets/put-budget.ts';
import { RateCards } from '../src/money/pricing/rate-cards.ts';
import { callerOf } from '../test/support/tenants.ts';
import type { Benchmark } from './benchmark.ts';
import { byCpu } from './guard.ts';
import { minting, openMints } from './mint.ts';
import { type BenchTenant, openStand, type Stand } from './stand.ts';

const IN_FLIGHT = 32;
const TIMED = { warmUp: 3_000, seconds: 0.8 };

export const budgetMint: Benchmark = {
  name: 'budget-mint',
  summary: 'CPU time of mints with a hard budget, beside mints of a tenant that has none',
  protocol: `MintClientToken as in guard-mint, for users who are there and for newcomers, ${IN_FLIGHT} calls in flight: of a tenant without
    budgets, and of one with a hard budget of everything, in turns. Each has a process of its own, on one database. The result is
    microseconds a call of the service and PostgreSQL together (Linux only).`,
  rounds: 11,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    const without = await openMints(bench, stand);
    const budgeted = await openMints(bench, stand, (backend) => putHardBudget(stand, backend));
    for (const who of ['renewals', 'newcomers'] as const) {
      const side = async (name: string, mints: typeof without) => ({
        ...(await minting(bench, mints[who], IN_FLIGHT, TIMED)),
        name,
      });
      await bench.compare({
        title: who,
        unit: 'us/call',
        contestants: [
          byCpu(await side('without a budget', without), 'floor'),
          byCpu(await side('with a hard budget', budgeted), 'ours'),
        ],
        warmUpRounds: 0,
      });
    }
  },
};

function putHardBudget({ db }: Stand, { tenant }: BenchTenant) {
  const everything = { keyId: null, room: null, customer: null, period: 'month' } as const;
  return inTransaction(db, (tx) =>
    putBudget(tx, { rates: new RateCards() }, callerOf(tenant), {
      ...{ id: 'all', ...everything, max: BigInt(BUDGET_MICROS_MAX), hard: true, shares: [] },
    }),
  );
}
