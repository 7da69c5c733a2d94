/** Tell tenants that the statement of a month is ready. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { listAccountsAfter } from '../accounts/accounts.sql.ts';
import { findPostedBalance } from '../ledger/posted-balance.sql.ts';
import { endOf, type Month, monthOf, startOf } from '../month.ts';
import { READY_MINUTES } from './statement.ts';
import { statementReady } from './statement-events.ts';
import { takeUntold } from './statement-notices.sql.ts';

const AT_ONCE = 100;

/**
 * A job that looks once for each month, and tells those whose balance moved in it. Any number of processes may do it at once,
 * and be killed.
 */
export function tellingStatements(deps: EventDeps): () => Promise<void> {
  let told: Month | undefined;
  return async () => {
    const month = newestReady(await findNow(deps.db));
    if (month === told) return;
    await tellStatements(deps, month);
    told = month;
  };
}

function newestReady(now: Date): Month {
  const thisMonth = monthOf(new Date(now.getTime() - READY_MINUTES * 60_000));
  return monthOf(new Date(startOf(thisMonth).getTime() - 1));
}

async function tellStatements({ db, events }: EventDeps, month: Month): Promise<void> {
  let after: TenantId | null = null;
  for (;;) {
    const tenants: readonly TenantId[] = await listAccountsAfter(db, after, AT_ONCE);
    if (tenants.length === 0) return;
    const told = await inTransaction(db, (tx) => tellSome(tx, tenants, month));
    for (const tenant of told) events.wake(tenant);
    after = tenants.at(-1)!;
  }
}

/** Returns the tenants that have an event: those whose balance moved. */
async function tellSome(tx: Tx, tenants: readonly TenantId[], month: Month): Promise<TenantId[]> {
  const told: TenantId[] = [];
  for (const tenant of await takeUntold(tx, tenants, month)) {
    const opening = await findPostedBalance(tx, tenant, startOf(month));
    const closing = await findPostedBalance(tx, tenant, endOf(month));
    if (opening.seq === closing.seq) continue;
    const balances = { opening: `${opening.balance}`, closing: `${closing.balance}` };
    await appendEvents(tx, tenant, [statementReady({ month, ...balances })]);
    told.push(tenant);
  }
  return told;
}
