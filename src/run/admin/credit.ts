/** `admin credit ...` */
import type { Command } from 'commander';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayCents, displayMicros, renderAmount } from '../../money/amount.ts';
import { adjustCredit } from '../../money/ledger/adjust-credit.ts';
import { TYPED_ONCE_MAX } from '../../money/ledger/adjustment.ts';
import { type JsonOption, parseDollars, reasonOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';

const LARGE = displayCents(TYPED_ONCE_MAX);

interface AdjustOptions extends JsonOption {
  readonly reason: string;
  readonly id?: string;
  readonly confirm?: bigint;
  readonly allowNegative?: boolean;
}

export function creditCommands(program: Command): void {
  const credit = program.command('credit').description('give credit and take it back');
  withJson(credit.command('adjust').description('post an adjustment to the ledger of a tenant'))
    .addArgument(tenantArgument())
    .argument('<amount>', 'dollars, such as 12.50; -3 takes three dollars back', parseDollars)
    .addOption(reasonOption())
    .option('--id <text>', 'a name for this adjustment: given again, nothing is posted again')
    .option('--confirm <amount>', `the same amount again, if it is beyond ${LARGE} either way`, parseDollars)
    .option('--allow-negative', 'take credit even if the balance becomes negative')
    .action(async (tenant: TenantId, amount: bigint, options: AdjustOptions) => {
      const { reason, id, json, confirm, allowNegative = false } = options;
      await withDatabase(async ({ db }) => {
        const confirmed = { amount: confirm, negative: allowNegative };
        const adjustment = { amount, reason, id, confirmed };
        const { before, balance, posted } = await adjustCredit(db, operator(), tenant, adjustment);
        if (json) {
          printJson({
            tenant: renderTenantId(tenant),
            posted,
            amount: renderAmount(amount),
            before: renderAmount(before),
            balance: renderAmount(balance),
          });
        } else {
          const done = posted
            ? `posted ${displayMicros(amount)}; the balance was ${displayMicros(before)}, and is`
            : 'nothing posted: this adjustment was made before; the balance is';
          printLine(`${done} ${displayMicros(balance)}`);
        }
      });
    });
}
