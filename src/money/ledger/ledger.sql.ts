/** SQL of `postings`, which move the balances of `accounts`. */

import { isDistributed } from '../../base/db/distribution.ts';
import { runTogether, type Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { isCrossing } from '../accounts/alert-marks.ts';
import { archivedSeq } from '../accounts/archived-seq.ts';
import { settleAlerts } from '../alerts/settle-alerts.ts';
import type { Rounding } from '../pricing/carry.ts';
import type { Terms } from '../pricing/pricing-rule.ts';
import { selectNamed } from '../records/find-records.sql.ts';
import { checkBalance } from './balance-range.ts';
import { creditChanged } from './credit-events.ts';
import { insertPosting, type PostingRow } from './insert-posting.sql.ts';
import {
  type EntryKind,
  type LedgerEntry,
  RECENT_ENTRIES_MAX,
  RECORD_TEXT_MAX,
  type UsageSum,
} from './posting.ts';

/** As text, which has all of its microseconds. */
export async function findPostingTime(tx: Tx, tenant: TenantId, seq: bigint): Promise<string> {
  const { rows } = await tx.query<{ at: string }>({
    name: 'find-posting-time',
    text: 'select at::text from postings where tenant_id = $1 and seq = $2',
    values: [tenant, seq],
  });
  const [posting] = rows;
  assert(posting, 'posting of the account');
  return posting.at;
}

/** The amount of the adjustment with this id, if there is one. Reliable only while the account is locked. */
export async function findAdjustedAmount(tx: Tx, tenant: TenantId, id: string): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ amount: bigint }>(
    `select amount from postings where tenant_id = $1 and kind = 'adjustment' and reference = $2`,
    [tenant, id],
  );
  return rows[0]?.amount;
}

/** Whether anything was ever reported, charged or not. It reads up to the first such posting. */
export async function hasUsage(db: Db, tenant: TenantId): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'has-usage',
    text: `select exists (select from postings where tenant_id = $1 and kind in ('usage', 'unbilled')) as found`,
    values: [tenant],
  });
  return rows[0]!.found;
}

export interface NewPosting {
  readonly kind: EntryKind | 'unbilled';
  /** Micros, signed. */
  readonly amount: bigint;
  readonly reference?: string;
  readonly detail?: string;
  readonly paymentId?: string;
  /** For usage records. */
  readonly batch?: {
    readonly terms: Terms;
    /** The carry for the next charge. */
    readonly carry: bigint;
    readonly records: number;
    readonly newestIds: readonly string[];
    readonly sums: readonly UsageSum[];
  };
}

export const ROUNDING_CODES: Readonly<Record<Rounding, string>> = { carry: 'c', per_record: 'r' };

/** Append one posting to a locked account and move its balance. Returns the updated account. */
export async function appendPosting(tx: Tx, account: Account, posting: NewPosting): Promise<Account> {
  const [after] = await appendPostings(tx, [{ account, posting }]);
  return after!;
}

/**
 * Append one posting to each of these locked accounts and move their balances. Returns the updated
 * accounts. Fails with `BalanceOutOfRangeError`.
 */
export async function appendPostings(tx: Tx, appended: readonly Appended[]): Promise<Account[]> {
  const moved = moveAccounts(appended);
  await runTogether(tx, insertPostings(moved));
  const told = await appendBalanceEvents(tx, moved);
  return told.map(({ after }) => after);
}

export interface Appended {
  readonly account: Account;
  readonly posting: NewPosting;
}

/** A posting, and its account before and after it. */
export interface Moved extends Appended {
  readonly after: Account;
}

/** What the postings make of their accounts. Fails with `BalanceOutOfRangeError`. */
export function moveAccounts(appended: readonly Appended[]): Moved[] {
  return appended.map(({ account, posting }) => {
    const balance = account.balance + posting.amount;
    checkBalance(account.tenant, balance);
    const carry = posting.kind === 'usage' && posting.batch ? posting.batch.carry : account.carry;
    return { account, posting, after: { ...account, lastSeq: account.lastSeq + 1n, balance, carry } };
  });
}

export interface Told {
  readonly after: Account;
  readonly hasEvents: boolean;
}

/** The events of accounts whose credit was spent or restored, or crossed a threshold of alerts. */
export async function appendBalanceEvents(tx: Tx, moved: readonly Moved[]): Promise<Told[]> {
  const told: Told[] = [];
  for (const { account, after } of moved) {
    const event = creditChanged(account, after);
    if (event) await appendEvents(tx, account.tenant, [event]);
    const settled = isCrossing(after, after.balance)
      ? await settleAlerts(tx, after.tenant, after.balance)
      : undefined;
    const hasEvents = event !== undefined || settled?.isCrossed === true;
    told.push({ after: { ...after, ...settled?.marks }, hasEvents });
  }
  return told;
}

/**
 * Insert the postings and update their accounts.
 *
 * The time of a posting is never before its predecessor's, even if the clock is turned back.
 */
