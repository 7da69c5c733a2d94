/** Builds the statement of a month from one snapshot of the database. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inSnapshot } from '../../base/db/transaction.ts';
import { Failure, invalidField, notFound } from '../../base/failure.ts';
import { renderTenantId, type Tenant, type TenantId } from '../../base/tenants/tenant.ts';
import { findNameAt, findTenant } from '../../base/tenants/tenants.sql.ts';
import { findCalendar } from '../calendar/time-zones.sql.ts';
import { readLots } from '../grants/read-lots.ts';
import { findPostedBalances } from '../ledger/posted-balance.sql.ts';
import type { Month } from '../month.ts';
import { summarizeUsage } from '../usage/summarize-usage.ts';
import type { Measures, UsageSummary } from '../usage/usage-summary.ts';
import { findDetailsAt } from './billing-details.sql.ts';
import type { BillingDetails } from './billing-details.ts';
import { findFault } from './check-statement.ts';
import { findMovements } from './statement.sql.ts';
import { ROOMS_MAX, type RoomUsage, readyAt, type Statement, type StatementUsage } from './statement.ts';

export interface StatementDeps {
  readonly db: Pool;
  readonly config: { readonly publicUrl: string; readonly issuerDetails: BillingDetails };
}

/** The ledger, the sums of usage or this service is wrong. Doors answer 500, and log it. */
export class StatementFaultError extends Error {
  override readonly name = 'StatementFaultError';
}

/**
 * Fails with `invalid_request` for a month in the future, with `month_not_over` for one whose statement is not there yet,
 * and with `not_found` for one before the tenant signed up, or without such a tenant. `soFar`: also for a month that is
 * not over, up to now.
 */
export async function buildStatement(
  { db, config }: StatementDeps,
  id: TenantId,
  month: Month,
  { soFar = false }: { readonly soFar?: boolean } = {},
): Promise<Statement> {
  return inSnapshot(db, async (tx) => {
    const tenant = await findTenant(tx, id);
    if (!tenant) throw notFound('tenant');
    const now = await findNow(tx);
    const period = await findPeriod(tx, id, month);
    refuseMonth(period, tenant, now);
    const isOver = readyAt(period.to) <= now;
    if (!isOver && !soFar) throw notOver(period);
    const found = await readStatement(tx, tenant, period, config);
    const statement = { ...found, soFar: !isOver };
    const fault = findFault(statement);
    if (fault) {
      throw new StatementFaultError(`the statement of ${renderTenantId(id)} for ${month}: ${fault}`);
    }
    return statement;
  });
}

type Period = Pick<Statement, 'month' | 'zone' | 'from' | 'to'>;

async function findPeriod(tx: Tx, tenant: TenantId, month: Month): Promise<Period> {
  const calendar = await findCalendar(tx, tenant);
  return { month, zone: calendar.zoneOf(month), from: calendar.startOf(month), to: calendar.endOf(month) };
}

function refuseMonth({ from, to }: Period, { createdAt }: Tenant, now: Date): void {
  if (from > now) throw invalidField('month', 'must not be in the future');
  if (to <= createdAt) throw notFound('statement');
}

function notOver({ month, to }: Period): Failure {
  const message = `the statement of ${month} is there from ${readyAt(to).toISOString()} on`;
  return new Failure('month_not_over', { message });
}

async function readStatement(
  tx: Tx,
  { id, name }: Tenant,
  period: Period,
  { publicUrl, issuerDetails }: StatementDeps['config'],
): Promise<Omit<Statement, 'soFar'>> {
  const { from, to } = period;
  const [opening, closing] = await findPostedBalances(tx, id, [from, to]);
  const query = { groupBy: ['room'], from, to, rooms: undefined, limit: ROOMS_MAX, skip: 0 } as const;
  return {
    issuer: publicUrl,
    issuerDetails,
    tenant: { id, name: (await findNameAt(tx, id, to)) ?? name, details: await findDetailsAt(tx, id, to) },
    ...period,
    opening: opening.balance,
    ...(await findMovements(tx, id, opening, closing)),
    granted: {
      opening: (await readLots(tx, id, { at: from, seq: opening.seq })).granted,
      closing: (await readLots(tx, id, { at: to, seq: closing.seq })).granted,
    },
    usage: usageOf(await summarizeUsage(tx, id, query)),
    closing: closing.balance,
  };
}

/** Those after the listed ones are added up. */
function usageOf({ rows, total, groups }: UsageSummary): StatementUsage {
  const rooms = rows.map((row): RoomUsage => ({ ...row, room: row.room! }));
  const others = groups - BigInt(rooms.length);
  return {
    rooms,
    others: others > 0n ? { rooms: others, ...restOf(total, rooms) } : undefined,
    sum: total,
  };
}

function restOf(total: Measures, listed: readonly Measures[]): Measures {
  const rest = (measure: keyof Measures) =>
    listed.reduce((left, each) => left - each[measure], total[measure]);
  return {
    records: rest('records'),
    seconds: rest('seconds'),
    egressBytes: rest('egressBytes'),
    ingressBytes: rest('ingressBytes'),
    amount: rest('amount'),
    unbilled: rest('unbilled'),
  };
}
