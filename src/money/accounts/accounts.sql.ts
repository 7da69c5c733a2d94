/** SQL of `accounts`: the row that each charge locks. */
import { isDistributed } from '../../base/db/distribution.ts';
import { filtered } from '../../base/db/filtered.ts';
import { runTogether, type Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import type { AlertMarks } from './alert-marks.ts';
import { HAS_CONSENT } from './top-up-consent.ts';

/** The account of a new tenant, as part of `insertTenant()`. */
export const INSERT_ACCOUNT = 'insert into accounts (tenant_id) select id from tenant';

export interface Account extends AlertMarks {
  readonly tenant: TenantId;
  readonly balance: bigint;
  readonly carry: bigint;
  /** 0 before the first posting. */
  readonly lastSeq: bigint;
  readonly status: TenantStatus;
  readonly exempt: boolean;
  /** Below this balance the saved card is charged; null while automatic top-ups are not allowed. */
  readonly topUpBelow: bigint | null;
  /** The last posting whose records are archived; 0: none are. */
  readonly archivedSeq: bigint;
  /** The rate card in effect. */
  readonly rateVersion: number;
  /** Where tables are distributed: when the newest posting was made; `null` before the first one. */
  readonly lastAt?: string | null;
}

/**
 * Lock the account of a tenant for the rest of the transaction, waiting if another transaction has it.
 *
 * Every change of a balance takes this lock before any other row that two such changes may share, so
 * changes of one tenant are serialized and cannot deadlock.
 */
export async function lockAccount(tx: Tx, tenant: TenantId): Promise<Account> {
  const [account] = lockedOf(await runTogether(tx, lockAndRead(tenant)));
  assert(account, 'account of the tenant');
  return account;
}

/**
 * Lock those of the accounts that are free, without waiting for the others. Waiting for one account
 * while holding others would delay unrelated tenants and could deadlock.
 */
export async function lockFreeAccounts(tx: Tx, tenants: readonly TenantId[]): Promise<Account[]> {
  return lockedOf(await runTogether(tx, lockAndReadFree(tenants)));
}

interface Locked {
  readonly tenant: TenantId;
}

/** The statements of `lockAccount()`. Their rows: the locked account, and the account. */
export function lockAndRead(tenant: TenantId) {
  const lock: Statement<Locked> = {
    name: 'lock-account',
    text: 'select tenant_id as tenant from accounts where tenant_id = $1 for no key update',
    values: [tenant],
  };
  return [lock, readAccounts([tenant])] as const;
}

/**
 * The statements of `lockFreeAccounts()`. Their rows: the locked accounts, and all accounts. Where tables are
 * distributed, it is given one tenant.
 */
export function lockAndReadFree(tenants: readonly TenantId[]) {
  const lock: Statement<Locked> = {
    name: 'lock-free-accounts',
    text: `select tenant_id as tenant from accounts where tenant_id ${isOneOf('$1')} for no key update skip locked`,
    values: [isDistributed() ? tenants[0]! : tenants],
  };
  return [lock, readAccounts(tenants)] as const;
}

/** The accounts that were both locked and read. */
export function lockedOf([locked, read]: readonly [readonly Locked[], readonly Account[]]): Account[] {
  const tenants = new Set(locked.map(({ tenant }) => tenant));
  return read.filter(({ tenant }) => tenants.has(tenant));
}

/** Reads after the lock, by a statement of its own: the snapshot of the locking one is from before the wait. */
function readAccounts(tenants: readonly TenantId[]): Statement<Account> {
  const lastAt = isDistributed()
    ? ', (select max(at)::text from postings where tenant_id = $1 and seq = a.last_seq) as "lastAt"'
    : '';
  return {
    name: 'read-accounts',
    text: `select a.tenant_id as tenant, a.balance, a.carry, coalesce(a.last_seq, 0) as "lastSeq", t.status, t.exempt,
                  case when t.status = 'active' and s.top_up_enabled and s.payment_method_id is not null
                        and s.frozen_by = '{}' and s.reversed_payments = '{}' and s.parked_payments = '{}'
                        and ${HAS_CONSENT}
                        and coalesce(s.top_up_paused_until <= now(), true)
                       then s.top_up_below end as "topUpBelow",
                  a.archived_seq as "archivedSeq",
                  (select max(version) from rate_cards) as "rateVersion",
                  alert.below as "alertBelow", alert.recover_from as "recoverFrom"${lastAt}
             from accounts a
             join tenants t on t.id = a.tenant_id
             join payment_settings s on s.tenant_id = a.tenant_id
             left join lateral (select max(floor) filter (where raised_at is null) as below,
                                       min(recover_from) filter (where raised_at is not null) as recover_from
                                  from alert_thresholds
                                 where tenant_id ${isDistributed() ? '= $1' : '= a.tenant_id'} and not t.exempt)
                  as alert on true
            where a.tenant_id ${isOneOf('$1')}`,
    values: [isDistributed() ? tenants[0]! : tenants],
  };
}

/** Citus finds the server of a tenant by `=` only, and passes it on to the tables that are joined. */
export function isOneOf(parameter: string): string {
  return isDistributed() ? `= ${parameter}` : `= any(${parameter})`;
}

/** The account as it is now, without a lock. */
export async function findAccount(db: Db, tenant: TenantId): Promise<Account> {
  const { name, text, values = [] } = readAccounts([tenant]);
  const { rows } = await db.query<Account>({ name, text, values: [...values] });
  const [account] = rows;
  assert(account, 'account of the tenant');
  return account;
}

export async function findBalance(db: Db, tenant: TenantId): Promise<bigint> {
  const { rows } = await db.query<{ balance: bigint }>({
    name: 'find-balance',
    text: 'select balance from accounts where tenant_id = $1',
    values: [tenant],
  });
  const row = rows[0];
  assert(row, 'account of the tenant');
  return row.balance;
}

export async function findBalances(db: Db, tenants: readonly TenantId[]): Promise<Map<TenantId, bigint>> {
  const { rows } = await db.query<{ tenant: TenantId; balance: bigint }>({
    name: 'find-balances',
    text: 'select tenant_id as tenant, balance from accounts where tenant_id = any($1)',
    values: [tenants],
  });
  return new Map(rows.map(({ tenant, balance }) => [tenant, balance]));
}

/** The tenants with ids after this one; null: the first ones. */
export async function listAccountsAfter(db: Db, after: TenantId | null, limit: number): Promise<TenantId[]> {
  const { name, where, values } = filtered('list-accounts', [limit], {
    after: after !== null && ['tenant_id > ?', after],
  });
  const { rows } = await db.query<{ tenant: TenantId }>({
    name,
    text: `select tenant_id as tenant from accounts where true ${where} order by tenant_id limit $1`,
    values,
  });
  return rows.map((row) => row.tenant);
}
