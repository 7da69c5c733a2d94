import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../support/check-ledger.ts';
import { usageRecord, useService } from '../../support/service.ts';

const app = useService();

/** Enough that eight tenants with random ids will not all be in the same one. */
const PARTITIONS = 16;

/** The same table, partitioned by tenant. */
async function spread(): Promise<void> {
  const db = app.service.deps.db;
  await db.query('alter table usage_records rename to usage_records_whole');
  await db.query('alter index usage_records_pkey rename to usage_records_whole_pkey');
  await db.query(`create table usage_records (like usage_records_whole including all)
                  partition by hash (tenant_id)`);
  for (let part = 0; part < PARTITIONS; part += 1) {
    await db.query(`create table usage_records_${part} partition of usage_records
                    for values with (modulus ${PARTITIONS}, remainder ${part})`);
  }
  await db.query('insert into usage_records select * from usage_records_whole');
}

describe('usage records that are partitioned by tenant', () => {
  it('are charged once, as in one table', async () => {
    const tenants = await Promise.all(Array.from({ length: 8 }, () => app.paidTenant()));
    const charge = async (tenant: (typeof tenants)[number], records: unknown[]) => {
      const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    };
    const before = tenants.map(() => [usageRecord(), usageRecord()]);
    await Promise.all(tenants.map((tenant, index) => charge(tenant, before[index]!)));
    await spread();

    const after = tenants.map(() => Array.from({ length: 20 }, () => usageRecord()));
    const answers = await Promise.all(tenants.map((tenant, index) => charge(tenant, after[index]!)));
    for (const answer of answers) expect(answer).toMatchObject({ charged: 20, duplicates: 0 });
    // A known id that the probe of the first, middle and last id does not find.
    const hidden = (index: number) => [
      usageRecord(),
      before[index]![0]!,
      ...Array.from({ length: 5 }, () => usageRecord()),
    ];
    for (const [index, tenant] of tenants.entries()) {
      expect(await charge(tenant, hidden(index))).toMatchObject({ charged: 6, duplicates: 1 });
      expect(await charge(tenant, after[index]!)).toMatchObject({ charged: 0, duplicates: 20 });
    }

    const { rows } = await app.service.deps.db.query(
      'select count(distinct tableoid) as parts, count(*) as records from usage_records',
    );
    expect(rows[0].parts).toBeGreaterThan(1n);
    expect(rows[0].records).toBe(8n * (2n + 20n + 6n));
    expect(await checkLedger(app.service.deps.db)).toEqual([]);
  });
});
