/** Batches in one transaction, of one tenant or many: each is answered as if it had come alone. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import type { Batch, ChargeOutcome, Outcomes } from '../../../src/money/usage/bill.ts';
import { chargeFreeBatches, chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

type Fields = Record<string, unknown>;

const app = useService();
const db = () => app.service.deps.db;

// Nothing in the ledger is ever changed, so one check at the end sees every mistake.
afterAll(async () => {
  expect(await checkLedger(db())).toEqual([]);
});

let made = 0;

/** A record that costs `micros` with any carry: its ceiling is 5 micros per second. */
function costing(micros: number, fields: Partial<UsageRecord> = {}): UsageRecord {
  made += 1;
  return {
    id: `batched-${made}`,
    room: undefined,
    participant: undefined,
    role: 'audience',
    tier: 'audio',
    seconds: micros / 5,
    egressBytes: 2n ** 50n,
    ingressBytes: 0n,
    ...fields,
  };
}

const batchOf = (tenant: TenantId, ...records: UsageRecord[]): Batch => ({
  tenant,
  records: UsageRecords.from(records),
});

async function balanceOf(tenant: TenantId): Promise<bigint> {
  const { rows } = await db().query('select balance from accounts where tenant_id = $1', [tenant]);
  return rows[0].balance;
}

async function postingsOf(tenant: TenantId): Promise<{ kind: string; records: number | null }[]> {
  const { rows } = await db().query('select kind, records from postings where tenant_id = $1 order by seq', [
    tenant,
  ]);
  return rows;
}

async function conflictsOf(tenant: TenantId): Promise<Fields[]> {
  const { rows } = await db().query(
    'select id, times, reported from usage_conflicts where tenant_id = $1 order by id',
    [tenant],
  );
  return rows;
}

/** In one transaction, or in one for each tenant where tables are distributed, as the queue of charges does it. */
async function chargeTogether(batches: readonly Batch[], pool = db()): Promise<Outcomes> {
  const outcomes = new Map<Batch, ChargeOutcome>();
  const groups = isDistributed() ? Map.groupBy(batches, ({ tenant }) => tenant).values() : [batches];
  for (const group of groups) {
    const made = await chargeFreeBatches({ ...app.service.deps, db: pool }, group);
    for (const [batch, outcome] of made.outcomes) outcomes.set(batch, outcome);
  }
  return outcomes;
}

