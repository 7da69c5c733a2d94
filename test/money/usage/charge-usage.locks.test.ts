/** Locks that the charges of one tenant wait for, held for seconds, and the batches of other tenants meanwhile. */
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { median, percentile } from '../../../bench/statistics.ts';
import { onLongConnection } from '../../../src/base/db/pool.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

/** The account is what all charges lock. The other locks show the same within less. */
const ACCOUNT_HELD_SECONDS = 10;
const HELD_SECONDS = 3;
const FREE_SECONDS = 2;
const EVERY_MS = 50;
const DELAY_MS_MAX = 100;
/** A busy machine slows down the wait for a lock like all the rest: the delay may be so many times the p99 without a lock. */
const DELAY_OF_FREE_MAX = 3;
/** Other load of the machine comes and goes, and what a lock does stays: the best of so many measurements counts. */
const TRIES = 12;
const OTHERS = 3;
const RELAYS = 4;

const app = useService();
const db = () => app.service.deps.db;

afterAll(async () => {
  expect(await onLongConnection(db(), checkLedger)).toEqual([]);
});

type Record = ReturnType<typeof usageRecord>;

function report({ relayKey: key }: TestTenant, records: readonly Record[]) {
  return ask(`${app.url}/v1/usage`, 'POST', { key, body: { records } });
}

/** Costs this many cents. */
const costing = (cents: number) =>
  usageRecord({ tier: '2k_plus', seconds: cents * 50, egress_bytes: 2 ** 52 });

/** A record that was charged, with other values. */
async function conflicting(tenant: TestTenant): Promise<Record> {
  const record = usageRecord();
  expect((await report(tenant, [record])).json).toMatchObject({ charged: 1 });
  return { ...record, seconds: 61 };
}

async function put(tenant: TestTenant, path: string, body: object): Promise<void> {
  const { status, text } = await app.request('PUT', path, { key: tenant.key, body });
  expect(status, text).toBe(200);
}

interface Lock {
  /** A transaction that has done this holds the lock. */
  readonly statement: string;
  /** Makes what a batch reports that waits for it; default: any record. */
  readonly next?: () => Record;
}

interface Locking {
  readonly what: string;
  /** Default: HELD_SECONDS. */
  readonly heldSeconds?: number;
  /** Prepares the tenant. */
  readonly lock: (tenant: TestTenant) => Promise<Lock> | Lock;
  /** Default: tenants that have paid. */
  readonly makeTenant?: () => Promise<TestTenant>;
}

const lockingRow = (tenant: TestTenant, table: string, column = 'tenant_id') => ({
  statement: `select from ${table} where ${column} = ${idOf(tenant)} for update`,
});

const LOCKS: readonly Locking[] = [
  {
    what: 'its account',
    heldSeconds: ACCOUNT_HELD_SECONDS,
    lock: (tenant) => lockingRow(tenant, 'accounts'),
  },
  { what: 'its newest posting', lock: (tenant) => lockingRow(tenant, 'postings') },
  {
    what: 'the number of its next posting',
    lock: (tenant) => ({
      statement: `insert into usage_deltas (tenant_id, seq, at, sums)
                  select tenant_id, last_seq + 1, now(), '[]' from accounts where tenant_id = ${idOf(tenant)}`,
    }),
  },
  {
    what: 'the id of a record that is stored by another transaction',
    lock: async (tenant) => {
      const stored = usageRecord();
      const record = usageRecord();
      await report(tenant, [stored]);
      return {
        statement: `set local boxoffice.knows_archive = 'on';
                    create temporary table copied on commit drop as select * from usage_records where id = '${stored.id}';
                    update copied set id = '${record.id}';
                    insert into usage_records select * from copied`,
        next: () => record,
      };
    },
  },
  {
    what: 'a conflict',
    lock: async (tenant) => {
      const record = await conflicting(tenant);
      await report(tenant, [record]);
      return { ...lockingRow(tenant, 'usage_conflicts'), next: () => record };
    },
  },
  {
    what: 'the notice of its conflicts',
    lock: async (tenant) => {
      const record = await conflicting(tenant);
      await report(tenant, [record]);
      return { ...lockingRow(tenant, 'conflict_notices'), next: () => record };
    },
  },
  {
    what: 'the row of the tenant',
    lock: async (tenant) => {
      const record = await conflicting(tenant);
      return { ...lockingRow(tenant, 'tenants', 'id'), next: () => record };
    },
  },
  {
    what: 'a threshold of its alerts',
    lock: async (tenant) => {
      await put(tenant, '/v1/alerts', { thresholds: [{ kind: 'balance', below_micros: 19_900_000 }] });
      return { ...lockingRow(tenant, 'alert_thresholds'), next: () => costing(20) };
    },
  },
  {
    what: 'an automatic top-up that another transaction requests',
    lock: async (tenant) => {
      await put(tenant, '/v1/billing/auto-top-up', { enabled: true, below_cents: 1990, amount_cents: 1000 });
      return {
        statement: `insert into top_up_attempts (id, tenant_id, amount) values ('tu_held', ${idOf(tenant)}, 10000000)`,
        next: () => costing(20),
      };
    },
  },
  {
    what: 'the count of records of a tenant that never paid',
    lock: async (tenant) => {
      await report(tenant, [usageRecord()]);
      return { statement: `select from rate_limits where key = 'unpaid_records:${tenant.id}' for update` };
    },
    makeTenant: () => app.signUp(),
  },
];

