/** Charges of several processes, and credit, on one account. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { appendPosting } from '../../../src/money/ledger/ledger.sql.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeFreeBatches, chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { makeTenant } from '../../support/tenants.ts';
import { type Part, staged } from '../support/scenario.ts';
import { depsOf } from './deps.ts';

interface World {
  readonly tenant: TenantId;
}

const CREDIT = 5_000_000n;

const prepare = async (db: Pool): Promise<World> => ({ tenant: await makeTenant(db, { status: 'active' }) });

function recordsOf(...ids: readonly string[]): UsageRecords {
  const usage = { room: 'lobby', participant: 'ann', role: 'host', tier: 'hd', seconds: 60 } as const;
  return UsageRecords.from(ids.map((id) => ({ ...usage, id, ingressBytes: 1n, egressBytes: 1n << 30n })));
}

/** As the queue does first: leaves out what is locked. Returns how many records were charged. */
async function chargeFree({ tenant }: World, db: Pool, ...ids: readonly string[]): Promise<number> {
  const batch = { tenant, records: recordsOf(...ids) };
  const { outcomes } = await chargeFreeBatches(depsOf(db), [batch]);
  return outcomes.get(batch)?.charged ?? 0;
}

/** As the queue does then: waits for the account. */
async function charge({ tenant }: World, db: Pool, ...ids: readonly string[]): Promise<number> {
  const batch = { tenant, records: recordsOf(...ids) };
  return (await chargeTenant(depsOf(db), tenant, [batch])).get(batch)!.charged;
}

function addCredit({ tenant }: World, db: Pool): Promise<number> {
  return inTransaction(db, async (tx) => {
    await appendPosting(tx, await lockAccount(tx, tenant), {
      kind: 'adjustment',
      amount: CREDIT,
      reference: 'credit',
    });
    return 0;
  });
}

/** The ledger adds up, and has each record that a charge has counted once. */
async function checkLedger(
  db: Pool,
  { tenant }: World,
  charged: readonly unknown[],
): Promise<string | undefined> {
  const { rows } = await db.query<{ wrong: string | null; records: number }>(
    `select case when a.balance <> coalesce(p.sum, 0) then 'the balance is not what was posted'
                 when p.balance <> a.balance then 'the last posting has another balance'
                 when p.count <> coalesce(a.last_seq, 0) then 'numbers of postings are missing'
                 when -p.used <> r.amount then 'a posting is not the sum of its records' end as wrong,
            r.count as records
       from accounts a,
            (select sum(amount), count(*), sum(amount) filter (where kind = 'usage') as used,
                    (array_agg(balance order by seq desc))[1] as balance
               from postings where tenant_id = $1) as p,
            (select count(*)::integer, coalesce(sum(amount), 0) as amount from usage_records where tenant_id = $1) as r
      where a.tenant_id = $1`,
    [tenant],
  );
  const { wrong, records } = rows[0]!;
  const counted = charged.reduce<number>((sum, each) => sum + Number(each), 0);
  return (
    wrong ?? (records === counted ? undefined : `${records} records are stored, ${counted} were counted`)
  );
}

const twoCharges = staged<World>({
  name: 'two processes charge one tenant, and credit comes',
  prepare,
  actors: [(world, db) => charge(world, db, 'a', 'b'), (world, db) => charge(world, db, 'c'), addCredit],
  check: checkLedger,
});

const repeats = staged<World>({
  name: 'three processes charge what overlaps',
  prepare,
  actors: [
    (world, db) => charge(world, db, 'a', 'b'),
    (world, db) => charge(world, db, 'b', 'c'),
    (world, db) => chargeFree(world, db, 'a', 'c', 'd'),
  ],
  check: checkLedger,
});

const freeCharges = staged<World>({
  name: 'two processes charge a tenant whose account is free',
  prepare,
  actors: [(world, db) => chargeFree(world, db, 'a'), (world, db) => chargeFree(world, db, 'b')],
  check: checkLedger,
});

/** As a job does, for all tenants. */
const archive = (db: Pool) => archiveRecords({ ...depsOf(db), config: { archiveAfterSeconds: 0 } });

/** Records move into the archive, and one of them is reported again with a new one. */
const archived = staged<World>({
  name: 'a charge that repeats what moves into the archive',
  prepare: async (db) => {
    await archive(db);
    const world = await prepare(db);
    await charge(world, db, 'a', 'b');
    return world;
  },
  actors: [(_, db) => archive(db), (world, db) => charge(world, db, 'a', 'c')],
  check: async (_db, _world, [, charged]) =>
    charged === 1 ? undefined : `${charged} records were charged, and not 1`,
});

export const CHARGES: Part = {
  part: 'charges',
  scenarios: [twoCharges, repeats, freeCharges, archived],
  races: [
    {
      name: 'two charges move the same balance',
      scenario: twoCharges,
      rewrite: { statement: 'lock-account', from: 'for no key update', to: '' },
    },
    {
      name: 'two charges take the same free account',
      scenario: freeCharges,
      rewrite: { statement: 'lock-free-accounts', from: 'for no key update skip locked', to: '' },
    },
    {
      name: 'a record is charged again while it moves into the archive',
      scenario: archived,
      rewrite: { statement: 'lock-account', actor: 1, from: 'for no key update', to: '' },
    },
  ],
};
