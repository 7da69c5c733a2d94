import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import {
  type Account,
  findBalance,
  lockAccount,
  lockFreeAccounts,
} from '../../../src/money/accounts/accounts.sql.ts';
import { appendPosting, appendPostings } from '../../../src/money/ledger/ledger.sql.ts';
import { listRecentEntries } from '../../../src/money/ledger/list-recent-entries.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import { expectAppendOnly } from '../../support/append-only.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { useDatabase } from '../../support/database.ts';
import { runsStepForms } from '../../support/step-forms.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
let tenant: TenantId;

function adjust(amount: bigint, detail?: string) {
  return inTransaction(database.pool, async (tx) => {
    const account = await lockAccount(tx, tenant);
    return appendPosting(tx, account, {
      kind: 'adjustment',
      amount,
      ...(detail === undefined ? {} : { detail }),
    });
  });
}

/** A distributed database takes one tenant at a time. */
async function lockFree(tx: Tx, tenants: readonly TenantId[]): Promise<readonly Account[]> {
  if (!isDistributed()) return lockFreeAccounts(tx, tenants);
  const locked: Account[] = [];
  for (const each of new Set(tenants)) locked.push(...(await lockFreeAccounts(tx, [each])));
  return locked;
}

beforeAll(async () => {
  await loadRates(database.pool, OPERATOR, undefined);
});

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
});

describe('appendPosting', () => {
  it('moves the balance by the amount, above zero and below', async () => {
    expect(await adjust(5n)).toMatchObject({ lastSeq: 1n, balance: 5n });
    expect(await adjust(-8n)).toMatchObject({ lastSeq: 2n, balance: -3n });
    expect(await adjust(0n)).toMatchObject({ lastSeq: 3n, balance: -3n });
    expect(await findBalance(database.pool, tenant)).toBe(-3n);
  });

  it('serializes concurrent postings', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, index) => adjust(BigInt(index) - 20n)));
    expect(await findBalance(database.pool, tenant)).toBe(570n);
    expect(await checkLedger(database.pool)).toEqual([]);
  });

  it('never goes back in time, even if the clock does', async () => {
    await adjust(1n);
    await database.pool.query(
      `with posting as (
         insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at)
         values ($1, 2, 'adjustment', 1, 1, 2, now() + interval '1 hour'))
       update accounts set last_seq = 2, balance = 2 where tenant_id = $1`,
      [tenant],
    );
    await adjust(1n);
    expect(await checkLedger(database.pool)).toEqual([]);
  });

  it('leaves nothing behind if its transaction fails', async () => {
    await adjust(1n);
    const failing = inTransaction(database.pool, async (tx) => {
      await appendPosting(tx, await lockAccount(tx, tenant), { kind: 'adjustment', amount: 7n });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await findBalance(database.pool, tenant)).toBe(1n);
  });

  it('refuses a stale account', async () => {
    const stale = await inTransaction(database.pool, (tx) => lockAccount(tx, tenant));
    await adjust(1n);
    const twice = inTransaction(database.pool, (tx) =>
      appendPosting(tx, stale, { kind: 'adjustment', amount: 5n }),
    );
    await expect(twice).rejects.toThrow('postings_pkey');
  });

  it('refuses a balance beyond 64 bits', async () => {
    await adjust(2n ** 63n - 1n);
    await expect(adjust(1n)).rejects.toThrow();
    expect(await findBalance(database.pool, tenant)).toBe(2n ** 63n - 1n);
  });
});

