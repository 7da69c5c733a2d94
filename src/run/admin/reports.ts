/** `admin report ...`: what accountants ask for at the end of a month. */
import { type Command, Option } from 'commander';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, microsOfCents, renderAmount } from '../../money/amount.ts';
import { endOf, type Month, parseMonth, startOf } from '../../money/month.ts';
import { isReturned, type PayoutSums } from '../../money/reports/payout.ts';
import type { Reconciliation, ReportedPayout } from '../../money/reports/reconcile-payouts.ts';
import { type Credit, type RevenueReport, reportRevenue } from '../../money/reports/report-revenue.ts';
import { type JsonOption, parsed, parseTenant, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine, printTable } from './output.ts';
import { withProgress } from './progress.ts';
import { requireProviderOf } from './provider.ts';

interface MonthOption extends JsonOption {
  readonly month: Month;
}

export function reportCommands(program: Command): void {
  const report = program.command('report').description('what accountants ask for at the end of a month');
  revenue(report);
  payouts(report);
}

function monthOption(): Option {
  return new Option('--month <month>', 'a calendar month in UTC, such as 2026-10')
    .argParser(parseMonthOption)
    .makeOptionMandatory();
}

function parseMonthOption(text: string): Month {
  return parsed(parseMonth(text), 'It must be a month, such as 2026-10.');
}

function revenue(report: Command): void {
  withJson(
    report
      .command('revenue')
      .description('credit at the start and at the end of a month, and everything that changed it'),
  )
    .addOption(monthOption())
    .addOption(new Option('--tenant <id>', 'only this tenant').argParser(parseTenant))
    .addHelpText('after', '\nFrom the ledger alone, in one state of it. Exit code 1 if it does not add up.')
    .action(async ({ month, tenant, json }: MonthOption & { tenant?: TenantId }) => {
      await withDatabase(async ({ db }) => {
        const found = await reportRevenue(db, month, tenant);
        if (json) printJson(revenueJson(found, tenant));
        else printRevenue(found);
      });
    });
}

function describeMonth({ month, soFar }: { month: Month; soFar: boolean }): string {
  return soFar ? `${month} so far` : month;
}

function printRevenue(report: RevenueReport): void {
  const credit = (name: string, { total, unused, owed, granted }: Credit): [string, bigint][] => [
    [name, total],
    ['  unused (liability)', unused],
    ['  owed (receivable)', owed],
    ['  granted, not paid', granted],
  ];
  const lines: readonly [string, bigint][] = [
    ...credit('credit at the start', report.opening),
    ['payments', report.payments],
    ['usage (revenue)', report.usage],
    ['  paid by grants', report.paidByGrants],
    ['refunds', report.refunds],
    ['disputes', report.disputes],
    ['adjustments', report.adjustments],
    ['corrections of usage', report.corrections],
    ['grants', report.grants],
    ['grants expired or voided', report.grantsEnded],
    ...credit('credit at the end', report.closing),
    ['not billed (exempt tenants)', report.unbilled],
  ];
  printTable(
    [describeMonth(report), 'amount'],
    lines.map(([name, amount]) => [name, displayMicros(amount)]),
    { right: ['amount'] },
  );
}

function creditJson({ total, unused, owed, granted }: Credit) {
  return {
    total: renderAmount(total),
    unused: renderAmount(unused),
    owed: renderAmount(owed),
    granted: renderAmount(granted),
  };
}

function monthJson({ month, soFar }: { month: Month; soFar: boolean }) {
  return { month, from: startOf(month), until: endOf(month), so_far: soFar };
}

function revenueJson(report: RevenueReport, tenant: TenantId | undefined) {
  return {
    ...monthJson(report),
    as_of: report.asOf,
    ...(tenant !== undefined && { tenant: renderTenantId(tenant) }),
    opening: creditJson(report.opening),
    payments: renderAmount(report.payments),
    usage: renderAmount(report.usage),
    paid_by_grants: renderAmount(report.paidByGrants),
    refunds: renderAmount(report.refunds),
    disputes: renderAmount(report.disputes),
    adjustments: renderAmount(report.adjustments),
    corrections: renderAmount(report.corrections),
    grants: renderAmount(report.grants),
    grants_ended: renderAmount(report.grantsEnded),
    closing: creditJson(report.closing),
    unbilled: renderAmount(report.unbilled),
  };
}

