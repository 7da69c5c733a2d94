/** `admin credit ...`: adjustments, and grants, which usage spends before paid credit. */
import type { Command } from 'commander';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayCents, displayMicros, renderAmount } from '../../money/amount.ts';
import { GRANT_KEY_MAX, type Grant, type GrantNow, spentOf } from '../../money/grants/grant.ts';
import { grantCredit, voidGrant } from '../../money/grants/grant-credit.ts';
import { listGrants } from '../../money/grants/list-grants.ts';
import { adjustCredit } from '../../money/ledger/adjust-credit.ts';
import { TYPED_ONCE_MAX } from '../../money/ledger/adjustment.ts';
import {
  type JsonOption,
  limitOption,
  parseDollars,
  parseText,
  parseTime,
  reasonOption,
  tenantArgument,
  withJson,
} from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine, printTable } from './output.ts';

const LARGE = displayCents(TYPED_ONCE_MAX);
const WHY = 'why; the tenant reads it';

interface AdjustOptions extends JsonOption {
  readonly reason: string;
  readonly id?: string;
  readonly confirm?: bigint;
  readonly allowNegative?: boolean;
}

export function creditCommands(program: Command): void {
  const credit = program.command('credit').description('give credit and take it back');
  adjust(credit);
  grant(credit);
  voidOne(credit);
  list(credit);
}

function adjust(credit: Command): void {
  withJson(credit.command('adjust').description('post an adjustment to the ledger of a tenant'))
    .addArgument(tenantArgument())
    .argument('<amount>', 'dollars, such as 12.50; -3 takes three dollars back', parseDollars)
    .addOption(reasonOption(WHY))
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

interface GrantOptions extends JsonOption {
  readonly reason: string;
  readonly expires?: Date;
  readonly id?: string;
  readonly confirm?: bigint;
}

function grant(credit: Command): void {
  withJson(credit.command('grant').description('grant credit, which usage spends before paid credit'))
    .addArgument(tenantArgument())
    .argument('<amount>', 'dollars, such as 12.50', parseDollars)
    .addOption(reasonOption(WHY))
    .option('--expires <time>', 'when what is left leaves the balance; without it, never', parseTime)
    .option('--id <text>', 'a name for this grant: given again, nothing is granted again', parseKey)
    .option('--confirm <amount>', `the same amount again, if it is beyond ${LARGE}`, parseDollars)
    .action(async (tenant: TenantId, amount: bigint, options: GrantOptions) => {
      const { reason, expires: expiresAt, id: key, confirm, json } = options;
      await withDatabase(async ({ db }) => {
        const given = { amount, reason, expiresAt, key, confirmed: { amount: confirm } };
        const { grant: made, balance, posted } = await grantCredit(db, operator(), tenant, given);
        if (json) return printJson({ ...grantJson(tenant, made), posted, balance: renderAmount(balance) });
        const done = posted
          ? `granted ${displayMicros(amount)} as ${made.id}`
          : `nothing granted: ${made.id} was granted before`;
        printLine(`${done}; the balance is ${displayMicros(balance)}`);
      });
    });
}

function parseKey(text: string): string {
  return parseText(text, GRANT_KEY_MAX);
}

function voidOne(credit: Command): void {
  withJson(credit.command('void').description('take back what is left of a grant'))
    .addArgument(tenantArgument())
    .argument('<grant>', 'its id, gr_...')
    .addOption(reasonOption(WHY))
    .action(async (tenant: TenantId, id: string, { reason, json }: { reason: string } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        const { grant: made, balance, posted } = await voidGrant(db, operator(), tenant, { id, reason });
        if (json) return printJson({ ...grantJson(tenant, made), posted, balance: renderAmount(balance) });
        const done = posted
          ? `took back ${displayMicros(made.forfeited)} of ${made.id}`
          : `nothing taken back: nothing is left of ${made.id}`;
        printLine(`${done}; the balance is ${displayMicros(balance)}`);
      });
    });
}

function list(credit: Command): void {
  withJson(credit.command('list').description('the grants of a tenant, the newest first'))
    .addArgument(tenantArgument())
    .addOption(limitOption(100))
    .action(async (tenant: TenantId, { limit, json }: { limit: number } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        await getTenant(db, tenant);
        const { items, left } = (await listGrants(db, tenant, undefined, limit))!;
        if (json)
          return printJson({
            left: renderAmount(left),
            grants: items.map((each) => listedJson(tenant, each)),
          });
        if (items.length === 0) return printLine('no grants');
        printTable(
          ['grant', 'state', 'amount', 'left', 'spent', 'forfeited', 'granted', 'expires', 'reason'],
          items.map((each) => [
            each.id,
            each.state,
            displayMicros(each.amount),
            displayMicros(each.left),
            displayMicros(spentOf(each)),
            displayMicros(each.forfeited),
            each.grantedAt,
            each.expiresAt,
            each.reason,
          ]),
          { right: ['amount', 'left', 'spent', 'forfeited'] },
        );
      });
    });
}

function grantJson(tenant: TenantId, { id, amount, reason, grantedAt, expiresAt, forfeited }: Grant) {
  return {
    tenant: renderTenantId(tenant),
    id,
    amount: renderAmount(amount),
    forfeited: renderAmount(forfeited),
    reason,
    granted_at: grantedAt,
    expires_at: expiresAt,
  };
}

function listedJson(tenant: TenantId, grant: GrantNow) {
  const { state, left } = grant;
  return {
    ...grantJson(tenant, grant),
    state,
    left: renderAmount(left),
    spent: renderAmount(spentOf(grant)),
  };
}
