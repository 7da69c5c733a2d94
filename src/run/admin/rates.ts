/** `admin rates ...` */
import type { Command } from 'commander';
import { displayMicros } from '../../money/amount.ts';
import { parseRateCard, type RateCardRow } from '../../money/pricing/rate-card.ts';
import { listRateCards, loadDraft, readRatesFile } from '../../money/pricing/rate-cards.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printFields, printJson, printLine, printTable } from './output.ts';
import { simulateCommand } from './simulate-rates.ts';

export function ratesCommands(program: Command): void {
  const rates = program.command('rates').description('rate cards');
  withJson(rates.command('show').description('the rate card in effect'))
    .option('--all', 'every version there ever was, the newest first')
    .action(async ({ all = false, json }: { all?: boolean } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        const cards = await listRateCards(db);
        const shown = all ? cards : cards.slice(0, 1);
        if (json) return printJson(all ? shown.map(cardJson) : cardJson(cards[0]));
        for (const [at, card] of shown.entries()) {
          if (at > 0) printLine();
          printCard(card);
        }
      });
    });

  withJson(rates.command('load').description('make the card of a JSON file the one that prices from now on'))
    .argument('<file>', 'amounts are dollars in strings, like "0.60"')
    .option('--again', 'load it even if an earlier version had the same prices')
    .action(async (file: string, { again = false, json }: { again?: boolean } & JsonOption) => {
      const card = await readRatesFile(file);
      await withDatabase(async ({ db }) => {
        const { version, loaded } = await loadDraft(db, operator(), card, { again });
        if (json) printJson({ version, loaded });
        else
          printLine(
            loaded
              ? `version ${version} is in effect`
              : `nothing changed: this is version ${version} already`,
          );
      });
    });

  simulateCommand(rates);
}

function cardJson({ version, effectiveAt, card }: RateCardRow) {
  return { version, effective_at: effectiveAt, card };
}

function printCard({ version, effectiveAt, card }: RateCardRow): void {
  const rates = parseRateCard(card);
  printFields({
    version,
    'in effect since': effectiveAt,
    'egress cost per GiB': displayMicros(rates.egressCostPerGib),
    markup: `${rates.markupBasisPoints} basis points`,
    'platform fee per GiB': displayMicros(rates.platformFeePerGib),
  });
  printTable(
    ['at most, per 1000 minutes', ...TIERS],
    ROLES.map((role) => [
      role,
      ...TIERS.map((tier) => displayMicros(rates.ceilingPer1000Minutes[role][tier])),
    ]),
    { right: TIERS },
  );
}
