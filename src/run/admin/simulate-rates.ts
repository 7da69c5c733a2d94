/** `admin rates simulate`: what usage of the past would have cost with another rate card. */
import { type Command, Option } from 'commander';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { parseRateCard, type UnversionedRateCard } from '../../money/pricing/rate-card.ts';
import { readRatesFile } from '../../money/pricing/rate-cards.ts';
import { addUp, type ComparedTenant, type Comparison } from '../../money/simulation/simulate-card.ts';
import { simulatePeriod } from '../../money/simulation/simulate-period.ts';
import type { Period } from '../../money/simulation/usage-of-period.sql.ts';
import { type JsonOption, parseTenant, parseTime, withJson } from './arguments.ts';
import { type Connected, withDatabase } from './database.ts';
import { type Cell, printJson, printLine, printTable } from './output.ts';
import { startProgress } from './progress.ts';

/** More take many minutes, and gigabytes of temporary disk, which a mistyped date should not cost. */
const RECORDS_MAX = 50_000_000n;

interface SimulateOptions extends JsonOption {
  readonly from: Date;
  readonly to: Date;
  readonly tenant?: TenantId;
  readonly all?: boolean;
}

const TIME = 'a day, such as 2026-11-01, which begins at 0:00 UTC, or a time, such as 2026-11-01T06:30:00Z';

export function simulateCommand(rates: Command): void {
  withJson(
    rates
      .command('simulate')
      .description('what the usage of a period would have cost with the card of a file'),
  )
    .argument('<file>', 'the draft: amounts are dollars in strings, like "0.60"')
    .addOption(required('--from <time>', `the start of the period: ${TIME}`))
    .addOption(required('--to <time>', 'the end, which is not part of it'))
    .addOption(new Option('--tenant <id>', 'only usage of this tenant').argParser(parseTenant))
    .option('--all', `even if the period has more than ${RECORDS_MAX} records`)
    .addHelpText('after', '\nNothing is changed. Usage that was not charged (exempt tenants) is shown apart.')
    .action(async (file: string, options: SimulateOptions, command: Command) => {
      const { from, to, tenant, json } = options;
      if (from >= to) command.error('error: --from must be before --to');
      const card = parseRateCard(await readRatesFile(file));
      await withDatabase(async (connected) => {
        const period = { from, to, tenant };
        const tenants = await simulate(connected, card, period, options.all ?? false);
        if (json) printJson(simulationJson(period, tenants));
        else printSimulation(tenants);
      });
    });
}

function required(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseTime).makeOptionMandatory();
}

async function simulate(
  { db, config }: Connected,
  card: UnversionedRateCard,
  period: Period,
  isAnyNumber: boolean,
): Promise<readonly ComparedTenant[]> {
  const progress = startProgress();
  try {
    return await simulatePeriod(db, {
      card,
      period,
      rounding: config.billingRounding,
      recordsMax: isAnyNumber ? undefined : RECORDS_MAX,
      instead: 'choose a shorter one, one tenant, or --all',
      at: progress.at,
    });
  } finally {
    progress.stop();
  }
}

function printSimulation(tenants: readonly ComparedTenant[]): void {
  const charged = tenants.filter((each) => each.charged.records > 0);
  const unbilled = tenants.filter((each) => each.unbilled.records > 0);
  if (charged.length > 0) printComparisons('charged', charged, 'charged');
  else printLine('no usage was charged in this period');
  if (unbilled.length === 0) return;
  printLine();
  printLine('accepted and not charged, because the tenants were exempt:');
  printComparisons('priced at', unbilled, 'unbilled');
}

function printComparisons(
  actual: string,
  tenants: readonly ComparedTenant[],
  which: 'charged' | 'unbilled',
): void {
  const comparisons = tenants.map((each) => each[which]);
  const rows = tenants.map((each): Cell[] => [renderTenantId(each.tenant), ...cells(each[which])]);
  printTable(
    ['tenant', 'records', actual, 'would be', 'difference'],
    [...rows, ['all', ...cells(addUp(comparisons))]],
    { right: ['records', actual, 'would be', 'difference'] },
  );
}

function cells({ records, actual, simulated }: Comparison): Cell[] {
  return [records, displayMicros(actual), displayMicros(simulated), displayMicros(simulated - actual)];
}

function simulationJson({ from, to }: Period, tenants: readonly ComparedTenant[]) {
  return {
    from,
    to,
    ...comparisonsJson(
      addUp(tenants.map(({ charged }) => charged)),
      addUp(tenants.map(({ unbilled }) => unbilled)),
    ),
    tenants: tenants.map(({ tenant, charged, unbilled }) => ({
      id: renderTenantId(tenant),
      ...comparisonsJson(charged, unbilled),
    })),
  };
}

function comparisonsJson(charged: Comparison, unbilled: Comparison) {
  return {
    records: charged.records,
    charged: renderAmount(charged.actual),
    would_be: renderAmount(charged.simulated),
    difference: renderAmount(charged.simulated - charged.actual),
    unbilled: {
      records: unbilled.records,
      priced_at: renderAmount(unbilled.actual),
      would_be: renderAmount(unbilled.simulated),
      difference: renderAmount(unbilled.simulated - unbilled.actual),
    },
  };
}
