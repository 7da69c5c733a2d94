/**
 * Ends grants at their time, and tells tenants some days before.
 *
 * Any number of processes may do it, and be killed: they take turns by the lock of the account, and a grant and its last
 * posting change in one transaction. What the posting takes does not depend on when it is made.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { type Account, lockAccount } from '../accounts/accounts.sql.ts';
import { alarmIfOutOfRange } from '../ledger/balance-range.ts';
import { appendPosting } from '../ledger/ledger.sql.ts';
import type { LedgerMetrics } from '../ledger/ledger-metrics.ts';
import { requestTopUpIfBelow } from '../top-ups/request-top-up.ts';
import { grantExpiring } from './grant-events.ts';
import { endGrant, findClock, listTenantsWithDueGrants, takeUnwarned } from './grants.sql.ts';
import { type ReadLot, readLots } from './read-lots.ts';

export interface GrantDeps extends EventDeps {
  readonly metrics: EventDeps['metrics'] & LedgerMetrics;
  /** Wakes the top-up worker of this process. A lost call only delays a top-up. */
  readonly wakeTopUps: () => void;
}

/** Tenants of one turn. The others come in the next one. */
const AT_ONCE = 1_000;

/** In the log. */
const JOB = 'ending grants';

/** A job that is run every few seconds. */
export function endingGrants(deps: GrantDeps): () => Promise<void> {
  const turns = new TenantTurns(deps.log, JOB);
  return () => endGrants(deps, turns);
}

/** A tenant whose ledger cannot be changed does not keep the others waiting. */
export async function endGrants(deps: GrantDeps, turns = new TenantTurns(deps.log, JOB)): Promise<void> {
  for (const tenant of await listTenantsWithDueGrants(deps.db, AT_ONCE, turns.leftOut())) {
    await turns.take(tenant, () => takeTurn(deps, tenant));
  }
}

async function takeTurn(deps: GrantDeps, tenant: TenantId): Promise<void> {
  try {
    const isTopUpDue = await inTransaction(deps.db, (tx) => endAndWarn(tx, tenant));
    if (isTopUpDue) deps.wakeTopUps();
    deps.events.wake(tenant);
  } catch (error) {
    alarmIfOutOfRange(deps, error);
    throw error;
  }
}

/** Returns whether an automatic top-up was requested. */
async function endAndWarn(tx: Tx, tenant: TenantId): Promise<boolean> {
  const { open, isTopUpDue } = await endDueGrants(tx, await lockAccount(tx, tenant));
  const unwarned = new Set(await takeUnwarned(tx, tenant));
  const ending = open.filter(({ seq, left }) => unwarned.has(seq) && left > 0n);
  await appendEvents(
    tx,
    tenant,
    ending.map(({ id, reason, amount, left, expiresAt }) =>
      grantExpiring({ grantId: id, reason, amount, left, expiresAt: expiresAt! }),
    ),
  );
  return isTopUpDue;
}

export interface Settled {
  /** The account, with the postings of all ends until now. */
  readonly account: Account;
  /** The grants that have not ended. */
  readonly open: readonly ReadLot[];
  /** Whether an automatic top-up was requested. */
  readonly isTopUpDue: boolean;
}

/** Post the ends that have come, of a locked account, and note which grants are spent. */
export async function endDueGrants(tx: Tx, locked: Account): Promise<Settled> {
  const { tenant, lastSeq } = locked;
  const { lots } = await readLots(tx, tenant, {
    at: await findClock(tx, tenant, lastSeq),
    seq: lastSeq,
  });
  let account = locked;
  for (const lot of lots.filter(({ endedAt, isOver, left }) => !endedAt && (isOver || left === 0n))) {
    if (lot.left > 0n) account = await takeLeft(tx, account, lot, 'expired', lot.reason);
    else await endGrant(tx, tenant, lot.seq, { by: 'spent', lastSeq, endSeq: null, forfeited: 0n });
  }
  const open = lots.filter(({ isOver, left }) => !isOver && left > 0n);
  const hasFallen = account.balance < locked.balance;
  const isTopUpDue = hasFallen && !account.exempt && (await requestTopUpIfBelow(tx, account));
  return { account, open, isTopUpDue };
}

/** Take what is left of a grant, by a posting of its own. `detail`: why, for the tenant. */
export async function takeLeft(
  tx: Tx,
  account: Account,
  { id, seq, lastSeq, left }: ReadLot,
  by: 'expired' | 'voided',
  detail: string,
): Promise<Account> {
  const after = await appendPosting(tx, account, {
    kind: `grant_${by}`,
    amount: -left,
    reference: id,
    detail,
  });
  const ending = { by, lastSeq: lastSeq ?? account.lastSeq, endSeq: after.lastSeq, forfeited: left };
  await endGrant(tx, account.tenant, seq, ending);
  return after;
}
