import { beforeAll, describe, expect, it } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { migrate } from '../../../src/base/db/migrate.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { beginningOf, readLedgerPage } from '../../../src/money/ledger/walk-ledger.ts';
import { INITIAL_CARRY, type Rounding, settlePrice } from '../../../src/money/pricing/carry.ts';
import { BUILT_IN_RATES, parseRateCard } from '../../../src/money/pricing/rate-card.ts';
import { priceUsage } from '../../../src/money/pricing/usage-price.ts';
import { expectAppendOnly } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { checksum, migrateBefore, migrationNames, readMigration } from '../../support/migrations.ts';
import { recomputeCharges } from '../../support/recompute.ts';

/** Databases have run these files, and a changed file would stop their service at its next start. */
const FROZEN: Readonly<Record<string, string>> = {
  '0001_init.sql': '75376e2b416222baca1acbc17c96b997693fe1ed0265ac7921abee113ab5cdc2',
  '0002_join.sql': '19a5f7f1c6ffe245812a592c9b45635a99360b020d2c813d1a348d77c6cc1eaf',
  '0003_control.sql': 'b63a157f8c1e161b28c2264c82ebb0874367be9936229a81cc2ab690ffe98940',
};

describe('migrations', () => {
  it.each(Object.entries(FROZEN))('%s never changes: add a new migration instead', async (name, frozen) => {
    expect(checksum(await readMigration(name))).toBe(frozen);
  });

  it('have unique numbers', async () => {
    const numbers = (await migrationNames()).map((name) => name.slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

describe('0005_pricing_rule.sql on a database with postings of every kind', () => {
  const database = useDatabase({ empty: true });
  const TENANT = 7n;
  let filenodeBefore: unknown;

  /** Six records of half a micro: with a carry they cost 3 together, rounded one by one 6. */
  async function insertUsage(seq: number, before: bigint, kind: 'usage' | 'unbilled', rounding: Rounding) {
    const usage = { role: 'audience', tier: 'audio', seconds: 10, egressBytes: 26_844n } as const;
    const { numerator } = priceUsage(usage, { version: 1, ...parseRateCard(BUILT_IN_RATES) });
    const amounts: bigint[] = [];
    let carry = INITIAL_CARRY;
    for (let line = 0; line < 6; line += 1) {
      const settled = settlePrice(numerator, carry, rounding);
      amounts.push(settled.amount);
      carry = settled.carry;
    }
    const ids = amounts.map((_, line) => `${seq}-${line}`);
    const total = amounts.reduce((sum, amount) => sum + amount);
    const amount = kind === 'usage' ? -total : 0n;
    await database.pool.query(
      `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version, carry, records,
                             newest_ids)
       values ($1, $2, $3, $4, $5, $6, 1, $7, 6, $8)`,
      [TENANT, seq, kind, before, amount, before + amount, carry, ids.toReversed()],
    );
    await database.pool.query(
      `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role,
                                  tier, capped, id)
       select $1, $2, $3, 0, each.amount, $4, each.place - 1, 'a', 'a', false, each.id
         from unnest($5::bigint[], $6::text[]) with ordinality as each (amount, id, place)`,
      [TENANT, seq, usage.egressBytes, usage.seconds, amounts, ids],
    );
    return { total, carry };
  }

  async function filenode(): Promise<unknown> {
    const { rows } = await database.pool.query(`select pg_relation_filenode('postings') as filenode`);
    return rows[0].filenode;
  }

  beforeAll(async () => {
    const { pool } = database;
    await migrateBefore(pool, '0005_pricing_rule.sql');
    await pool.query('insert into rate_cards (version, card) values (1, $1)', [BUILT_IN_RATES]);
    await pool.query(`insert into tenants (id, name, email) values ($1, 'Ada', 'ada@example.com')`, [TENANT]);
    await pool.query('insert into accounts (tenant_id) values ($1)', [TENANT]);
    await pool.query(
      `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, payment_id, reference) values
         ($1, 1, 'top_up', 0, 100, 100, 'pi_1', 'pi_1'),
         ($1, 2, 'auto_top_up', 100, 100, 200, 'pi_2', 'pi_2'),
         ($1, 3, 'refund', 200, -10, 190, 'pi_1', 're_1'),
         ($1, 4, 'dispute', 190, -10, 180, 'pi_2', 'dp_1'),
         ($1, 5, 'adjustment', 180, 20, 200, null, 'thanks')`,
      [TENANT],
    );
    const unbilled = await insertUsage(6, 200n, 'unbilled', 'carry');
    const rounded = await insertUsage(7, 200n, 'usage', 'per_record');
    const carried = await insertUsage(8, 200n - rounded.total, 'usage', 'carry');
    expect([unbilled.total, rounded.total, carried.total]).toEqual([3n, 6n, 3n]);
    await pool.query('update accounts set last_seq = 8, balance = 191, carry = $2 where tenant_id = $1', [
      TENANT,
      carried.carry,
    ]);
    filenodeBefore = await filenode();
    expect(await migrate(pool)).toBeGreaterThan(0);
  });

  it('sets rule 1 and an unknown rounding on usage postings only', async () => {
    const { rows } = await database.pool.query(
      'select kind, rule_version, rounding from postings order by seq',
    );
    const none = { rule_version: null, rounding: null };
    const first = { rule_version: 1, rounding: 'u' };
    expect(rows).toEqual([
      { kind: 'top_up', ...none },
      { kind: 'auto_top_up', ...none },
      { kind: 'refund', ...none },
      { kind: 'dispute', ...none },
      { kind: 'adjustment', ...none },
      { kind: 'unbilled', ...first },
      { kind: 'usage', ...first },
      { kind: 'usage', ...first },
    ]);
  });

  it('leaves charges that verify can recompute', async () => {
    expect(await recomputeCharges(database.pool)).toEqual([]);
  });

  it('does not rewrite the table', async () => {
    expect(await filenode()).toBe(filenodeBefore);
  });

  it('leaves postings append-only, and requires a rule for new usage', async () => {
    const { pool } = database;
    await expect(pool.query('update postings set rule_version = 2')).rejects.toThrow('append-only');
    const insert = `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version, carry,
                                          records, newest_ids) values ($1, 9, 'usage', 191, 0, 191, 1, 0, 1, '{x}')`;
    await expect(pool.query(insert, [TENANT])).rejects.toThrow('postings_rule');
  });
});

describe('0007_late_money.sql on a database with open attempts and checkouts', () => {
  const database = useDatabase({ empty: true });

  beforeAll(async () => {
    const { pool } = database;
    await migrateBefore(pool, '0007_late_money.sql');
    await pool.query(`insert into tenants (id, name, email, status) values
      (1, 'Ada', 'ada@example.com', 'active'), (2, 'Bob', 'bob@example.com', 'deleted')`);
    await pool.query(`insert into checkouts (id, tenant_id, amount, state) values
      ('open', 1, 1, 'open'), ('deleted', 2, 1, 'open'), ('paid', 2, 1, 'paid')`);
    await pool.query(`insert into top_up_attempts
        (id, tenant_id, amount, state, customer_id, payment_method_id, first_sent_at) values
      ('sent', 1, 1, 'unknown', 'cus_1', 'pm_1', now() - interval '1 hour'), ('pending', 2, 1, 'pending', null, null, null)`);
    expect(await migrate(pool)).toBeGreaterThan(0);
  });

  it('closes the open payment pages of deleted tenants only', async () => {
    const { rows } = await database.pool.query('select id from checkouts where expire_at <= now()');
    expect(rows).toEqual([{ id: 'deleted' }]);
  });

  it('takes attempts of unknown outcome for sent just now', async () => {
    const { rows } = await database.pool.query(
      `select id, resent_at > now() - interval '30 minutes' as recently, keys from top_up_attempts order by id`,
    );
    expect(rows).toEqual([
      { id: 'pending', recently: null, keys: 1 },
      { id: 'sent', recently: true, keys: 1 },
    ]);
  });
});

describe('0011_reversals.sql on a database with disputes', () => {
  const database = useDatabase({ empty: true });

  it('keeps what each dispute has withdrawn and reinstated', async () => {
    const { pool } = database;
    await migrateBefore(pool, '0011_reversals.sql');
    await pool.query(
      `insert into disputes (id, payment_id, amount, withdrawn, reinstated) values
         ('inquiry', 'pi', 70, false, false), ('open', 'pi', 70, true, false), ('won', 'pi', 70, true, true)`,
    );
    await migrate(pool);
    const { rows } = await pool.query(
      'select id, withdrawn::int, reinstated::int, movements from disputes order by id',
    );
    expect(rows).toEqual([
      { id: 'inquiry', withdrawn: 0, reinstated: 0, movements: 0 },
      { id: 'open', withdrawn: 70, reinstated: 0, movements: 0 },
      { id: 'won', withdrawn: 70, reinstated: 70, movements: 0 },
    ]);
  });
});

describe('0012_rate_of_posting.sql', () => {
  const database = useDatabase();

  it('leaves the keys that keep the chain of balances', async () => {
    const { rows } = await database.pool.query(
      `select conname as name from pg_constraint
        where contype = 'f' and conrelid in ('postings'::regclass, 'accounts'::regclass) order by conname`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'accounts_newest',
      // Tenants and their tables are placed in different ways where tables are distributed: no key leads there.
      ...(isDistributed() ? [] : ['accounts_tenant_id_fkey']),
      'postings_chain',
      'postings_tenant_id_fkey',
    ]);
  });

  it('lets a charge pass while another transaction holds the rate card, which nothing can remove', async () => {
    const { pool } = database;
    await pool.query('insert into rate_cards (version, card) values (1, $1)', [BUILT_IN_RATES]);
    await pool.query(`insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com')`);
    await pool.query('insert into accounts (tenant_id) values (7)');
    const holder = await pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from rate_cards for update');
      await pool.query(`insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version,
          carry, records, newest_ids, rule_version, rounding) values (7, 1, 'usage', 0, 0, 0, 1, 0, 1, '{x}', 1, 'c')`);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    for (const change of [
      'delete from rate_cards',
      'update rate_cards set version = 2',
      'truncate rate_cards',
    ]) {
      await expectAppendOnly(database, 'rate_cards', change);
    }
  });

  it('leaves it to verify to find a posting whose rate card is missing', async () => {
    const { pool } = database;
    await pool.query(`insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version,
        carry, records, newest_ids, rule_version, rounding) values (7, 2, 'usage', 0, 0, 0, 9, 0, 1, '{x}', 1, 'c')`);
    await pool.query(`insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds,
        line, role, tier, capped, id) values (7, 2, 0, 0, 0, 0, 0, 'a', 'a', false, 'x')`);
    expect(await recomputeCharges(pool)).toEqual([
      expect.objectContaining({
        what: expect.stringContaining('rate card'),
        expected: 'version 9',
        found: 'none',
      }),
    ]);
  });
});

describe('0014_usage_by_hour.sql on a database with usage', () => {
  const database = useDatabase({ empty: true });
  const LONG = 'ü'.repeat(3_000);

  beforeAll(async () => {
    const { pool } = database;
    await migrateBefore(pool, '0014_usage_by_hour.sql');
    await pool.query('insert into rate_cards (version, card) values (1, $1)', [BUILT_IN_RATES]);
    await pool.query(`insert into tenants (id, name, email) values (1, 'Ada', 'ada@example.com')`);
    await pool.query('insert into accounts (tenant_id) values (1)');
    await pool.query(
      `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at, rate_version, rule_version,
                             rounding, carry, records, newest_ids) values
         (1, 1, 'usage', 0, -7, -7, '2026-10-01T10:59:59.999Z', 1, 1, 'c', 0, 3, '{c,b,a}'),
         (1, 2, 'unbilled', -7, 0, -7, '2026-10-01T11:00:00Z', 1, 1, 'c', 0, 1, '{d}'),
         (1, 3, 'usage', -7, -4, -11, '2026-10-01T11:30:00Z', 1, 1, 'c', 0, 1, '{e}')`,
    );
    await pool.query(
      `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role,
                                  tier, capped, id, room) values
         (1, 1, 10, 1, 2, 60, 0, 'h', 'a', false, 'a', 'stage'), (1, 1, 20, 1, 2, 60, 1, 'h', 'a', false, 'b', 'stage'),
         (1, 1, 30, 1, 3, 60, 2, 'h', 'a', false, 'c', null), (1, 2, 40, 1, 9, 60, 0, 'h', 'a', false, 'd', 'stage'),
         (1, 3, 50, 1, 4, 60, 0, 'a', 'k', false, 'e', $1)`,
      [LONG],
    );
    await pool.query('update accounts set last_seq = 3, balance = -11 where tenant_id = 1');
    expect(await migrate(pool)).toBeGreaterThan(0);
  });

  it('adds up what was charged, by hour and by room', async () => {
    const sums = `records::int, seconds::int, egress_bytes::int as egress, amount::int, unbilled::int`;
    const hour = `to_char(hour at time zone 'UTC', 'HH24') as hour, role, tier`;
    const { rows: hours } = await database.pool.query(
      `select ${hour}, ${sums} from usage_hours order by hour, role desc`,
    );
    expect(hours).toEqual([
      { hour: '10', role: 'h', tier: 'a', records: 3, seconds: 180, egress: 60, amount: 7, unbilled: 0 },
      { hour: '11', role: 'h', tier: 'a', records: 1, seconds: 60, egress: 40, amount: 0, unbilled: 9 },
      { hour: '11', role: 'a', tier: 'k', records: 1, seconds: 60, egress: 50, amount: 4, unbilled: 0 },
    ]);
    const { rows: rooms } = await database.pool.query(
      'select room, amount::int from usage_room_hours order by hour, room',
    );
    expect(rooms).toEqual([
      { room: '', amount: 3 },
      { room: 'stage', amount: 4 },
      { room: 'stage', amount: 0 },
      { room: LONG.slice(0, 200), amount: 4 },
    ]);
  });

  it('leaves records that the ledger lists in order', async () => {
    const { pool } = database;
    const filter = { kinds: ['usage', 'unbilled'], firstSeq: 1n, lastSeq: 3n } as const;
    const { lines } = await readLedgerPage(pool, 1n as TenantId, filter, beginningOf(filter), 100);
    expect(lines.map(({ record }) => record?.id)).toEqual(['e', 'd', 'c', 'b', 'a']);
  });
});