function payouts(report: Command): void {
  withJson(
    report
      .command('payouts')
      .description('payouts of the provider that arrived in a month, compared with what is booked here'),
  )
    .addOption(monthOption())
    .addHelpText(
      'after',
      '\nAsks the payment provider (STRIPE_SECRET_KEY, or the sandbox). Exit code 1 when anything differs.',
    )
    .action(async ({ month, json }: MonthOption, command: Command) => {
      await withDatabase(async ({ db, config }) => {
        const { stripe } = await requireProviderOf(config, command);
        const { reconcilePayouts } = await import('../../money/reports/reconcile-payouts.ts');
        const found = await withProgress((at) => {
          at('asking the payment provider');
          return reconcilePayouts(db, stripe, month);
        });
        if (json) printJson(payoutsJson(found));
        else printPayouts(found);
        if (found.differences.length > 0) process.exitCode = 1;
      });
    });
}

/** The smallest unit of a currency other than dollars is not always a hundredth. */
function displayMinor(amount: number, currency: string): string {
  return currency === 'usd' ? displayMicros(microsOfCents(amount)) : `${amount} ${currency}`;
}

const SUMS = ['gross', 'reversed', 'fees', 'other', 'net'] as const;

function printPayouts(report: Reconciliation): void {
  const lines = report.payouts.map(({ payout, sums }) => [
    payout.id,
    new Date(payout.arrival_date * 1000),
    payout.status,
    ...SUMS.map((name) => displayMinor(sums[name], payout.currency)),
  ]);
  const totals = totalsOf(report.payouts).map(({ currency, sums }) => [
    `total of ${describeMonth(report)}`,
    null,
    null,
    ...SUMS.map((name) => displayMinor(sums[name], currency)),
  ]);
  if (lines.length === 0) printLine(`no payouts in ${describeMonth(report)}`);
  else printTable(['payout', 'arrives', 'status', ...SUMS], [...lines, ...totals], { right: SUMS });
  for (const { transactions, net, currency } of report.waiting) {
    printLine(`not paid out yet: ${displayMinor(net, currency)} of ${transactions} transactions`);
  }
  if (report.differences.length === 0) return;
  printLine();
  printTable(
    ['difference', 'expected', 'found'],
    report.differences.map(({ what, expected, found }) => [what, expected, found]),
  );
}

/** By currency, without payouts that came back. */
function totalsOf(payouts: readonly ReportedPayout[]): { currency: string; sums: PayoutSums }[] {
  const arrived = payouts.filter(({ payout }) => !isReturned(payout));
  const currencies = [...new Set(arrived.map(({ payout }) => payout.currency))];
  return currencies.map((currency) => {
    const own = arrived.filter(({ payout }) => payout.currency === currency);
    const sum = (name: keyof PayoutSums) => own.reduce((total, { sums }) => total + sums[name], 0);
    const [gross, reversed, fees, other, net] = SUMS.map(sum) as [number, number, number, number, number];
    return { currency, sums: { gross, reversed, fees, other, net } };
  });
}

function payoutsJson(report: Reconciliation) {
  return {
    ...monthJson(report),
    payouts: report.payouts.map(({ payout, sums }) => ({
      id: payout.id,
      created_at: new Date(payout.created * 1000),
      arrives_at: new Date(payout.arrival_date * 1000),
      status: payout.status,
      currency: payout.currency,
      ...sums,
    })),
    totals: totalsOf(report.payouts).map(({ currency, sums }) => ({ currency, ...sums })),
    waiting: report.waiting,
    ok: report.differences.length === 0,
    differences: report.differences,
  };
}
