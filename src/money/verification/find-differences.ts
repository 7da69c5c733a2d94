/** Adds everything up again, and compares it with what is stored. */
import type { Db, Pool } from '../../base/db/pool.ts';
import { withSnapshot } from '../../base/db/snapshot.ts';
import type { Provider } from '../payments/provider.ts';
import { compareAlerts } from './compare-alerts.sql.ts';
import { compareGrantEnds } from './compare-grant-ends.ts';
import { compareSums } from './compare-sums.sql.ts';
import { Recomputation } from './recompute-charges.ts';
import { FIRST_CARRY } from './recompute-rules.ts';
import {
  compareBalances,
  compareCarries,
  compareChains,
  compareCorrections,
  compareGrants,
  comparePayments,
  compareRecords,
  compareReversals,
  compareStatuses,
  DIFFERENCES_MAX,
  type Difference,
  type LedgerSize,
  measureLedger,
  readCharges,
} from './verify.sql.ts';

/** The comparisons, most of them one statement each. */
const COMPARISONS: Readonly<Record<string, (db: Db) => Promise<Difference[]>>> = {
  balances: compareBalances,
  chains: compareChains,
  records: compareRecords,
  payments: comparePayments,
  reversals: compareReversals,
  corrections: compareCorrections,
  grants: compareGrants,
  'ends of grants': compareGrantEnds,
  carries: (db) => compareCarries(db, FIRST_CARRY),
  statuses: compareStatuses,
  'sums of usage': compareSums,
  alerts: compareAlerts,
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
  const findings: Collected = { differences: [], more: false };
  const size = await withSnapshot(
    db,
    async (snapshot) => {
      const measured = await measureLedger(snapshot);
      await compareAll(snapshot, measured, findings, at);
      return measured;
    },
    stopping && { stopping },
  );
  if (provider) {
    at('asking the payment provider', size.records, size.records);
    await compareAtProvider(db, provider, findings, stopping);
  }
  return { size, ...findings };
}

interface Collected {
  readonly differences: Difference[];
  more: boolean;
}

async function compareAll(snapshot: Db, size: LedgerSize, findings: Collected, at: AtStep): Promise<void> {
  for (const [name, compare] of Object.entries(COMPARISONS)) {
    at(`comparing ${name}`, 0n, size.records);
    const differences = await compare(snapshot);
    findings.differences.push(...differences);
    if (differences.length === DIFFERENCES_MAX) findings.more = true;
  }
  await recomputeCharges(snapshot, size, findings, at);
}

async function recomputeCharges(
  snapshot: Db,
  { records: total }: LedgerSize,
  findings: Collected,
  at: AtStep,
): Promise<void> {
  const recomputation = new Recomputation(snapshot);
  const note = limitedTo(DIFFERENCES_MAX, findings);
  let done = 0n;
  at(`sorting ${total} records`, done, total);
  for await (const records of readCharges(snapshot)) {
    for (const record of records) note(await recomputation.add(record));
    done += BigInt(records.length);
    at(`computing charges again: ${done} of ${total} records`, done, total);
  }
  note(recomputation.finish());
}

async function compareAtProvider(
  db: Pool,
  { stripe }: Provider,
  findings: Collected,
  signal: AbortSignal | undefined,
): Promise<void> {
  const note = limitedTo(DIFFERENCES_MAX, findings);
  // Imports the client of the provider.
  const { compareWithProvider } = await import('./compare-provider.ts');
  for await (const difference of compareWithProvider(db, stripe, signal && { signal })) note(difference);
}

/** Collects differences, up to a limit. */
function limitedTo(max: number, findings: Collected): (difference: Difference | undefined) => void {
  let noted = 0;
  return (difference) => {
    if (!difference) return;
    noted += 1;
    if (noted <= max) findings.differences.push(difference);
    else findings.more = true;
  };
}
