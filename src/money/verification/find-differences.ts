/** Adds everything up again, and compares it with what is stored. */
import type { Db, Pool } from '../../base/db/pool.ts';
import { withSnapshot } from '../../base/db/snapshot.ts';
import type { Provider } from '../payments/provider.ts';
import { compareAlerts } from './compare-alerts.sql.ts';
import { compareGrantEnds } from './compare-grant-ends.ts';
import { compareKnownIds } from './compare-known-ids.ts';
import { compareRecords, note } from './compare-records.ts';
import { compareRolledUp } from './compare-sums.sql.ts';
import { FIRST_CARRY } from './recompute-rules.ts';
import {
  compareArchived,
  compareBalances,
  compareCarries,
  compareChains,
  compareCorrections,
  compareGrants,
  comparePayments,
  compareReversals,
  compareStatuses,
  DIFFERENCES_MAX,
  type Difference,
  type LedgerSize,
  measureLedger,
} from './verify.sql.ts';

/** The comparisons, most of them one statement each. Those of records come after them. */
const COMPARISONS: Readonly<Record<string, (db: Db) => Promise<Difference[]>>> = {
  balances: compareBalances,
  chains: compareChains,
  payments: comparePayments,
  reversals: compareReversals,
  corrections: compareCorrections,
  grants: compareGrants,
  'ends of grants': compareGrantEnds,
  carries: (db) => compareCarries(db, FIRST_CARRY),
  statuses: compareStatuses,
  'sums of usage': compareRolledUp,
  alerts: compareAlerts,
  'ends of the archive': compareArchived,
  'known ids': compareKnownIds,
};

export interface Findings {
  readonly size: LedgerSize;
  readonly differences: readonly Difference[];
  /** A comparison found more differences than there are here. */
  readonly more: boolean;
}

/** The current step: what it does, and how many records of how many it has computed again. */
export type AtStep = (what: string, done: bigint, total: bigint) => void;

export interface Verification {
  /** Also compare with the payments, refunds and disputes of the provider. */
  readonly provider?: Provider | undefined;
  readonly at: AtStep;
  /** When it is aborted, the verification fails. */
  readonly stopping?: AbortSignal;
}

/** Reads one state of the database throughout, which may take hours. The provider is asked after that. */
export async function findDifferences(db: Pool, { provider, at, stopping }: Verification): Promise<Findings> {
  const { size, found } = await withSnapshot(
    db,
    async (snapshot) => {
      const measured = await measureLedger(snapshot);
      return { size: measured, found: await compareAll(snapshot, measured, at) };
    },
    stopping && { stopping },
  );
  if (provider) {
    at('asking the payment provider', size.records, size.records);
    found.push(await compareAtProvider(db, provider, stopping));
  }
  return {
    size,
    differences: found.flat(),
    more: found.some(({ length }) => length === DIFFERENCES_MAX),
  };
}

/** The differences of each comparison. */
async function compareAll(
  snapshot: Db,
  { records: total }: LedgerSize,
  at: AtStep,
): Promise<(readonly Difference[])[]> {
  const found: (readonly Difference[])[] = [];
  for (const [name, compare] of Object.entries(COMPARISONS)) {
    at(`comparing ${name}`, 0n, total);
    found.push(await compare(snapshot));
  }
  at(`sorting ${total} records`, 0n, total);
  const [damaged, ...ofRecords] = await compareRecords(snapshot, {
    at: (done) => at(`computing charges again: ${done} of ${total} records`, done, total),
  });
  // Others follow from damage.
  return [damaged!, ...found, ...ofRecords];
}

async function compareAtProvider(
  db: Pool,
  { stripe }: Provider,
  signal: AbortSignal | undefined,
): Promise<Difference[]> {
  const found: Difference[] = [];
  // Imports the client of the provider.
  const { compareWithProvider } = await import('./compare-provider.ts');
  for await (const difference of compareWithProvider(db, stripe, signal && { signal }))
    note(found, [difference]);
  return found;
}