describe('batches in one transaction', () => {
  it('are answered in order, each according to the balance after it', async () => {
    const tenant = idOf(await app.paidTenant({ cents: 1000 }));
    const batches = [400_000, 400_000, 400_000].map((micros) =>
      batchOf(tenant, ...Array.from({ length: 10 }, () => costing(micros))),
    );
    const outcomes = await chargeTogether([batchOf(tenant), ...batches, batchOf(tenant)]);
    expect([...outcomes.values()].map(({ total, admitted }) => [total, admitted])).toEqual([
      [0n, true],
      [4_000_000n, true],
      [4_000_000n, true],
      [4_000_000n, false],
      [0n, false],
    ]);
    expect(await balanceOf(tenant)).toBe(-2_000_000n);
    expect(await postingsOf(tenant)).toMatchObject([{ kind: 'top_up' }, { kind: 'usage', records: 30 }]);
  });

  it('admit nothing more at a balance of exactly zero', async () => {
    const tenant = idOf(await app.paidTenant({ cents: 1000 }));
    const first = Array.from({ length: 25 }, () => costing(399_995));
    const batches = [batchOf(tenant, ...first), batchOf(tenant, costing(120)), batchOf(tenant, costing(5))];
    const outcomes = await chargeTogether(batches);
    expect([...outcomes.values()].map(({ admitted }) => admitted)).toEqual([true, true, false]);
    expect(await balanceOf(tenant)).toBe(0n);
  });

  it('may belong to tenants in any status, without affecting each other', async () => {
    const [paid, exempt, suspended, deleted, pending] = [
      ...(await Promise.all([app.paidTenant(), app.paidTenant(), app.paidTenant(), app.paidTenant()])),
      await app.signUp(),
    ];
    await db().query('update tenants set exempt = true where id = $1', [idOf(exempt)]);
    await setStatus(app, suspended, 'suspended');
    await setStatus(app, deleted, 'deleted');
    const tenants = [paid, exempt, suspended, deleted, pending].map(idOf);
    const batches = [...tenants, ...tenants].map((tenant) => batchOf(tenant, costing(50), costing(100)));
    const outcomes = await chargeTogether(batches);
    const charged = { charged: 2, duplicates: 0, unbilled: 0, total: 150n, conflicts: 0 };
    const unbilled = { charged: 0, duplicates: 0, unbilled: 2, total: 0n, conflicts: 0 };
    const expected = [
      { ...charged, admitted: true },
      { ...unbilled, admitted: true },
      ...Array(3).fill({ ...charged, admitted: false }),
    ];
    expect(batches.map((batch) => outcomes.get(batch))).toEqual([...expected, ...expected]);
    for (const [at, spent] of [300n, 0n, 300n, 300n].entries()) {
      expect(await balanceOf(tenants[at]!)).toBe(20_000_000n - spent);
    }
    expect(await balanceOf(tenants[4]!)).toBe(-300n);
    expect(await postingsOf(tenants[1]!)).toMatchObject([{}, { kind: 'unbilled', records: 4 }]);
    // `setStatus` writes no history, which the ledger check requires.
    for (const tenant of [suspended, deleted]) await setStatus(app, tenant, 'active');
  });

  it('request one automatic top-up, however many of them are below the threshold', async () => {
    const tenant = await app.paidTenant({ cents: 3000 });
    const set = await app.request('PUT', '/v1/billing/auto-top-up', {
      key: tenant.key,
      body: { enabled: true, below_cents: 2000, amount_cents: 1000 },
    });
    expect(set.status, set.text).toBe(200);
    const batches = Array.from({ length: 8 }, () =>
      batchOf(idOf(tenant), ...Array.from({ length: 5 }, () => costing(400_000))),
    );
    const outcomes = await chargeTogether(batches);
    expect([...outcomes.values()].every(({ charged, admitted }) => charged === 5 && admitted)).toBe(true);
    await expect.poll(() => balanceOf(idOf(tenant))).toBe(24_000_000n);
    const { rows } = await db().query('select state from top_up_attempts where tenant_id = $1', [
      idOf(tenant),
    ]);
    expect(rows).toEqual([{ state: 'succeeded' }]);
  });

  it('request no automatic top-up for an exempt tenant below the threshold', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    const set = await app.request('PUT', '/v1/billing/auto-top-up', {
      key: tenant.key,
      body: { enabled: true, below_cents: 2000, amount_cents: 1000 },
    });
    expect(set.status, set.text).toBe(200);
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    const batch = batchOf(idOf(tenant), costing(5));
    const outcomes = await chargeTogether([batch]);
    expect(outcomes.get(batch)).toMatchObject({ unbilled: 1 });
    const { rows } = await db().query('select state from top_up_attempts where tenant_id = $1', [
      idOf(tenant),
    ]);
    expect(rows).toEqual([]);
  });

  it('have no outcome if another transaction has locked their account', async () => {
    const [locked, free] = [idOf(await app.paidTenant()), idOf(await app.paidTenant())];
    const batches = [batchOf(locked, costing(5)), batchOf(free, costing(5)), batchOf(locked, costing(5))];
    const holder = await db().connect();
    try {
      await holder.query('begin');
      await holder.query('select from accounts where tenant_id = $1 for no key update', [locked]);
      const outcomes = await chargeTogether(batches);
      expect([...outcomes.keys()]).toEqual([batches[1]]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect(await postingsOf(locked)).toHaveLength(1);
    const outcomes = await chargeTenant(app.service.deps, locked, [batches[0]!, batches[2]!]);
    expect([...outcomes.values()]).toMatchObject([{ charged: 1 }, { charged: 1 }]);
  });

  it('store and look up nothing for empty batches or for locked accounts', async () => {
    const [locked, free] = [idOf(await app.paidTenant()), idOf(await app.paidTenant())];
    const known = batchOf(locked, costing(5));
    await chargeTenant(app.service.deps, locked, [known]);
    const counted = openPool(app.config.databaseUrl, { max: 1 });
    const holder = await db().connect();
    try {
      const tx = await counted.connect();
      const query = vi.spyOn(tx, 'query');
      tx.release();
      const statementsOf = async (...batches: Batch[]) => {
        query.mockClear();
        await chargeTogether(batches, counted);
        return query.mock.calls.map(([given]: unknown[]) => {
          const { statements } = given as { statements?: readonly Fields[] };
          return statements?.map(({ name }) => name) ?? given;
        });
      };
      const locking = ['begin', 'shared-settings', 'lock-free-accounts', 'read-accounts'];
      const storing = isDistributed()
        ? ['insert-posting', 'insert-usage-delta', 'move-account']
        : ['append-postings'];
      const empty = [locking, 'commit'];
      const probing = [
        [...locking, isDistributed() ? 'find-tenant-of-known' : 'find-tenants-of-known'],
        'commit',
      ];
      expect(await statementsOf(batchOf(free))).toEqual(empty);
      await holder.query('begin');
      await holder.query('select from accounts where tenant_id = $1 for no key update', [locked]);
      expect(await statementsOf(known)).toEqual(probing);
      expect(await statementsOf(known, batchOf(free))).toEqual(
        isDistributed() ? [...probing, ...empty] : probing,
      );
      // The known id of the locked account makes nothing be looked up.
      expect(await statementsOf(known, batchOf(free, costing(5)))).toEqual([
        ...(isDistributed() ? probing : []),
        probing[0],
        ['copy usage_records', ...storing],
        'commit',
      ]);
    } finally {
      await holder.query('rollback');
      holder.release();
      await counted.end();
    }
  });

  it('give the same result as one after the other, whatever ids they share', async () => {
    const TENANTS = 3;
    const report = fc.record({ id: fc.nat(12), seconds: fc.constantFrom(1, 1, 1, 2), bytes: fc.nat(9) });
    const reports = fc.array(
      fc.record({ tenant: fc.nat(TENANTS - 1), records: fc.array(report, { maxLength: 6 }) }),
      { minLength: 1, maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(reports, fc.nat(9), async (given, stored) => {
        const sets = await Promise.all([makeTenants(TENANTS), makeTenants(TENANTS)]);
        const [together, apart] = sets.map((tenants) =>
          given.map(({ tenant, records }) =>
            batchOf(
              tenants[tenant]!,
              ...records.map(({ id, seconds, bytes }) =>
                costing(5, { id: `shared-${id}`, seconds, egressBytes: BigInt(bytes * 7_919) }),
              ),
            ),
          ),
        ) as [Batch[], Batch[]];
        // Some records may have been charged before.
        const before = Math.min(stored, given.length) % 3;
        const grouped: (ChargeOutcome | undefined)[] = [];
        for (const group of [together.slice(0, before), together.slice(before)]) {
          const outcomes = await chargeTogether(group);
          grouped.push(...group.map((batch) => outcomes.get(batch)));
        }
        const alone: (ChargeOutcome | undefined)[] = [];
        for (const batch of apart) {
          alone.push((await chargeTenant(app.service.deps, batch.tenant, [batch])).get(batch));
        }
        expect(grouped).toEqual(alone);
        for (const [at, tenant] of sets[0]!.entries()) {
          const twin = sets[1]![at]!;
          expect(await balanceOf(tenant)).toBe(await balanceOf(twin));
          expect(await conflictsOf(tenant)).toEqual(await conflictsOf(twin));
        }
      }),
      { numRuns: 40 },
    );
  });

  /** Tenants without credit, inserted directly. */
  async function makeTenants(count: number): Promise<TenantId[]> {
    return Promise.all(
      Array.from({ length: count }, async () => idOf(await app.signUp({ name: 'One of many' }))),
    );
  }
});

interface Outcome {
  charged: number;
  duplicates: number;
  unbilled: number;
  total: { micros: number };
  admitted: boolean;
}

/** A report of one relay, and its answer. */
interface Report {
  readonly tenant: TestTenant;
  readonly records: Fields[];
  readonly outcome: Outcome;
}

async function report(tenant: TestTenant, records: Fields[], url = app.url): Promise<Report> {
  const answer = await ask(`${url}/v1/usage`, 'POST', { key: tenant.relayKey, body: { records } });
  expect(answer.status, answer.text).toBe(200);
  const outcome: Outcome = answer.json;
  expect(outcome.charged + outcome.duplicates + outcome.unbilled).toBe(records.length);
  return { tenant, records, outcome };
}

/** Checks that each reported id was charged once, and that each different value is a conflict. */
async function expectRight(tenant: TestTenant, paid: bigint, reports: readonly Report[]): Promise<void> {
  const own = reports.filter((each) => each.tenant === tenant);
  const reported = own.flatMap(({ records }) => records);
  const ids = [...new Set(reported.map(({ id }) => id))];
  const { rows } = await db().query(
    'select id, seconds from usage_records where tenant_id = $1 and id = any($2)',
    [idOf(tenant), ids],
  );
  const seconds = new Map<unknown, unknown>(rows.map((row) => [row.id, row.seconds]));
  expect(seconds.size).toBe(ids.length);
  expect(own.reduce((sum, { outcome }) => sum + outcome.charged + outcome.unbilled, 0)).toBe(seconds.size);

  const others = reported.filter((record) => record.seconds !== seconds.get(record.id));
  const counted = Object.fromEntries(
    others.map(({ id }) => [id, others.filter((one) => one.id === id).length]),
  );
  const conflicts = (await conflictsOf(idOf(tenant))).filter(({ id }) => seconds.has(id));
  expect(Object.fromEntries(conflicts.map(({ id, times }) => [id, times]))).toEqual(counted);

  const micros = own.reduce((sum, { outcome }) => sum + outcome.total.micros, 0);
  expect(await balanceOf(idOf(tenant))).toBe(paid - BigInt(micros));
}

describe('sixty-four relays at once', () => {
  let tenants: TestTenant[];
  let other: string;

  beforeAll(async () => {
    tenants = await Promise.all(Array.from({ length: 6 }, () => app.paidTenant({ cents: 2000 })));
    other = (await app.another()).url;
  });

  /** Six tenants; the first has half of the relays. Ids overlap, some with different values. */
  function makeReports(round: string): { tenant: TestTenant; records: Fields[] }[] {
    return Array.from({ length: 64 }, (_, relay) => ({
      tenant: tenants[relay % 2 === 0 ? 0 : (relay >> 1) % tenants.length]!,
      records: Array.from({ length: (relay * 7) % 40 }, (__, at) =>
        usageRecord({
          id: `${round}-${(relay * 13 + at) % 150}`,
          seconds: (relay + at) % 11 === 0 ? 30 : 60,
          egress_bytes: 1_000_000 + ((relay * 13 + at) % 150),
        }),
      ),
    }));
  }

  it.each([1, 2])('are charged once per id, by %i processes', async (processes) => {
    const paid = await Promise.all(tenants.map((tenant) => balanceOf(idOf(tenant))));
    const reports = await Promise.all(
      makeReports(`processes-${processes}`).flatMap(({ tenant, records }) =>
        [app.url, other].slice(0, processes).map((url) => report(tenant, records, url)),
      ),
    );
    for (const [at, tenant] of tenants.entries()) await expectRight(tenant, paid[at]!, reports);
  });

  it('are admitted only while the balance is above zero', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    const batches = Array.from({ length: 64 }, () =>
      Array.from({ length: 5 }, () =>
        usageRecord({ role: 'audience', tier: 'audio', seconds: 10_000, egress_bytes: 2 ** 50 }),
      ),
    );
    const urls = [app.url, other];
    const reports = await Promise.all(batches.map((batch, at) => report(tenant, batch, urls[at % 2])));
    // Each costs 250,000 of 10,000,000 micros, so the fortieth spends the rest.
    expect(reports.every(({ outcome }) => outcome.total.micros === 250_000)).toBe(true);
    expect(reports.filter(({ outcome }) => outcome.admitted)).toHaveLength(39);
    expect(await balanceOf(idOf(tenant))).toBe(-6_000_000n);
  });
});
