/** SQL of `accounts` and `postings`. */
import type { Db, Tx } from '../db/pool.ts';
import { assert } from '../lib/assert.ts';
import type { TenantId, TenantStatus } from '../tenants/tenant.ts';
import { type EntryKind, type LedgerEntry, RECENT_ENTRIES_MAX } from './posting.ts';

export interface Account {
  readonly tenant: TenantId;
  readonly balance: bigint;
  readonly carry: bigint;
  /** 0 before the first posting. */
  readonly lastSeq: bigint;
  readonly status: TenantStatus;
  readonly exempt: boolean;
  /** Below this balance the saved card is charged; null while nothing may be charged automatically. */
  readonly topUpBelow: bigint | null;
  /** The rate card in effect. */
  readonly rateVersion: number;
}

/**
 * Lock the account of a tenant for the rest of the transaction.
 *
 * Every change of a balance takes this lock first and no other lock before it, so changes of one
 * tenant take turns and cannot deadlock. It is read in a second statement: the one that waits for
 * the lock sees everything but the locked row as it was before the wait.
 */
export async function lockAccount(tx: Tx, tenant: TenantId): Promise<Account> {
  await tx.query({
    name: 'lock-account',
    text: 'select from accounts where tenant_id = $1 for no key update',
    values: [tenant],
  });
  const { rows } = await tx.query<Account>({
    name: 'read-account',
    text: `select a.tenant_id as tenant, a.balance, a.carry, coalesce(a.last_seq, 0) as "lastSeq", t.status, t.exempt,
                  case when t.status = 'active' and s.top_up_enabled and s.payment_method_id is not null
                        and s.frozen_by = '{}' and coalesce(s.top_up_paused_until <= now(), true)
                       then s.top_up_below end as "topUpBelow",
                  (select max(version) from rate_cards where effective_at <= clock_timestamp()) as "rateVersion"
             from accounts a
             join tenants t on t.id = a.tenant_id
             join payment_settings s on s.tenant_id = a.tenant_id
            where a.tenant_id = $1`,
    values: [tenant],
  });
  const account = rows[0];
  assert(account, 'account of the tenant');
  return account;
}

export async function findBalance(db: Db, tenant: TenantId): Promise<bigint> {
  const { rows } = await db.query<{ balance: bigint }>('select balance from accounts where tenant_id = $1', [
    tenant,
  ]);
  const row = rows[0];
  assert(row, 'account of the tenant');
  return row.balance;
}

export interface NewPosting {
  readonly kind: EntryKind | 'unbilled';
  /** Micros, signed. */
  readonly amount: bigint;
  readonly reference?: string;
  readonly detail?: string;
  readonly paymentId?: string;
  /** Of a batch of usage records. */
  readonly batch?: {
    readonly rateVersion: number;
    /** What the batch leaves for the next charge. */
    readonly carry: bigint;
    readonly records: number;
    readonly newestIds: readonly string[];
  };
}

/**
 * Append one posting to a locked account and move its balance. Returns the account as it is then.
 *
 * The time of a posting is never before that of its predecessor, whatever the clock does.
 */
export async function appendPosting(tx: Tx, account: Account, posting: NewPosting): Promise<Account> {
  const seq = account.lastSeq + 1n;
  const balance = account.balance + posting.amount;
  const carry = posting.kind === 'usage' && posting.batch ? posting.batch.carry : account.carry;
  await tx.query({
    name: 'append-posting',
    text: `with posting as (
             insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at,
                                   rate_version, carry, records, newest_ids, reference, detail, payment_id)
             values ($1, $2, $3, $4, $5, $6,
                     greatest(clock_timestamp(),
                              (select at from postings where tenant_id = $1 and seq = $2::bigint - 1)),
                     $7, $8, $9, $10, $11, $12, $13))
           update accounts set last_seq = $2, balance = $6, carry = $14 where tenant_id = $1`,
    values: [
      account.tenant,
      seq,
      posting.kind,
      account.balance,
      posting.amount,
      balance,
      posting.batch?.rateVersion ?? null,
      posting.batch?.carry ?? null,
      posting.batch?.records ?? null,
      posting.batch?.newestIds ?? null,
      posting.reference ?? null,
      posting.detail ?? null,
      posting.paymentId ?? null,
      carry,
    ],
  });
  return { ...account, lastSeq: seq, balance, carry };
}

/**
 * The newest entries, newest first.
 *
 * Only as many postings are opened as the list can show: those before which fewer than its length
 * have been counted. Their records are found by their ids, which the posting names.
 */
export async function listRecentEntries(db: Db, tenant: TenantId): Promise<LedgerEntry[]> {
  const { rows } = await db.query<LedgerEntry>({
    name: 'list-recent-entries',
    text: `with newest as (
             select *, sum(coalesce(cardinality(newest_ids), 1)) over (order by seq desc)
                       - coalesce(cardinality(newest_ids), 1) as entries_before
               from (select * from postings where tenant_id = $1 and kind <> 'unbilled'
                      order by seq desc limit $2) as listed)
           select p.kind, p.at,
                  coalesce(-r.amount, p.amount) as amount,
                  coalesce(r.capped, false) as capped,
                  case when p.kind = 'usage' then r.room else p.reference end as reference,
                  case when p.kind = 'usage' then r.participant else p.detail end as detail
             from newest p
             left join lateral unnest(p.newest_ids) as named (id) on true
             left join usage_records r on r.tenant_id = $1 and r.id = named.id
            where p.entries_before < $2
            order by p.seq desc, r.line desc
            limit $2`,
    values: [tenant, RECENT_ENTRIES_MAX],
  });
  return rows;
}
