/** `admin verify`: checks everything that is stored. */
import type { Command } from 'commander';
import type Stripe from 'stripe';
import type { Db, Pool } from '../../base/db/pool.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { FIRST_CARRY } from '../../money/audit/audit-rules.ts';
import { compareAlerts } from '../../money/audit/compare-alerts.sql.ts';
import { compareSums } from '../../money/audit/compare-sums.sql.ts';
import { Recomputation } from '../../money/audit/recompute-charges.ts';
import {
  compareBalances,
  compareCarries,
  compareChains,
  comparePayments,
  compareRecords,
  compareReversals,
  compareStatuses,
  DIFFERENCES_MAX,
  type Difference,
  type LedgerSize,
  measureLedger,
  readCharges,
} from '../../money/audit/verify.sql.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { type Connected, withDatabase, withSnapshot } from './database.ts';
import { printJson, printLine, printTable } from './output.ts';
import { type Progress, startProgress } from './progress.ts';
import { requireProviderOf } from './provider.ts';

/** The comparisons, one statement each. */
const COMPARISONS: Readonly<Record<string, (db: Db) => Promise<Difference[]>>> = {
  balances: compareBalances,
  chains: compareChains,
  records: compareRecords,
  payments: comparePayments,
  reversals: compareReversals,
  carries: (db) => compareCarries(db, FIRST_CARRY),
  statuses: compareStatuses,
  'sums of usage': compareSums,
  alerts: compareAlerts,
};

export function verifyCommand(program: Command): void {
  withJson(
    program
      .command('verify')
      .description(
        'add everything up again and compare: balances, chains, records, payments, carries, sums of usage, alerts, every charge',
      ),
  )
    .option(
      '--payments',
      'also compare with the payments, refunds and disputes of the provider (STRIPE_SECRET_KEY, or the sandbox)',
    )
    .addHelpText(
      'after',
      '\nReads one state of the database throughout, beside a running service or without one. Exit code 1 when' +
        '\nanything differs. A payment whose notification is still on its way differs until it has arrived.',
    )
    .action(async ({ payments = false, json }: { payments?: boolean } & JsonOption, command: Command) => {
      await withDatabase(async (connected) => {
        const provider = payments ? await requireProviderOf(connected.config, command) : undefined;
        const findings: Findings = { differences: [], more: false };
        const size = await findDifferences(connected, provider?.stripe, findings);
        if (json) printFindingsJson(findings, size);
        else printFindings(findings, size);
        if (findings.differences.length > 0) process.exitCode = 1;
      });
    });
}

async function findDifferences(
  connected: Connected,
  stripe: Stripe | undefined,
  findings: Findings,
): Promise<LedgerSize> {
  const progress = startProgress();
  try {
    const size = await withSnapshot(connected, async (snapshot) => {
      const measured = await measureLedger(snapshot);
      await compareAll(snapshot, measured, findings, progress);
      return measured;
    });
    if (stripe) await comparePaymentsAtProvider(connected.db, stripe, findings, progress);
    return size;
  } finally {
    progress.stop();
  }
}

interface Findings {
  readonly differences: Difference[];
  /** A comparison found more differences than the report shows. */
  more: boolean;
}

async function compareAll(
  snapshot: Db,
  size: LedgerSize,
  findings: Findings,
  progress: Progress,
): Promise<void> {
  for (const [name, compare] of Object.entries(COMPARISONS)) {
    progress.at(`comparing ${name}`);
    const differences = await compare(snapshot);
    findings.differences.push(...differences);
    if (differences.length === DIFFERENCES_MAX) findings.more = true;
  }
  await recomputeCharges(snapshot, size, findings, progress);
}

async function recomputeCharges(
  snapshot: Db,
  size: LedgerSize,
  findings: Findings,
  progress: Progress,
): Promise<void> {
  const recomputation = new Recomputation(snapshot);
  const note = limitedTo(DIFFERENCES_MAX, findings);
  let done = 0;
  progress.at(`sorting ${size.records} records`);
  for await (const records of readCharges(snapshot)) {
    for (const record of records) note(await recomputation.add(record));
    done += records.length;
    progress.at(`computing charges again: ${done} of ${size.records} records`);
  }
  note(recomputation.finish());
}

async function comparePaymentsAtProvider(db: Pool, stripe: Stripe, findings: Findings, progress: Progress) {
  progress.at('asking the payment provider');
  const note = limitedTo(DIFFERENCES_MAX, findings);
  // Imports the client of the provider, as `requireProviderOf` does.
  const { compareWithProvider } = await import('../../money/audit/compare-provider.ts');
  for await (const difference of compareWithProvider(db, stripe)) note(difference);
}

/** Collects differences, up to a limit. */
function limitedTo(max: number, findings: Findings): (difference: Difference | undefined) => void {
  let noted = 0;
  return (difference) => {
    if (!difference) return;
    noted += 1;
    if (noted <= max) findings.differences.push(difference);
    else findings.more = true;
  };
}

function printFindings({ differences, more }: Findings, size: LedgerSize): void {
  if (differences.length === 0) {
    printLine(`ok: ${size.tenants} tenants, ${size.postings} postings, ${size.records} records`);
    return;
  }
  printTable(
    ['tenant', 'what', 'expected', 'found'],
    differences.map((each) => [renderTenantId(each.tenant), each.what, each.expected, each.found]),
  );
  if (more) printLine(`and more: only the first ${DIFFERENCES_MAX} of a kind are shown`);
}

function printFindingsJson({ differences, more }: Findings, size: LedgerSize): void {
  printJson({
    ok: differences.length === 0,
    ...size,
    differences: differences.map((each) => ({ ...each, tenant: renderTenantId(each.tenant) })),
    more,
  });
}
