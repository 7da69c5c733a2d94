/** `admin payments ...`: notifications of the payment provider that could not be applied. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { hideSecrets } from '../../base/telemetry/log.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { listParked } from '../../money/parked/list-parked.ts';
import type { OpenEvent } from '../../money/parked/open-event.ts';
import type { SettledParked } from '../../money/provider-events/settle-parked.ts';
import { type JsonOption, limitOption, reasonOption, withJson } from './arguments.ts';
import { type Connected, withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine, printTable } from './output.ts';
import { requireProviderOf } from './provider.ts';

/** How many `settle --all` settles at most. */
const ALL_MAX = 100_000;

export function paymentsCommands(program: Command): void {
  const payments = program
    .command('payments')
    .description('notifications of the payment provider that could not be applied');
  withJson(
    payments
      .command('list-parked')
      .description('parked notifications, and those that fail and are tried again, with the reason'),
  )
    .addOption(limitOption(100))
    .action(({ limit, json }: { limit: number } & JsonOption) => printParked(limit, json));
  settle(payments);
  withJson(
    payments
      .command('dismiss')
      .description('take a parked notification off the list without credit, such as after a refund')
      .argument('<id>', 'a notification (evt_...) or its payment (pi_...)'),
  )
    .addOption(reasonOption())
    .action(async (id: string, { reason, json }: { reason: string } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        const { dismissParked } = await import('../../money/provider-events/settle-parked.ts');
        await dismissParked({ db }, operator(), id, reason);
        if (json) printJson({ id, dismissed: true });
        else printLine(`${id} is dismissed`);
      });
    });
}

export async function printParked(limit: number, json: boolean | undefined): Promise<void> {
  await withDatabase(async ({ db }) => {
    const parked = await listParked(db, limit);
    if (json) return printJson(parked.map(eventJson));
    if (parked.length === 0) return printLine('no parked notifications');
    printTable(
      ['notification', 'type', 'received', 'state', 'tenant', 'payment', 'reason'],
      parked.map((each) => [
        each.id,
        each.type,
        each.receivedAt,
        each.state,
        each.tenant && renderTenantId(each.tenant),
        each.paymentId,
        each.reason,
      ]),
    );
  });
}

function eventJson({ id, type, state, tenant, paymentId, reason, tries, receivedAt }: OpenEvent) {
  return {
    id,
    type,
    state,
    tenant: tenant && renderTenantId(tenant),
    payment: paymentId,
    reason,
    tries,
    received_at: receivedAt,
  };
}

interface SettleOptions extends JsonOption {
  readonly all?: boolean;
}

/** The result for one id: what was credited, or why it is still parked. */
interface Result extends SettledParked {
  readonly id: string;
  readonly error?: string;
}

function settle(payments: Command): void {
  withJson(
    payments
      .command('settle')
      .description(
        'try a parked notification again; credit its payment to the tenant that the provider names, even if the' +
          ' database was restored and no longer knows what was paid',
      )
      .argument('[id]', 'a notification (evt_...) or its payment (pi_...)')
      .option('--all', 'everything that is parked'),
  )
    .addHelpText('after', '\nAsks the payment provider. Exit code 1 when anything is still parked.')
    .action(async (id: string | undefined, { all = false, json }: SettleOptions, command: Command) => {
      if (all === (id !== undefined)) command.error('error: settle needs an id, or --all');
      await withDatabase(async (connected) => {
        const ids = id === undefined ? await idsOfParked(connected) : [id];
        const results = await settleEach(connected, command, ids);
        if (json) printJson(results.map(resultJson));
        else for (const result of results) printLine(describe(result));
        if (!json && results.length === 0) printLine('no parked notifications');
        if (results.some(({ error }) => error !== undefined)) process.exitCode = 1;
      });
    });
}

/** A payment with several notifications counts once. The oldest first. */
async function idsOfParked({ db }: Connected): Promise<string[]> {
  const parked = await listParked(db, ALL_MAX);
  return [...new Set(parked.reverse().map(({ id, paymentId }) => paymentId ?? id))];
}

/** Loads the client of the provider only here: it takes longer than most commands. */
async function settleEach(connected: Connected, command: Command, ids: readonly string[]): Promise<Result[]> {
  const provider = await requireProviderOf(connected.config, command);
  const { settleParked } = await import('../../money/provider-events/settle-parked.ts');
  const { makeMetrics } = await import('../../doors/metrics.ts');
  const deps = { db: connected.db, log: pino({ level: 'silent' }), metrics: makeMetrics() };
  const results: Result[] = [];
  for (const id of ids) {
    try {
      results.push({ id, ...(await settleParked(deps, provider, id)) });
    } catch (error) {
      // One that cannot be settled does not stop the others.
      results.push({ id, error: error instanceof Error ? hideSecrets(error.message) : String(error) });
    }
  }
  return results;
}

function resultJson({ id, credited, error }: Result) {
  return {
    id,
    settled: error === undefined,
    ...(error === undefined ? {} : { error }),
    ...(credited && {
      tenant: renderTenantId(credited.tenant),
      payment: credited.paymentId,
      amount: renderAmount(credited.amount),
    }),
  };
}

function describe({ id, credited, error }: Result): string {
  if (error !== undefined) return `${id}: ${error}`;
  if (!credited) return `${id}: applied`;
  const { tenant, paymentId, amount } = credited;
  return `${id}: ${displayMicros(amount)} of payment ${paymentId} is credited to ${renderTenantId(tenant)}`;
}
