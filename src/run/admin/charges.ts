/** `admin charges ...` */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { correctCharges } from '../../money/corrections/correct-charges.ts';
import {
  owedBy,
  type Recomputed,
  type RecomputedSums,
  textOfPeriod,
} from '../../money/corrections/correction.ts';
import { recomputePeriod } from '../../money/corrections/recompute-period.ts';
import { type JsonOption, parseReason, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine, printTable } from './output.ts';
import { type PeriodOptions, recordsMaxOf, withPeriod } from './period.ts';
import { withProgress } from './progress.ts';

interface RecomputeOptions extends PeriodOptions, JsonOption {
  readonly card: number;
  readonly apply?: boolean;
  readonly reason?: string;
  readonly chargeMore?: boolean;
}

export function chargesCommands(program: Command): void {
  const charges = program.command('charges').description('what usage was charged, after the fact');
  const recompute = charges
    .command('recompute')
    .description('what another rate card would have charged in a period; with --apply, correct it')
    .addOption(
      new Option('--card <version>', 'a version that `rates show --all` lists')
        .argParser(parseVersion)
        .makeOptionMandatory(),
    )
    .option('--apply', 'post the differences')
    .addOption(
      new Option('--reason <text>', 'a line for the tenants, in their ledgers').argParser(parseReason),
    )
    .option('--charge-more', 'also charge tenants who paid too little');
  withPeriod(withJson(recompute))
    .addHelpText(
      'after',
      '\nWithout --apply, nothing is changed. With it, each tenant gets one entry of kind `correction`; given again, ' +
        'also after an interruption, what was posted is not posted again.',
    )
    .action(async (options: RecomputeOptions) => {
      await withDatabase(async ({ db, config }) => {
        const { from, to, tenant, card: rateVersion, apply, chargeMore: mayTake = false } = options;
        const { reason = `recomputed at version ${rateVersion} of the rate card` } = options;
        const period = { from, to, tenant };
        const rounding = config.billingRounding;
        const [found, posted] = await withProgress(async (at) => {
          const limits = recordsMaxOf(options);
          const all = await recomputePeriod(db, { period, rateVersion, rounding, ...limits, at });
          if (!apply) return [all, undefined];
          const correcting = { period: { from, to }, rateVersion, reason, mayTake, at };
          return [all, await correctCharges(db, operator(), all, correcting)];
        });
        if (options.json) printJson(recomputedJson(options, found, posted));
        else printRecomputed(found, posted);
      });
    });
}

/** `integer` of the database. */
const VERSION_MAX = 2 ** 31 - 1;

function parseVersion(text: string): number {
  const version = Number(text);
  if (/^[1-9][0-9]*$/.test(text) && version <= VERSION_MAX) return version;
  throw new InvalidArgumentError('It must be a version, such as 3.');
}

/** In all, as a row of its own. */
function addUp(found: readonly Recomputed[]) {
  const sum = { records: 0, charged: 0n, recomputed: 0n };
  for (const { records, charged, recomputed } of found) {
    sum.records += records;
    sum.charged += charged;
    sum.recomputed += recomputed;
  }
  return sum;
}

function printRecomputed(found: readonly Recomputed[], posted: number | undefined): void {
  if (found.length === 0) {
    printLine('no usage was charged in this period');
    return;
  }
  const cells = (each: RecomputedSums) => [
    each.records,
    displayMicros(each.charged),
    displayMicros(each.recomputed),
    displayMicros(owedBy(each)),
  ];
  const rows = found.map((each) => [
    renderTenantId(each.tenant),
    ...cells(each),
    each.overlapped && `corrected for ${textOfPeriod(each.overlapped)}`,
  ]);
  const numbers = ['records', 'charged', 'would be', 'to give back'];
  printTable(['tenant', ...numbers, 'in the way'], [...rows, ['all', ...cells(addUp(found)), undefined]], {
    right: numbers,
  });
  if (posted === undefined) printLine('nothing was posted: --apply posts what is to give back');
  else
    printLine(
      posted === 0 ? 'nothing was left to correct' : `posted ${posted} correction${posted === 1 ? '' : 's'}`,
    );
}

function recomputedJson(
  { from, to, card }: RecomputeOptions,
  found: readonly Recomputed[],
  posted: number | undefined,
) {
  const amounts = (each: RecomputedSums) => ({
    records: each.records,
    charged: renderAmount(each.charged),
    would_be: renderAmount(each.recomputed),
    to_give_back: renderAmount(owedBy(each)),
  });
  return {
    from,
    to,
    card,
    ...(posted !== undefined && { posted }),
    ...amounts(addUp(found)),
    tenants: found.map((each) => ({
      id: renderTenantId(each.tenant),
      ...amounts(each),
      ...(each.overlapped && { in_the_way: textOfPeriod(each.overlapped) }),
    })),
  };
}