/** Keep a transaction open that has begun with this statement. */
async function whileHeld(statement: string, work: () => Promise<void>): Promise<void> {
  // A pooled connection would hit the idle timeout.
  const holder = new pg.Client(app.config.databaseUrl);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(statement);
    await work();
  } finally {
    await holder.end();
  }
}

/**
 * The 99th percentile of what the batches of each second take, in ms. Each tenant sends one each `EVERY_MS`, whether or not it has
 * the answers to those before.
 */
async function measureSeconds(tenants: readonly TestTenant[], seconds: number): Promise<number[]> {
  const bySecond = Array.from({ length: seconds }, (): number[] => []);
  const begun = performance.now();
  const send = async (tenant: TestTenant, due: number) => {
    const { json } = await report(tenant, [usageRecord()]);
    expect(json).toMatchObject({ charged: 1 });
    bySecond[Math.floor((due - begun) / 1000)]!.push(performance.now() - due);
  };
  const sent: Promise<void>[] = [];
  for (let due = begun; due < begun + seconds * 1000; due += EVERY_MS) {
    if (due > performance.now()) await setTimeout(due - performance.now());
    for (const tenant of tenants) sent.push(send(tenant, due));
  }
  await Promise.all(sent);
  return bySecond.map((times) => percentile(Float64Array.from(times).sort(), 99));
}

describe('a lock that a charge waits for', () => {
  it.each(LOCKS)(
    '$what: delays batches of others by at most 100 ms at p99',
    async ({ lock, heldSeconds = HELD_SECONDS, makeTenant = app.paidTenant }) => {
      const tenant = await makeTenant();
      const others = await Promise.all(Array.from({ length: OTHERS }, () => makeTenant()));
      const { statement, next = usageRecord } = await lock(tenant);
      const before = median(await measureSeconds(others, FREE_SECONDS));
      let isHeld = true;
      const relay = async () => {
        // A relay sends a batch that failed again.
        for (let record = next(); isHeld; ) {
          if ((await report(tenant, [record])).status === 200) record = next();
        }
      };
      let relays: Promise<void>[] = [];
      let beside = Number.POSITIVE_INFINITY;
      const delayMax = (free: number) => Math.max(DELAY_MS_MAX, DELAY_OF_FREE_MAX * free);
      const isSlow = () => beside - before >= delayMax(before);
      try {
        await whileHeld(statement, async () => {
          const measuring = measureSeconds(others, heldSeconds);
          relays = Array.from({ length: RELAYS }, relay);
          // The first batch is charged alone. These arrive meanwhile, and share a transaction with those of the tenant.
          const sharing = others.map((other) => report(other, [usageRecord()]));
          await expect.poll(() => countLockWaiters(db())).toBeGreaterThan(0);
          beside = median(await measuring);
          for (let tries = 1; tries < TRIES && isSlow(); tries += 1)
            beside = Math.min(beside, median(await measureSeconds(others, HELD_SECONDS)));
          for (const { json } of await Promise.all(sharing)) expect(json).toMatchObject({ charged: 1 });
        });
      } finally {
        isHeld = false;
      }
      await Promise.all(relays);
      // Other load of the machine slows down some seconds, and may have grown meanwhile.
      const after = median(await measureSeconds(others, FREE_SECONDS));
      const free = Math.max(before, after);
      expect(beside - free, `${free} ms without a lock`).toBeLessThan(delayMax(free));
    },
  );
});
