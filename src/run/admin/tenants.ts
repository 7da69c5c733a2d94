/** `admin tenants ...` */
import { type Command, Option } from 'commander';
import { getTenantOverview, type TenantOverview } from '../../access/operators/get-tenant-overview.ts';
import {
  renderTenantId,
  TENANT_STATUSES,
  type Tenant,
  type TenantId,
  type TenantStatus,
} from '../../base/tenants/tenant.ts';
import type { Budget } from '../../control/budgets/budget.ts';
import { getBudgets } from '../../control/budgets/get-budgets.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { getTimeZone } from '../../money/calendar/get-time-zone.ts';
import type { TimeZone } from '../../money/calendar/time-zone.ts';
import type { TenantLine } from '../../money/overview/overview.sql.ts';
import { listTenants } from '../../money/overview/overview.ts';
import { type PaymentSettings, pauseOf } from '../../money/payments/payment-settings.ts';
import { PRICE_DENOMINATOR } from '../../money/pricing/usage-price.ts';
import { changeStatus, setExempt } from '../../money/tenant-status/change-status.ts';
import {
  type JsonOption,
  limitOption,
  reasonOption,
  tenantArgument,
  toldOption,
  withJson,
} from './arguments.ts';
import { createCommand } from './create-tenant.ts';
import { withDatabase } from './database.ts';
import { exportCommand } from './export-tenant.ts';
import { operator } from './operator.ts';
import { printFields, printJson, printLine, printTable } from './output.ts';
import { renameCommand } from './rename-tenant.ts';
import { budgetJson, printBudgets } from './tenant-budgets.ts';
import { limitsCommand, limitsJson, printLimits } from './tenant-limits.ts';

export function tenantsCommands(program: Command): void {
  const tenants = program.command('tenants').description('look at tenants and change their status');
  list(tenants);
  show(tenants);
  exportCommand(tenants);
  createCommand(tenants);
  move(
    tenants,
    'suspend',
    'suspended',
    'admit nothing more until it is resumed; credit may still be paid in',
  );
  move(tenants, 'resume', 'active', 'make a suspended or archived tenant active again');
  move(tenants, 'archive', 'archived', 'put an active or suspended tenant away');
  move(tenants, 'delete', 'deleted', 'delete the tenant for good; its ledger is kept');
  exempt(tenants);
  renameCommand(tenants);
  limitsCommand(tenants);
}

function list(tenants: Command): void {
  withJson(tenants.command('list').description('the newest tenants'))
    .addOption(new Option('--status <status>', 'only tenants of this status').choices(TENANT_STATUSES))
    .addOption(limitOption(50))
    .action(async ({ status, limit, json }: { status?: TenantStatus; limit: number } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        const found = await listTenants(db, { status, search: undefined, limit });
        if (json) return printJson(found.map(tenantJson));
        printTable(
          ['id', 'status', 'balance', 'exempt', 'created', 'email', 'name'],
          found.map((each) => [
            renderTenantId(each.id),
            each.status,
            displayMicros(each.balance),
            each.exempt,
            each.createdAt,
            each.email,
            each.name,
          ]),
          { right: ['balance'] },
        );
      });
    });
}

function tenantJson({ balance, ...tenant }: TenantLine) {
  return { ...tenantFields(tenant), balance: renderAmount(balance) };
}

function tenantFields({ id, name, email, status, exempt, createdAt }: Tenant) {
  return { id: renderTenantId(id), name, email, status, exempt, created_at: createdAt };
}

function show(tenants: Command): void {
  withJson(tenants.command('show').description('everything about one tenant, but no secret'))
    .addArgument(tenantArgument())
    .action(async (id: TenantId, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        const overview = {
          ...(await getTenantOverview(db, id)),
          zone: (await getTimeZone(db, id)).zone,
          budgets: await getBudgets(db, id),
        };
        if (json) printJson(overviewJson(overview));
        else printOverview(overview);
      });
    });
}

interface Shown extends TenantOverview {
  readonly zone: TimeZone;
  readonly budgets: readonly Budget[];
}