describe('several accounts', () => {
  let others: TenantId[];

  beforeEach(async () => {
    others = Array.from({ length: 3 }, newTenantId);
    for (const id of others) await makeTenant(database.pool, { id });
  });

  it('are moved by one statement, each by its own amount', async () => {
    await adjust(100n);
    const all = [tenant, ...others];
    const after = await inTransaction(database.pool, async (tx) => {
      const accounts = await lockFree(tx, all);
      return appendPostings(
        tx,
        accounts.map((account) => ({
          account,
          posting: {
            kind: 'adjustment',
            amount: BigInt(all.indexOf(account.tenant)) - 1n,
            reference: '\\N "x" 🎥',
          },
        })),
      );
    });
    const balances = new Map(after.map((account) => [account.tenant, [account.balance, account.lastSeq]]));
    expect(all.map((id) => balances.get(id))).toEqual([
      [99n, 2n],
      [0n, 1n],
      [1n, 1n],
      [2n, 1n],
    ]);
    expect(await Promise.all(all.map((id) => findBalance(database.pool, id)))).toEqual([99n, 0n, 1n, 2n]);
    expect(await listRecentEntries(database.pool, others[2]!)).toMatchObject([{ reference: '\\N "x" 🎥' }]);
    expect(await checkLedger(database.pool)).toEqual([]);
  });

  it('are moved together or not at all', async () => {
    const failing = inTransaction(database.pool, async (tx) => {
      const [first, second] = await lockFree(tx, others);
      const posting = { kind: 'adjustment', amount: 1n } as const;
      return appendPostings(tx, [
        { account: first!, posting },
        { account: { ...second!, balance: 5n }, posting },
      ]);
    });
    await expect(failing).rejects.toThrow('violates check constraint');
    expect(await Promise.all(others.map((id) => findBalance(database.pool, id)))).toEqual([0n, 0n, 0n]);
  });

  it('are locked without waiting for those that another transaction has locked', async () => {
    const tenantsOf = async (...ids: TenantId[]) => {
      return inTransaction(database.pool, async (tx) => {
        return new Set((await lockFree(tx, ids)).map((account) => account.tenant));
      });
    };
    await inTransaction(database.pool, async (tx) => {
      await lockAccount(tx, others[1]!);
      expect(await tenantsOf(...others)).toEqual(new Set([others[0], others[2]]));
      expect(await tenantsOf(others[1]!)).toEqual(new Set());
    });
    expect(await tenantsOf(...others, ...others)).toEqual(new Set(others));
    expect(await tenantsOf()).toEqual(new Set());
  });

  it('are read as the last transaction left them', async () => {
    const blocked = inTransaction(database.pool, async (tx) => {
      await lockFree(tx, [others[0]!]);
      await Promise.all([adjust(7n), adjust(8n)]);
      return lockFree(tx, [others[0]!, tenant]);
    });
    expect(await blocked).toContainEqual(expect.objectContaining({ tenant, balance: 15n, lastSeq: 2n }));
  });
});

it('an account that does not exist cannot be locked', async () => {
  await expect(inTransaction(database.pool, (tx) => lockAccount(tx, newTenantId()))).rejects.toThrow(
    'assertion failed',
  );
});

it('lists the newest fifty, with their causes', async () => {
  for (let index = 0; index < 55; index += 1) await adjust(1n, `${index}`);
  const entries = await listRecentEntries(database.pool, tenant);
  expect(entries.map(({ detail }) => detail)).toEqual(
    Array.from({ length: 50 }, (_, index) => `${54 - index}`),
  );
});