export function insertPostings(moved: readonly Moved[]): readonly Statement[] {
  if (isDistributed())
    return moved.flatMap((each) => insertPosting(rowOf(each), each.account.lastAt ?? null));
  return [insertTogether(moved.map(rowOf))];
}

function rowOf({ account, posting, after }: Moved): PostingRow {
  return {
    tenant_id: String(account.tenant),
    seq: String(after.lastSeq),
    kind: posting.kind,
    balance_before: String(account.balance),
    amount: String(posting.amount),
    balance: String(after.balance),
    account_carry: String(after.carry),
    rate_version: posting.batch?.terms.rates.version,
    rule_version: posting.batch?.terms.rule.version,
    rounding: posting.batch && ROUNDING_CODES[posting.batch.terms.rounding],
    carry: posting.batch && String(posting.batch.carry),
    records: posting.batch?.records,
    newest_ids: posting.batch?.newestIds,
    sums: posting.batch && sumsOf(posting.kind, posting.batch.sums),
    reference: posting.reference,
    detail: posting.detail,
    payment_id: posting.paymentId,
  };
}

function insertTogether(rows: readonly PostingRow[]): Statement {
  return {
    name: 'append-postings',
    text: `with posting as materialized (
             select p.*, greatest(clock_timestamp(), (select at from postings b
                                                       where b.tenant_id = p.tenant_id and b.seq = p.seq - 1)) as at
               from json_to_recordset($1) as p
               (tenant_id bigint, seq bigint, kind text, balance_before bigint, amount bigint, balance bigint,
                account_carry bigint, rate_version integer, rule_version smallint, rounding "char", carry bigint,
                records integer, newest_ids text[], sums json, reference text, detail text, payment_id text)),
           appended as (
             insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at,
                                   rate_version, rule_version, rounding, carry, records, newest_ids,
                                   reference, detail, payment_id)
             select tenant_id, seq, kind, balance_before, amount, balance, at,
                    rate_version, rule_version, rounding, carry, records, newest_ids,
                    reference, detail, payment_id
               from posting),
           deltas as (
             insert into usage_deltas (tenant_id, seq, at, sums)
             select tenant_id, seq, at, sums from posting where sums is not null)
           update accounts a set last_seq = p.seq, balance = p.balance, carry = p.account_carry
             from posting p where a.tenant_id = p.tenant_id`,
    values: [JSON.stringify(rows)],
  };
}

/** As `usage_deltas` has them: without names, because the name of each member would cost more than its value. */
function sumsOf(kind: NewPosting['kind'], sums: readonly UsageSum[]) {
  return sums.map(({ room, role, tier, records, seconds, egressBytes, ingressBytes, amount }) => {
    const [charged, unbilled] = kind === 'usage' ? [amount, 0n] : [0n, amount];
    const wholes = [egressBytes, ingressBytes, charged, unbilled].map(wholeOf);
    return [room, role, tier, records, seconds, ...wholes];
  });
}

/** A text if a JSON number would not hold it exactly. */
function wholeOf(value: bigint): number | string {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
}

/** A room or participant as an entry shows it. `left()` reads no more of a long text than it needs. */
const shortened = (column: string) =>
  `case when char_length(left(${column}, ${RECORD_TEXT_MAX + 1})) > ${RECORD_TEXT_MAX}
        then left(${column}, ${RECORD_TEXT_MAX - 1}) || '…' else ${column} end`;

export interface RecentEntry extends LedgerEntry {
  /** Its record is in the archive, and so not shown here. */
  readonly isArchived: boolean;
}

/**
 * The newest entries, newest first.
 *
 * Reads the records of only as many postings as the list can show. The posting names the ids of its
 * newest records.
 */
export async function findRecentEntries(db: Db, tenant: TenantId): Promise<RecentEntry[]> {
  const { rows } = await db.query<RecentEntry>({
    name: 'find-recent-entries',
    text: `with newest as (
             select *, sum(coalesce(cardinality(newest_ids), 1)) over (order by seq desc)
                       - coalesce(cardinality(newest_ids), 1) as entries_before
               from (select * from postings where tenant_id = $1 and kind <> 'unbilled'
                      order by seq desc limit $2) as listed)
           select p.kind, p.at,
                  coalesce(-r.amount, p.amount) as amount,
                  coalesce(r.capped, false) as capped,
                  case when p.kind = 'usage' then ${shortened('r.room')} else p.reference end as reference,
                  case when p.kind = 'usage' then ${shortened('r.participant')} else p.detail end as detail,
                  p.kind = 'usage' and p.seq <= ${archivedSeq('$1')} as "isArchived"
             from newest p
             left join lateral (${selectNamed('p.newest_ids')}) as r on true
            where p.entries_before < $2
            order by p.seq desc, r.line desc
            limit $2`,
    values: [tenant, RECENT_ENTRIES_MAX],
  });
  return rows;
}
