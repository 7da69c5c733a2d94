/** `admin credit ...` */
import type { Command } from 'commander';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { adjustCredit } from '../../money/ledger/adjust-credit.ts';
import { type JsonOption, parseDollars, reasonOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';

interface AdjustOptions extends JsonOption {
  readonly reason: string;
  readonly id?: string;
}

export function creditCommands(program: Command): void {
  const credit = program.command('credit').description('give credit and take it back');
  withJson(credit.command('adjust').description('post an adjustment to the ledger of a tenant'))
    .addArgument(tenantArgument())
    .argument('<amount>', 'dollars, such as 12.50; -3 takes three dollars back', parseDollars)
    .addOption(reasonOption())
    .option('--id <text>', 'a name for this adjustment: given again, nothing is posted again')
    .action(async (tenant: TenantId, amount: bigint, { reason, id, json }: AdjustOptions) => {
      await withDatabase(async ({ db }) => {
        const { balance, posted } = await adjustCredit(db, operator(), tenant, { amount, reason, id });
        if (json) {
          printJson({
            tenant: renderTenantId(tenant),
            posted,
            amount: renderAmount(amount),
            balance: renderAmount(balance),
          });
        } else {
          const done = posted
            ? `posted ${displayMicros(amount)}`
            : 'nothing posted: this adjustment was made before';
          printLine(`${done}; the balance is ${displayMicros(balance)}`);
        }
      });
    });
}
