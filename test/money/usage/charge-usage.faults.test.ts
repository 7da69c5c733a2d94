/** Faults of one batch, one account or one connection, and their effect on others. */

import pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../base/db/proxy.ts';
import { expectError } from '../../doors/rest/support.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type Answer, ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const RECORDS = 20;

const app = useService();
let proxy: DatabaseProxy;
let behind: Service;
let tenants: TestTenant[];

const db = () => app.service.deps.db;

beforeAll(async () => {
  proxy = await openDatabaseProxy(app.config.databaseUrl);
  behind = await startService(
    { ...app.config, databaseUrl: proxy.url, stripeSecretKey: undefined },
    pino({ level: 'silent' }),
  );
  tenants = await Promise.all(Array.from({ length: 4 }, () => app.paidTenant()));
});

afterAll(async () => {
  proxy.setOpen(true);
  await behind.stop();
  await proxy.close();
});

afterEach(async () => {
  expect(await checkLedger(db())).toEqual([]);
});

interface Batch {
  readonly tenant: TestTenant;
  readonly records: Record<string, unknown>[];
}

/** Batches of all tenants in turn; half of them belong to the first. */
function makeBatches(count: number): Batch[] {
  return Array.from({ length: count }, (_, at) => ({
    tenant: tenants[at % 2 === 0 ? 0 : (at >> 1) % tenants.length]!,
    records: Array.from({ length: RECORDS }, () => usageRecord()),
  }));
}

/** Report to the service whose database is behind the proxy. */
function report({ tenant, records }: Batch): Promise<Answer> {
  return ask(`http://127.0.0.1:${behind.port}/v1/usage`, 'POST', { key: tenant.relayKey, body: { records } });
}

const reportAll = (batches: readonly Batch[]) => Promise.all(batches.map(report));

/** Relays repeat both: the database failed a transaction, or the queue did not get to it in time. */
function expectFailed(answers: readonly Answer[]): void {
  for (const answer of answers) {
    if (answer.status === 503) expectError(answer, 503, 'the service is busy: try again');
    else expectError(answer, 500, 'internal error');
  }
}

/** In how many transactions at least the batches of all tenants are charged. A distributed database gets one for each tenant. */
const transactionsMin = () => (isDistributed() ? tenants.length : 2);

/** Send the batches again: each is charged now or was charged before. */
async function replay(batches: readonly Batch[], expected: 'charged' | 'duplicates' | 'either') {
  for (const { status, text, json } of await reportAll(batches)) {
    expect(status, text).toBe(200);
    expect(json.charged + json.duplicates).toBe(RECORDS);
    if (expected === 'either') expect([0, RECORDS]).toContain(json.charged);
    else expect(json[expected]).toBe(RECORDS);
  }
}

async function countStored(batches: readonly Batch[]): Promise<number> {
  const ids = batches.flatMap(({ records }) => records.map(({ id }) => id));
  const { rows } = await db().query('select count(*) from usage_records where id = any($1)', [ids]);
  return Number(rows[0].count);
}

/** Begin a transaction with this statement and keep it open during the work. */
async function whileHeld<T>(
  statement: string,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  // A pooled connection would hit the idle timeout.
  const holder = new pg.Client(app.config.databaseUrl);
  await holder.connect();
  const release = async () => {
    await holder.query('rollback');
  };
  try {
    await holder.query('begin');
    await holder.query(statement);
    return await work(release);
  } finally {
    await holder.end();
  }
}

const lockAccount = (tenant: TestTenant) =>
  `select from accounts where tenant_id = ${idOf(tenant)} for no key update`;