function overviewJson({ tenant, account, settings, keys, ...overview }: Shown) {
  return {
    ...tenantFields(tenant),
    admitted: overview.admitted,
    balance: renderAmount(account.balance),
    carry: { numerator: account.carry, denominator: PRICE_DENOMINATOR },
    postings: account.postings,
    conflicts: account.conflicts,
    time_zone: overview.zone,
    budgets: overview.budgets.map(budgetJson),
    keys: keys.map(({ id, kind, createdAt, retiresAt, revokedAt }) => ({
      id,
      kind,
      created_at: createdAt,
      retires_at: retiresAt,
      revoked_at: revokedAt,
    })),
    payments: {
      customer: settings.customerId,
      payment_method: settings.paymentMethodId,
      first_paid_at: settings.firstPaidAt,
      auto_top_up: {
        enabled: settings.topUpEnabled,
        below: renderAmount(settings.topUpBelow),
        amount: renderAmount(settings.topUpAmount),
        paused_until: pauseOf(settings),
        frozen_by: settings.frozenBy,
        reversed_payments: settings.reversedPayments,
        parked_payments: settings.parkedPayments,
        last_error: settings.lastTopUpError,
      },
    },
    history: overview.statusChanges,
    limits: limitsJson(overview.limited),
    limit_changes: overview.limitChanges,
  };
}

function printOverview({ tenant, account, settings, keys, ...overview }: Shown): void {
  const { statusChanges, limited, limitChanges } = overview;
  printFields({
    tenant: renderTenantId(tenant.id),
    name: tenant.name,
    email: tenant.email,
    status: tenant.status,
    exempt: tenant.exempt,
    created: tenant.createdAt,
    admitted: overview.admitted,
    balance: displayMicros(account.balance),
    carry: `${carryOf(account)} of a micro`,
    postings: account.postings,
    conflicts: account.conflicts,
    'time zone': overview.zone,
    customer: settings.customerId,
    'saved card': settings.paymentMethodId,
    'first paid': settings.firstPaidAt,
    'auto top-up': settings.topUpEnabled ? describeTopUp(settings) : 'off',
    'paused until': pauseOf(settings),
    'frozen by': settings.frozenBy.join(', '),
    'reversed payments': settings.reversedPayments.join(', '),
    'parked payments': settings.parkedPayments.join(', '),
    'last error': settings.lastTopUpError,
  });
  printLine();
  printTable(
    ['key', 'kind', 'created', 'retires', 'revoked'],
    keys.map((key) => [key.id, key.kind, key.createdAt, key.retiresAt, key.revokedAt]),
  );
  if (overview.budgets.length > 0) {
    printLine();
    printBudgets(overview.budgets);
  }
  printLine();
  printTable(
    ['changed', 'from', 'to', 'reason'],
    statusChanges.map((change) => [change.at, change.from, change.to, change.reason]),
  );
  printLine();
  printLimits(limited);
  if (limitChanges.length === 0) return;
  printLine();
  printTable(
    ['changed', 'limit', 'from', 'to', 'reason'],
    limitChanges.map((change) => [change.at, change.name, change.from, change.to, change.reason]),
  );
}

/** Four decimals, truncated. */
function carryOf({ carry }: TenantOverview['account']): string {
  return `0.${((carry * 10_000n) / PRICE_DENOMINATOR).toString().padStart(4, '0')}`;
}

function describeTopUp({ topUpBelow, topUpAmount }: PaymentSettings): string {
  return `${displayMicros(topUpAmount)} when below ${displayMicros(topUpBelow)}`;
}

function move(tenants: Command, name: string, status: TenantStatus, description: string): void {
  withJson(tenants.command(name).description(description))
    .addArgument(tenantArgument())
    .addOption(reasonOption())
    .addOption(toldOption())
    .action(async (id: TenantId, { reason, tell, json }: { reason: string; tell?: string } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        await changeStatus(db, operator(), id, status, reason, tell);
        if (json) printJson({ id: renderTenantId(id), status });
        else printLine(`${renderTenantId(id)} is ${status}`);
      });
    });
}

function exempt(tenants: Command): void {
  withJson(
    tenants.command('exempt').description('charge the tenant nothing; its usage is still priced and kept'),
  )
    .addArgument(tenantArgument())
    .option('--off', 'charge it again from now on; what it used while exempt is never billed')
    .action(async (id: TenantId, { off = false, json }: { off?: boolean } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        await setExempt(db, operator(), id, !off);
        if (json) printJson({ id: renderTenantId(id), exempt: !off });
        else printLine(`${renderTenantId(id)} is ${off ? 'no longer exempt' : 'exempt'}`);
      });
    });
}