describe('the database refuses', () => {
  beforeEach(async () => {
    await adjust(10n);
    await adjust(-4n);
    await database.pool.query(
      `with posting as (
         insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version, rule_version, rounding,
                               carry, records, newest_ids)
         values ($1, 3, 'usage', 6, 0, 6, 1, 1, 'c', 1006632960000, 1, '{a}')),
       record as (
         insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role,
                                    tier, capped, id, participant)
         values ($1, 3, 0, 0, 0, 0, 0, 'h', 'h', false, 'a', 'ann'))
       update accounts set last_seq = 3 where tenant_id = $1`,
      [tenant],
    );
  });

  const POSTING = 'insert into postings (tenant_id, seq, kind, balance_before, amount, balance';
  const CHARGED_BY = ', rate_version, carry, records, newest_ids, rule_version, rounding';
  it.each([
    [
      'a changed amount of a posting',
      'update postings set amount = 0 where tenant_id = $1',
      'postings is append-only',
    ],
    [
      'an update of no row',
      'update postings set amount = 0 where tenant_id = $1 and false',
      'postings is append-only',
    ],
    ['a deleted posting', 'delete from postings where tenant_id = $1 and seq = 3', 'postings is append-only'],
    [
      'a changed price of a record',
      'update usage_records set amount = 1 where tenant_id = $1',
      'usage_records is append-only',
    ],
    ['a deleted record', 'delete from usage_records where tenant_id = $1', 'usage_records is append-only'],
    [
      'a changed price beside an erased participant',
      `update usage_records set participant = '(erased)', amount = 1 where tenant_id = $1`,
      'usage_records is append-only',
    ],
    [
      'a second record with the same id',
      `insert into usage_records select * from usage_records where tenant_id = $1`,
      'usage_records_pkey',
    ],
    [
      'a balance that differs from the ledger',
      'update accounts set balance = balance + 1 where tenant_id = $1',
      'accounts_newest',
    ],
    [
      'an account without its postings',
      'update accounts set last_seq = null where tenant_id = $1',
      'accounts',
    ],
    [
      'an account that skips its newest posting',
      'update accounts set last_seq = 2, balance = 7 where tenant_id = $1',
      'accounts_newest',
    ],
    ['a gap', `${POSTING}) values ($1, 5, 'adjustment', 6, 1, 7)`, 'postings_chain'],
    [
      'a posting that starts at another balance',
      `${POSTING}) values ($1, 4, 'adjustment', 7, 1, 8)`,
      'postings_chain',
    ],
    ['a posting that does not add up', `${POSTING}) values ($1, 4, 'adjustment', 6, 1, 8)`, 'postings_check'],
    [
      'a second posting with the same number',
      `${POSTING}) values ($1, 3, 'adjustment', 6, 1, 7)`,
      'postings_pkey',
    ],
    [
      'a charge that adds credit',
      `${POSTING}${CHARGED_BY}) values ($1, 4, 'usage', 6, 1, 7, 1, 0, 1, '{b}', 1, 'c')`,
      'postings_check',
    ],
    ['a charge without a rate card', `${POSTING}) values ($1, 4, 'usage', 6, -1, 5)`, 'postings_check'],
    [
      'a charge without a pricing rule',
      `${POSTING}${CHARGED_BY}) values ($1, 4, 'usage', 6, -1, 5, 1, 0, 1, '{b}', null, 'c')`,
      'postings_rule',
    ],
    [
      'unbilled usage without a rounding',
      `${POSTING}${CHARGED_BY}) values ($1, 4, 'unbilled', 6, 0, 6, 1, 0, 1, '{b}', 1, null)`,
      'postings_rule',
    ],
    [
      'an adjustment by a pricing rule',
      `${POSTING}, rule_version) values ($1, 4, 'adjustment', 6, 1, 7, 1)`,
      'postings_rule',
    ],
    [
      'an unknown rounding',
      `${POSTING}${CHARGED_BY}) values ($1, 4, 'usage', 6, -1, 5, 1, 0, 1, '{b}', 1, 'x')`,
      'postings_rounding_check',
    ],
    ['a top-up without a payment', `${POSTING}) values ($1, 4, 'top_up', 6, 1, 7)`, 'postings_check'],
    [
      'a negative top-up',
      `${POSTING}, payment_id) values ($1, 4, 'top_up', 6, -1, 5, 'pi_1')`,
      'postings_check',
    ],
    [
      'unbilled usage that moves the balance',
      `${POSTING}${CHARGED_BY}) values ($1, 4, 'unbilled', 6, -1, 5, 1, 0, 1, '{b}', 1, 'c')`,
      'postings_check',
    ],
    ['an unknown kind', `${POSTING}) values ($1, 4, 'gift', 6, 1, 7)`, 'postings_kind_check'],
    [
      'a carry of a whole micro',
      'update accounts set carry = 2013265920000 where tenant_id = $1',
      'accounts_carry_check',
    ],
  ])('%s', async (_, statement, reason) => {
    const [, table] = /^(\w+) is append-only$/.exec(reason) ?? [];
    if (table !== undefined) await expectAppendOnly(database, table, statement, [tenant]);
    else await expect(database.pool.query(statement, [tenant])).rejects.toThrow(reason);
    expect(await findBalance(database.pool, tenant)).toBe(6n);
  });

  const changes = [
    ['another name of', `'bob'`],
    ['to take away', 'null'],
  ];
  it.each(runsStepForms() ? [] : changes)(
    '%s a participant, by a trigger that distributed tables do not have',
    async (_, value) => {
      const change = `update usage_records set participant = ${value} where tenant_id = $1`;
      await expect(database.pool.query(change, [tenant])).rejects.toThrow('participant may only be erased');
      expect(await findBalance(database.pool, tenant)).toBe(6n);
    },
  );

  it.each(['postings', 'usage_records'])('to empty %s', async (table) => {
    await expectAppendOnly(database, table, `truncate ${table} cascade`);
  });

  it('a first posting that starts above zero', async () => {
    const fresh = await makeTenant(database.pool);
    const statement = `${POSTING}) values ($1, 1, 'adjustment', 5, 1, 6)`;
    await expect(database.pool.query(statement, [fresh])).rejects.toThrow('postings_check');
  });
});