describe('an account that another transaction has locked', () => {
  it('delays only its own relays, and only while it is locked', async () => {
    const batches = makeBatches(24);
    const isOwn = ({ tenant }: Batch) => tenant === tenants[0];
    await whileHeld(lockAccount(tenants[0]!), async (release) => {
      const answered: Answer[] = [];
      const own = batches.filter(isOwn).map(async (batch) => answered.push(await report(batch)));
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      for (const { json } of await reportAll(batches.filter((batch) => !isOwn(batch)))) {
        expect(json).toMatchObject({ charged: RECORDS });
      }
      expect(answered).toEqual([]);
      await release();
      await Promise.all(own);
      for (const { json } of answered) expect(json).toMatchObject({ charged: RECORDS });
      expect(answered).toHaveLength(own.length);
    });
  });

  it('for ever fails only its own relays, within 15 seconds', async () => {
    const batches = makeBatches(12);
    const [own, others] = [
      batches.filter(({ tenant }) => tenant === tenants[0]),
      batches.filter(({ tenant }) => tenant !== tenants[0]),
    ];
    await whileHeld(lockAccount(tenants[0]!), async () => {
      const started = performance.now();
      const failing = reportAll(own);
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      for (const { json } of await reportAll(others)) expect(json).toMatchObject({ charged: RECORDS });
      for (const answer of await failing) {
        expectError(answer, 503, 'the service is busy: try again');
        expect(answer.headers.get('retry-after')).toBe('2');
      }
      expect(performance.now() - started).toBeLessThan(14_500);
      // No transaction waits any more, so nothing is charged after its caller got an error.
      await expect.poll(() => countLockWaiters(db())).toBe(0);
    });
    expect(await countStored(own)).toBe(0);
    await replay(own, 'charged');
    await replay(others, 'duplicates');
  });
});

describe('a batch that the database refuses', () => {
  beforeAll(async () => {
    await db().query(
      `alter table usage_records add constraint refuse_poison check (id not like 'poison%') not valid`,
    );
  });
  afterAll(async () => {
    await db().query('alter table usage_records drop constraint refuse_poison');
  });

  it('fails alone, and the others of its transaction are charged', async () => {
    const batches = makeBatches(40);
    const isBad = (at: number) => at === 8 || at === 9 || at === 30;
    for (const [at, { records }] of batches.entries()) if (isBad(at)) records[11]!.id = `poison-${at}`;
    const answers = await reportAll(batches);
    for (const [at, answer] of answers.entries()) {
      if (isBad(at)) expectError(answer, 500, 'internal error');
      else expect(answer.json, answer.text).toMatchObject({ charged: RECORDS });
    }
    expect(await countStored(batches)).toBe(37 * RECORDS);
    await replay(
      batches.filter((_, at) => !isBad(at)),
      'duplicates',
    );
  });
});

describe('a connection that is lost', () => {
  it.each([
    ['before the records are sent', () => proxy.cutBefore('copy usage_records'), 'charged'],
    ['while the records are sent', () => proxy.cutWithin('copy usage_records'), 'charged'],
    ['before the commit', () => proxy.cutBefore('commit'), 'charged'],
    ['after the commit, whose answer is lost', () => proxy.cutAfter('commit'), 'duplicates'],
  ] as const)(
    '%s, fails all batches of its transaction, and a replay charges them once',
    async (_, cut, replayed) => {
      const batches = makeBatches(16);
      cut();
      const answers = await reportAll(batches);
      proxy.cutBefore(undefined);
      proxy.cutWithin(undefined);
      proxy.cutAfter(undefined);
      expectFailed(answers);
      expect(await countStored(batches)).toBe(replayed === 'charged' ? 0 : 16 * RECORDS);
      await replay(batches, replayed);
      await replay(batches, 'duplicates');
    },
  );

  it('and cannot be reopened fails all waiting batches, and the queue continues afterwards', async () => {
    const batches = makeBatches(30);
    await whileHeld('lock table usage_records in share mode', async () => {
      const failing = reportAll(batches);
      await expect.poll(() => countLockWaiters(db())).toBeGreaterThanOrEqual(transactionsMin());
      proxy.setOpen(false);
      expectFailed(await failing);
    });
    proxy.setOpen(true);
    await replay(batches, 'charged');
  });
});

describe('a database that stops answering', () => {
  it('gives all waiting batches a 5xx within 15 seconds, and charges none later', async () => {
    const batches = makeBatches(30);
    await whileHeld('lock table usage_records in share mode', async () => {
      const started = performance.now();
      const failing = reportAll(batches);
      await expect.poll(() => countLockWaiters(db())).toBeGreaterThanOrEqual(transactionsMin());
      proxy.setSilent(true);
      expectFailed(await failing);
      expect(performance.now() - started).toBeLessThan(16_000);
    });
    proxy.setSilent(false);
    // New batches are charged after the turn of all that were waiting.
    const next = makeBatches(8);
    await replay(next, 'charged');
    expect(await countStored(batches)).toBe(0);
    await replay(batches, 'charged');
  });
});
