/** `admin rates simulate`: what usage of the past would have cost with another rate card. */
import type { Command } from 'commander';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { parseRateCard } from '../../money/pricing/rate-card.ts';
import { readRatesFile } from '../../money/pricing/rate-cards.ts';
import { addUp, type ComparedTenant, type Comparison } from '../../money/simulation/simulate-card.ts';
import { simulatePeriod } from '../../money/simulation/simulate-period.ts';
import type { Period } from '../../money/simulation/usage-of-period.sql.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { type Cell, printJson, printLine, printTable } from './output.ts';
import { type PeriodOptions, recordsMaxOf, withPeriod } from './period.ts';
import { withProgress } from './progress.ts';

export function simulateCommand(rates: Command): void {
  const simulate = rates
    .command('simulate')
    .description('what the usage of a period would have cost with the card of a file')
    .argument('<file>', 'the draft: amounts are dollars in strings, like "0.60"');
  withPeriod(withJson(simulate))
    .addHelpText('after', '\nNothing is changed. Usage that was not charged (exempt tenants) is shown apart.')
    .action(async (file: string, options: PeriodOptions & JsonOption) => {
      const { from, to, tenant, json } = options;
      const card = parseRateCard(await readRatesFile(file));
      await withDatabase(async ({ db, config }) => {
        const period = { from, to, tenant };
        const rounding = config.billingRounding;
        const tenants = await withProgress((at) =>
          simulatePeriod(db, { card, period, rounding, ...recordsMaxOf(options), at }),
        );
        if (json) printJson(simulationJson(period, tenants));
        else printSimulation(tenants);
      });
    });
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
