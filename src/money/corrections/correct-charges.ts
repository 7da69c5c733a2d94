/**
 * Corrects what tenants were charged in a period: one posting for each, in a transaction of its own.
 *
 * A run that was interrupted is repeated: the tenants that it corrected owe nothing any more, so nothing is posted for
 * them again. Statements of earlier months stay as they are: a correction is of the month in which it is posted.
 */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { invalidRequest } from '../../base/failure.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { displayMicros } from '../amount.ts';
import { appendPosting } from '../ledger/ledger.sql.ts';
import {
  type CorrectedPeriod,
  chargedAfter,
  isSamePeriod,
  owedBy,
  type Recomputed,
  textOfPeriod,
} from './correction.ts';
import { countCharged, findCorrections, insertCorrection } from './corrections.sql.ts';

export interface Correcting {
  readonly period: CorrectedPeriod;
  /** The version of the card that `recomputePeriod()` used. */
  readonly rateVersion: number;
  /** Shown to the tenants as the detail of the entry. */
  readonly reason: string;
  /** Whether tenants who paid too little are charged the rest. */
  readonly mayTake: boolean;
  /** Told of each step. */
  at?(what: string): void;
}

/**
 * Returns how many postings were made. Fails with `invalid_request`, before the first posting, if a tenant has a
 * correction of a period that overlaps, or has paid too little without `mayTake`.
 */
export async function correctCharges(
  db: Pool,
  actor: Actor,
  found: readonly Recomputed[],
  options: Correcting,
): Promise<number> {
  const due = found.filter((each) => owedBy(each) !== 0n);
  for (const each of due) refuseOverlap(each);
  if (!options.mayTake) refuseTaking(due);
  let posted = 0;
  for (const [done, each] of due.entries()) {
    options.at?.(`correcting: ${done} of ${due.length} tenants`);
    if (await inTransaction(db, (tx) => correct(tx, actor, each, options))) posted += 1;
  }
  return posted;
}

function refuseOverlap({ tenant, overlapped }: Recomputed): void {
  if (!overlapped) return;
  throw invalidRequest(
    `the charges of ${renderTenantId(tenant)} were corrected for ${textOfPeriod(overlapped)}: ` +
      'choose the same period, or one that shares no time with it',
  );
}

function refuseTaking(due: readonly Recomputed[]): void {
  const short = due.map(owedBy).filter((owed) => owed < 0n);
  if (short.length === 0) return;
  const sum = short.reduce((total, owed) => total - owed, 0n);
  throw invalidRequest(
    `${short.length} of the tenants would pay ${displayMicros(sum)} more: allow it (--charge-more), or choose one tenant`,
  );
}

/** Under the lock of the account, everything that may have changed since is read again. Returns whether it posted. */
async function correct(tx: Tx, actor: Actor, found: Recomputed, options: Correcting): Promise<boolean> {
  const { tenant, records, reported, recomputed } = found;
  const { period, rateVersion, reason } = options;
  const account = await lockAccount(tx, tenant);
  const corrections = await findCorrections(tx, { ...period, tenant });
  refuseOverlap({ ...found, overlapped: corrections.find((each) => !isSamePeriod(each, period)) });
  if ((await countCharged(tx, tenant, period)) !== BigInt(records)) {
    throw invalidRequest(`${renderTenantId(tenant)} was still being charged for the period: run it again`);
  }
  const charged = chargedAfter(reported, corrections);
  if (!options.mayTake) refuseTaking([{ ...found, charged }]);
  const amount = owedBy({ charged, recomputed });
  if (amount === 0n) return false;

  const reference = textOfPeriod(period);
  const { lastSeq: seq, balance } = await appendPosting(tx, account, {
    kind: 'correction',
    amount,
    reference,
    detail: reason,
  });
  const number = corrections.length + 1;
  await insertCorrection(tx, {
    ...period,
    ...{ tenant, number, seq, rateVersion, records, charged, recomputed, amount },
  });
  await appendAudit(tx, tenant, actor, {
    action: 'charges_corrected',
    subject: reference,
    before: { balance_micros: account.balance },
    after: { balance_micros: balance, amount_micros: amount, rate_card: rateVersion, reason },
  });
  return true;
}
