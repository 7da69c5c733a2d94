import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { setAwayServers } from '../../../src/base/db/away-servers.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { DamagedColumnError } from '../../../src/money/records/chunks/chunk.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import type { Batch, ChargeOutcome, Outcomes, SharedOutcomes } from '../../../src/money/usage/bill.ts';
import {
  ChargeQueue,
  type Charging,
  type QueueLimits,
  separateLimits,
} from '../../../src/money/usage/charge-queue.ts';

/** A transaction that runs until the test ends it. */
interface Transaction {
  readonly kind: 'free' | 'tenant';
  readonly batches: readonly Batch[];
  readonly isAwaited: () => boolean;
  readonly waiting: () => readonly Batch[];
  /** Commit, leaving these out. */
  commit(leftOut?: readonly Batch[]): Promise<void>;
  /** Commit, leaving out these tenants, which repeat archived records. */
  commitWithout(...repeating: readonly number[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A queue, and the transactions that it has started: as many of small batches as may run, unless `aloneMs` says otherwise. */
function openQueue(limits?: Partial<QueueLimits>, serverOf?: (tenant: TenantId) => number | undefined) {
  const transactions: Transaction[] = [];
  const reads = new Map<TenantId, PromiseWithResolvers<void>>();
  const open = (
    kind: Transaction['kind'],
    batches: readonly Batch[],
    isAwaited = () => true,
    waiting: Transaction['waiting'] = () => [],
  ) => {
    const { promise, resolve, reject } = Promise.withResolvers<SharedOutcomes>();
    const end = (leftOut: readonly Batch[], repeating: readonly TenantId[] = []) => {
      const outcomes = outcomesOf(batches.filter((batch) => !leftOut.includes(batch)));
      resolve({ outcomes, repeating: new Set(repeating) });
      return turn();
    };
    transactions.push({
      kind,
      batches,
      isAwaited,
      waiting,
      commit: (leftOut = []) => end(leftOut),
      commitWithout: (...tenants) => {
        const repeating = tenants.map((tenant) => BigInt(tenant) as TenantId);
        return end(
          batches.filter(({ tenant }) => repeating.includes(tenant)),
          repeating,
        );
      },
      fail: (error) => {
        reject(error);
        return turn();
      },
    });
    return promise;
  };
  const charging: Charging = {
    free: (batches) => open('free', batches),
    // What it reads before takes as long as `reads`.
    tenant: async (tenant, batches, { isAwaited, inPlace, waiting }) => {
      await reads.get(tenant)?.promise;
      return (await inPlace(() => open('tenant', batches, isAwaited, waiting))).outcomes;
    },
    ...(serverOf && { serverOf }),
  };
  return { queue: new ChargeQueue(charging, { aloneMs: 0, ...limits }), transactions, reads };
}

function batchOf(tenant: number, records = 1, bytes = 0): Batch {
  const columns = new UsageRecords(Buffer.alloc(bytes), records);
  columns.length = records;
  return { tenant: BigInt(tenant) as TenantId, records: columns };
}

/** One outcome per batch, which identifies its tenant. */
function outcomesOf(batches: readonly Batch[]): Outcomes {
  return new Map(batches.map((batch) => [batch, outcomeOf(batch)]));
}

function outcomeOf({ tenant, records }: Batch): ChargeOutcome {
  const charged = records.length;
  return { charged, duplicates: 0, unbilled: 0, total: tenant, admitted: true, conflicts: 0 };
}

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(`refused with ${code}`, 0, 'error'), { code });
}

/** The state of a promise: its value, its error message, or `undefined` while pending. */
function watch(promise: Promise<ChargeOutcome>): { result?: ChargeOutcome | string } {
  const watched: { result?: ChargeOutcome | string } = {};
  promise.then(
    (outcome) => {
      watched.result = outcome;
    },
    (error: Error) => {
      watched.result = error.message;
    },
  );
  return watched;
}

const ONE_AT_A_TIME: Partial<QueueLimits> = { transactions: 1, records: 10, patienceMs: 0 };

afterEach(() => {
  vi.useRealTimers();
});

test('the queue counts the records without an answer, and a small batch as 50', async () => {
  const { queue, transactions } = openQueue();
  const answers = [queue.charge(batchOf(1, 60)), queue.charge(batchOf(1, 4))];
  await turn();
  expect([queue.unanswered, transactions.length]).toEqual([110, 1]);
  await transactions[0]!.commit();
  expect(queue.unanswered).toBe(50);
  await transactions[1]!.commit();
  await Promise.all(answers);
  expect(queue.unanswered).toBe(0);
});

describe('a batch', () => {
  test('goes at once and alone if the queue is idle', async () => {
    const { queue, transactions } = openQueue();
    const batch = batchOf(1);
    const charged = queue.charge(batch);
    expect(transactions).toMatchObject([{ kind: 'free', batches: [batch] }]);
    await transactions[0]!.commit();
    expect(await charged).toStrictEqual(outcomeOf(batch));
  });

  test('that arrives during a transaction goes into the next one, with all that wait', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    const batches = [1, 2, 3, 2, 1].map((tenant) => batchOf(tenant));
    const results = batches.map((batch) => watch(queue.charge(batch)));
    expect(transactions).toHaveLength(1);
    await transactions[0]!.commit();
    expect(transactions.map((each) => each.batches)).toStrictEqual([[batches[0]], batches.slice(1)]);
    expect(results.map(({ result }) => result !== undefined)).toStrictEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    await transactions[1]!.commit();
    expect(results.map(({ result }) => result)).toStrictEqual(batches.map(outcomeOf));
  });

  test('waits for the transaction of its tenant, while batches of other tenants go', async () => {
    const { queue, transactions } = openQueue({ transactions: 3, records: 10 });
    const [first, second, other] = [batchOf(1), batchOf(1), batchOf(2)];
    for (const batch of [first, second, other]) watch(queue.charge(batch));
    expect(transactions.map((each) => each.batches)).toStrictEqual([[first], [other]]);
    await transactions[1]!.commit();
    expect(transactions).toHaveLength(2);
    await transactions[0]!.commit();
    expect(transactions[2]!.batches).toStrictEqual([second]);
  });

  test('starts no more transactions than the limit', async () => {
    const { queue, transactions } = openQueue({ transactions: 3, records: 10 });
    for (let tenant = 1; tenant <= 5; tenant += 1) watch(queue.charge(batchOf(tenant)));
    expect(transactions).toHaveLength(3);
    await transactions[1]!.commit();
    expect(transactions).toHaveLength(4);
    expect(transactions[3]!.batches.map(({ tenant }) => tenant)).toStrictEqual([4n, 5n]);
  });

  test('waits for a transaction of small ones as long as that is young, and no longer, even if it never ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, transactions } = openQueue({ aloneMs: 80, ofOneKind: 2, records: 10 });
    const [hanging, large, ...small] = [
      batchOf(1),
      batchOf(2, 50),
      batchOf(3),
      batchOf(4),
      batchOf(5),
      batchOf(6),
    ];
    for (const batch of [hanging!, large!, small[0]!, small[1]!]) watch(queue.charge(batch));
    expect(transactions.map((each) => each.batches)).toStrictEqual([[hanging], [large]]);
    await vi.advanceTimersByTimeAsync(79);
    expect(transactions).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(transactions[2]!.batches).toStrictEqual([small[0], small[1]]);

    for (const batch of small.slice(2)) watch(queue.charge(batch));
    expect(transactions).toHaveLength(3);
    await transactions[2]!.commit();
    expect(transactions[3]!.batches).toStrictEqual(small.slice(2));
    await transactions[3]!.commit();
    // Those that wait for their own time limit are the hanging and the large one.
    expect(vi.getTimerCount()).toBe(2);
  });

  test('does not wait for a transaction that is half full', async () => {
    const { queue, transactions } = openQueue({ aloneMs: 80, ofOneKind: 2, records: 10 });
    for (const batch of [batchOf(1, 5), batchOf(2), batchOf(3)]) watch(queue.charge(batch));
    expect(transactions.map((each) => each.batches.length)).toStrictEqual([1, 1]);
  });

  test('shares a transaction up to the limit of records, and goes alone above it', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    watch(queue.charge(batchOf(1)));
    for (const size of [4, 6, 1, 50, 10, 3, 0]) watch(queue.charge(batchOf(2, size)));
    for (let at = 0; at < 5; at += 1) await transactions[at]!.commit();
    const sizes = transactions.map((each) => each.batches.map(({ records }) => records.length));
    // Small batches overtake a large one that does not fit, but only once.
    expect(sizes).toStrictEqual([[1], [4, 6, 0], [1, 3], [50], [10]]);
  });

  test('that is large gets its turn, even if small ones keep coming', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    for (let at = 0; at < 4; at += 1) watch(queue.charge(batchOf(at % 2, 4)));
    const large = watch(queue.charge(batchOf(1, 50)));
    let turns = 0;
    for (; large.result === undefined && turns < 20; turns += 1) {
      for (const tenant of [0, 1, 2, 3]) watch(queue.charge(batchOf(tenant, 3)));
      await transactions[turns]!.commit();
    }
    expect(turns).toBeLessThan(6);
  });
});

describe('tenants share the queue:', () => {
  test('no more of them in a transaction than are allowed', async () => {
    const { queue, transactions } = openQueue({ ...ONE_AT_A_TIME, tenants: 1 });
    const batches = [1, 2, 3, 2].map((tenant) => batchOf(tenant));
    const answers = Promise.all(batches.map((batch) => queue.charge(batch)));
    for (let at = 0; at < 3; at += 1) await transactions[at]!.commit();
    await answers;
    const [first, second, third, last] = batches;
    expect(transactions.map((each) => each.batches)).toEqual([[first], [second, last], [third]]);
  });

  test('a batch does not wait behind the backlog of another tenant', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    const backlog = Array.from({ length: 6 }, () => batchOf(1, 10));
    for (const batch of backlog) watch(queue.charge(batch));
    const other = batchOf(2);
    watch(queue.charge(other));
    for (let at = 0; at < 7; at += 1) await transactions[at]!.commit();
    const order = transactions.flatMap((each) => each.batches);
    expect(order).toStrictEqual([backlog[0], other, ...backlog.slice(1)]);
  });

  test('one that had to wait gains nothing over one that comes later', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    const [first, second] = [1, 2].map((tenant) => Array.from({ length: 3 }, () => batchOf(tenant, 10)));
    for (const batch of first!) watch(queue.charge(batch));
    await transactions[0]!.commit();
    for (const batch of second!) watch(queue.charge(batch));
    for (let at = 1; at < 6; at += 1) await transactions[at]!.commit();
    const tenants = transactions.map((each) => each.batches[0]!.tenant);
    expect(tenants).toStrictEqual([1n, 1n, 2n, 1n, 2n, 2n]);
  });

  test('one that paid waits behind none of those that never did', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    const free = [1, 2, 3].map((tenant) => batchOf(tenant, 10));
    for (const batch of free) watch(queue.charge(batch, false));
    const paid = [4, 4].map((tenant) => batchOf(tenant, 10));
    for (const batch of paid) watch(queue.charge(batch));
    for (let at = 0; at < 5; at += 1) await transactions[at]!.commit();
    const order = transactions.flatMap((each) => each.batches);
    expect(order).toStrictEqual([free[0], ...paid, ...free.slice(1)]);
  });

  test('those that paid share no transaction with those that never did, which have half of them at most', async () => {
    const { queue, transactions } = openQueue({ transactions: 4, records: 10, aloneMs: 80 });
    for (const tenant of [1, 2, 3, 4]) watch(queue.charge(batchOf(tenant, 10), false));
    expect(transactions).toHaveLength(2);
    for (const tenant of [5, 6, 7]) watch(queue.charge(batchOf(tenant)));
    expect(transactions[2]!.batches.map(({ tenant }) => tenant)).toStrictEqual([5n]);
    await transactions[0]!.commit();
    await transactions[2]!.commit();
    expect(transactions.slice(3).map(({ batches }) => batches.map(({ tenant }) => tenant))).toStrictEqual([
      [3n],
      [6n, 7n],
    ]);
    await transactions[4]!.commit();
  });

  test('a transaction of those that never paid holds up none that paid', async () => {
    const { queue, transactions } = openQueue({ transactions: 4, aloneMs: 80_000 });
    for (const tenant of [1, 2]) watch(queue.charge(batchOf(tenant), false));
    watch(queue.charge(batchOf(3)));
    expect(transactions.map(({ batches }) => batches.map(({ tenant }) => tenant))).toStrictEqual([
      [1n],
      [3n],
    ]);
    await transactions[1]!.commit();
    await transactions[0]!.commit();
    expect(transactions[2]!.batches.map(({ tenant }) => tenant)).toStrictEqual([2n]);
    await transactions[2]!.commit();
  });

  test('a backlog of those that never paid gives none that paid an advantage over another', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    for (let count = 0; count < 9; count += 1) watch(queue.charge(batchOf(1, 10), false));
    for (let at = 0; at < 8; at += 1) await transactions[at]!.commit();
    const older = [2, 2, 2].map((tenant) => batchOf(tenant, 10));
    for (const batch of older) watch(queue.charge(batch));
    const newer = batchOf(3, 10);
    watch(queue.charge(newer));
    for (let at = 8; at < 13; at += 1) await transactions[at]!.commit();
    const order = transactions.slice(9).flatMap((each) => each.batches);
    expect(order).toStrictEqual([older[0], newer, older[1], older[2]]);
  });

  test('a large batch costs its tenant as much as the small ones that hold as many records', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, records: 100 });
    watch(queue.charge(batchOf(9)));
    const large = [batchOf(1, 200), batchOf(1, 200)];
    const small = Array.from({ length: 5 }, () => batchOf(2, 100));
    for (const batch of [...large, ...small]) watch(queue.charge(batch));
    for (let at = 0; at < 8; at += 1) await transactions[at]!.commit();
    const order = transactions.slice(1).flatMap((each) => each.batches);
    expect(order).toStrictEqual([large[0], small[0], small[1], large[1], ...small.slice(2)]);
  });

  test('large batches leave a transaction to small ones', async () => {
    const { queue, transactions } = openQueue({ transactions: 3, ofOneKind: 2, records: 10 });
    const large = [1, 2, 3].map((tenant) => batchOf(tenant, 50));
    for (const batch of large) watch(queue.charge(batch));
    expect(transactions.map((each) => each.batches)).toStrictEqual([[large[0]], [large[1]]]);
    const small = batchOf(4);
    watch(queue.charge(small));
    expect(transactions[2]!.batches).toStrictEqual([small]);
    await transactions[2]!.commit();
    expect(transactions).toHaveLength(3);
    await transactions[0]!.commit();
    expect(transactions[3]!.batches).toStrictEqual([large[2]]);
  });

  test('small batches leave a transaction to large ones', async () => {
    const { queue, transactions } = openQueue({ transactions: 3, ofOneKind: 2, records: 10 });
    const small = [1, 2, 3].map((tenant) => batchOf(tenant));
    for (const batch of small) watch(queue.charge(batch));
    expect(transactions.map((each) => each.batches)).toStrictEqual([[small[0]], [small[1]]]);
    const large = batchOf(4, 50);
    watch(queue.charge(large));
    expect(transactions[2]!.batches).toStrictEqual([large]);
  });

  test('tenants of a server leave transactions to those of another, even if theirs never end', async () => {
    const limits = { transactions: 4, ofOneServer: 3, ofOneKind: 2, records: 10, tenants: 1 };
    const { queue, transactions } = openQueue(limits, (tenant) => Number(tenant % 2n));
    const odd = [1, 3, 5].map((tenant) => batchOf(tenant));
    for (const batch of odd) watch(queue.charge(batch));
    const large = [7, 9].map((tenant) => batchOf(tenant, 50));
    for (const batch of large) watch(queue.charge(batch));
    const taken = [[odd[0]], [odd[1]], [large[0]]];
    expect(transactions.map((each) => each.batches)).toStrictEqual(taken);

    const even = [2, 4].map((tenant) => batchOf(tenant));
    for (const batch of even) watch(queue.charge(batch));
    expect(transactions[3]!.batches).toStrictEqual([even[0]]);
    await transactions[3]!.commit();
    expect(transactions[4]!.batches).toStrictEqual([even[1]]);
    await transactions[0]!.commit();
    expect(transactions[5]!.batches).toStrictEqual([odd[2]]);
  });

  test('tenants of a server that is away are refused at once, but for one batch that finds out whether it answers', async () => {
    onTestFinished(() => setAwayServers([]));
    const { queue, transactions } = openQueue({ tenants: 1 }, (tenant) => Number(tenant % 2n));
    setAwayServers([1]);
    watch(queue.charge(batchOf(1)));
    for (const tenant of [1, 3])
      await expect(queue.charge(batchOf(tenant))).rejects.toThrow('a database server is away: try again');
    watch(queue.charge(batchOf(2)));
    watch(queue.charge(batchOf(4)));
    expect(transactions.length).toBe(3);
    await transactions[0]!.commit();
    watch(queue.charge(batchOf(3)));
    expect(transactions.length).toBe(4);
  });
});

describe('when the database', () => {
  /** Three batches in one running transaction, after one that has ended. */
  async function openGroup() {
    const opened = openQueue(ONE_AT_A_TIME);
    const { queue, transactions } = opened;
    watch(queue.charge(batchOf(9)));
    const batches = [batchOf(1), batchOf(2), batchOf(3)];
    const results = batches.map((batch) => watch(queue.charge(batch)));
    await transactions[0]!.commit();
    expect(transactions[1]!.batches).toStrictEqual(batches);
    return { ...opened, batches, results, outcomes: () => results.map(({ result }) => result) };
  }

  test.each(['22003', '23514', '40P01', '42501', 'XX000'])(
    'refuses a transaction (%s), each batch is repeated alone, and only the bad one fails',
    async (code) => {
      const { transactions, batches, outcomes } = await openGroup();
      await transactions[1]!.fail(databaseError(code));
      await transactions[2]!.commit();
      await transactions[3]!.fail(databaseError(code));
      await transactions[4]!.commit();
      expect(transactions.slice(2).map((each) => each.batches)).toStrictEqual(
        batches.map((batch) => [batch]),
      );
      expect(outcomes()).toStrictEqual([
        outcomeOf(batches[0]!),
        `refused with ${code}`,
        outcomeOf(batches[2]!),
      ]);
    },
  );

  test.each([
    ['the connection is lost', new Error('Connection terminated unexpectedly')],
    ['the server shuts down', databaseError('57P01')],
    ['a statement takes too long', databaseError('57014')],
    ['there are too many connections', databaseError('53300')],
    ['the disk fails', databaseError('58030')],
    ['the connection breaks', databaseError('08006')],
  ])('is unavailable or too slow, all batches fail and none is repeated: %s', async (_what, error) => {
    const { queue, transactions, outcomes } = await openGroup();
    await transactions[1]!.fail(error);
    expect(outcomes()).toStrictEqual(Array(3).fill(error.message));
    expect(transactions).toHaveLength(2);
    const next = watch(queue.charge(batchOf(1)));
    await transactions[2]!.commit();
    expect(next.result).toBeDefined();
  });

  test('waits for a lock, its batches are repeated one by one, and the locked one waits separately', async () => {
    const { transactions, batches, outcomes } = await openGroup();
    const locked = databaseError('55P03');
    await transactions[1]!.fail(locked);
    await transactions[2]!.commit();
    await transactions[3]!.fail(locked);
    await transactions[4]!.commit();
    expect(outcomes()).toStrictEqual([outcomeOf(batches[0]!), undefined, outcomeOf(batches[2]!)]);
    expect(transactions[5]).toMatchObject({ kind: 'tenant', batches: [batches[1]] });
    await transactions[5]!.fail(locked);
    expect(outcomes()[1]).toBe(locked.message);
  });

  test('is lost while batches are repeated, the rest still get their turn', async () => {
    const { transactions, batches, outcomes } = await openGroup();
    await transactions[1]!.fail(databaseError('23514'));
    await transactions[2]!.fail(new Error('lost'));
    await transactions[3]!.commit();
    await transactions[4]!.commit();
    expect(outcomes()).toStrictEqual(['lost', ...batches.slice(1).map(outcomeOf)]);
  });

  test('has an account locked, its batches wait separately and delay no others', async () => {
    const { queue, transactions, batches, outcomes } = await openGroup();
    await transactions[1]!.commit([batches[1]!]);
    expect(outcomes()).toStrictEqual([outcomeOf(batches[0]!), undefined, outcomeOf(batches[2]!)]);
    expect(transactions[2]).toMatchObject({ kind: 'tenant', batches: [batches[1]] });

    const [later, neighbour] = [batchOf(2), batchOf(3)];
    const laterResult = watch(queue.charge(later));
    const neighbourResult = watch(queue.charge(neighbour));
    expect(transactions[3]).toMatchObject({ kind: 'free', batches: [neighbour] });
    await transactions[3]!.commit();
    expect(neighbourResult.result).toStrictEqual(outcomeOf(neighbour));
    expect(transactions).toHaveLength(4);

    await transactions[2]!.commit();
    expect(outcomes()[1]).toStrictEqual(outcomeOf(batches[1]!));
    expect(transactions[4]).toMatchObject({ kind: 'free', batches: [later] });
    await transactions[4]!.commit();
    expect(laterResult.result).toStrictEqual(outcomeOf(later));
  });

  test('has accounts locked for a moment, the next transaction takes their batches along', async () => {
    const { queue, transactions } = openQueue({
      transactions: 1,
      records: 10,
      retryMs: 0,
      patienceMs: 60_000,
    });
    watch(queue.charge(batchOf(9)));
    const batches = [1, 2].map((tenant) => batchOf(tenant));
    const results = batches.map((batch) => watch(queue.charge(batch)));
    await transactions[0]!.commit();
    await transactions[1]!.commit(batches);
    await vi.waitFor(() => expect(transactions).toHaveLength(3), { timeout: 60_000, interval: 1 });
    expect(transactions[2]).toMatchObject({ kind: 'free' });
    for (const each of transactions.slice(2)) await each.commit();
    await vi.waitFor(async () => {
      for (const each of transactions.slice(3)) await each.commit();
      expect(results.map(({ result }) => result)).toStrictEqual(batches.map(outcomeOf));
    }, 60_000);
    expect(transactions.map(({ kind }) => kind)).not.toContain('tenant');
  });

  test('has more accounts locked than may be waited for, the others are tried again', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, records: 10, locked: 2, patienceMs: 0 });
    watch(queue.charge(batchOf(9)));
    const batches = [1, 2, 3, 4].map((tenant) => batchOf(tenant));
    const results = batches.map((batch) => watch(queue.charge(batch)));
    await transactions[0]!.commit();
    const later = watch(queue.charge(batchOf(4, 2)));
    await transactions[1]!.commit(batches);
    const waited = transactions.filter(({ kind }) => kind === 'tenant');
    expect(waited.map((each) => each.batches)).toStrictEqual([[batches[0]], [batches[1]]]);

    await vi.waitFor(() => expect(transactions).toHaveLength(5), { timeout: 60_000, interval: 1 });
    expect(transactions[4]).toMatchObject({ kind: 'free' });
    const again = transactions[4]!.batches;
    expect(again[0]).toBe(batches[2]);
    await transactions[4]!.commit();
    expect(results[2]!.result).toStrictEqual(outcomeOf(batches[2]!));
    await vi.waitFor(async () => {
      for (const each of transactions.slice(5)) await each.commit();
      expect([results[3]!.result, later.result].every(Boolean)).toBe(true);
    }, 60_000);
    expect(results.slice(0, 2).map(({ result }) => result)).toStrictEqual([undefined, undefined]);
  });

  test('refuses batches that waited separately, each is repeated alone', async () => {
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    watch(queue.charge(batchOf(1)));
    const batches = [batchOf(2, 1), batchOf(2, 2)];
    const results = batches.map((batch) => watch(queue.charge(batch)));
    await transactions[0]!.commit();
    await transactions[1]!.commit(batches);
    await transactions[2]!.fail(databaseError('22003'));
    await transactions[3]!.fail(databaseError('22003'));
    await transactions[4]!.commit();
    expect(transactions.slice(2).map(({ kind }) => kind)).toStrictEqual(['tenant', 'tenant', 'tenant']);
    expect(results.map(({ result }) => result)).toStrictEqual(['refused with 22003', outcomeOf(batches[1]!)]);
  });
});

test('batches of a tenant whose archive is damaged are repeated one by one', async () => {
  const { queue, transactions } = openQueue(ONE_AT_A_TIME);
  const first = watch(queue.charge(batchOf(1)));
  const [repeat, fresh] = [watch(queue.charge(batchOf(2))), watch(queue.charge(batchOf(2)))];
  await transactions[0]!.commit();
  await transactions[1]!.fail(new DamagedColumnError('damaged'));
  await transactions[2]!.fail(new DamagedColumnError('damaged'));
  await transactions[3]!.commit();
  expect([typeof first.result, repeat.result, typeof fresh.result]).toEqual(['object', 'damaged', 'object']);
});

describe('batches that repeat archived records', () => {
  const tenantsOf = (transactions: readonly Transaction[]) =>
    transactions.map(({ kind, batches }) => [kind, ...batches.map(({ tenant }) => Number(tenant))]);

  test('are charged separately, each by itself, and delay no others', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, repeating: 2 });
    const results = [1, 2, 3, 4].map((tenant) => watch(queue.charge(batchOf(tenant))));
    await transactions[0]!.commit();
    await transactions[1]!.commitWithout(2, 3, 4);
    results.push(watch(queue.charge(batchOf(5))));
    expect(tenantsOf(transactions.slice(2))).toStrictEqual([
      ['tenant', 2],
      ['tenant', 3],
      ['free', 5],
    ]);
    await transactions[2]!.commit();
    expect(tenantsOf(transactions.slice(5))).toStrictEqual([['tenant', 4]]);
    for (const each of transactions.slice(3)) await each.commit();
    expect(results.map(({ result }) => typeof result)).toStrictEqual(Array(5).fill('object'));
  });

  test('of tenants that never paid leave a place to the others', async () => {
    const { queue, transactions } = openQueue({ transactions: 2, repeating: 2 });
    /** The newest transaction of that kind with the tenant. */
    const of = (kind: Transaction['kind'], tenant: number) =>
      transactions.findLast(
        (each) => each.kind === kind && each.batches.some((batch) => batch.tenant === BigInt(tenant)),
      )!;
    const reading = () =>
      tenantsOf(transactions.filter(({ kind }) => kind === 'tenant')).map(([, tenant]) => tenant);
    for (const tenant of [1, 2, 3]) watch(queue.charge(batchOf(tenant), false));
    for (const tenant of [4, 5]) watch(queue.charge(batchOf(tenant)));
    await of('free', 1).commitWithout(1);
    await of('free', 4).commitWithout(4);
    await of('free', 5).commitWithout(5);
    await of('free', 2).commitWithout(2, 3);
    expect(reading()).toStrictEqual([1, 4]);
    await of('tenant', 4).commit();
    expect(reading()).toStrictEqual([1, 4, 5]);
    await of('tenant', 1).commit();
    expect(reading()).toStrictEqual([1, 4, 5, 2]);
    await of('tenant', 5).commit();
    expect(reading()).toStrictEqual([1, 4, 5, 2]);
    await of('tenant', 2).commit();
    expect(reading()).toStrictEqual([1, 4, 5, 2, 3]);
  });
});

describe('while archived records are read', () => {
  const numbersOf = (transactions: readonly Transaction[]) =>
    transactions.map(({ batches }) => batches.map(({ tenant }) => Number(tenant)));

  test('no place to be charged is taken', async () => {
    const { queue, transactions, reads } = openQueue({ repeating: 2 });
    for (const tenant of [1, 2, 3, 4]) {
      if (tenant < 4) reads.set(BigInt(tenant) as TenantId, Promise.withResolvers());
      watch(queue.charge(batchOf(tenant)));
      await transactions.at(-1)!.commitWithout(tenant);
    }
    const charged = () => numbersOf(transactions.filter(({ kind }) => kind === 'tenant'));
    expect(charged()).toStrictEqual([[4]]);
    for (const tenant of [1, 2, 3]) reads.get(BigInt(tenant) as TenantId)!.resolve();
    await turn();
    expect(charged()).toStrictEqual([[4], [1]]);
  });

  test('it is known which batches of the tenant wait', async () => {
    const { queue, transactions } = openQueue();
    watch(queue.charge(batchOf(1)));
    await transactions[0]!.commitWithout(1);
    const waiting = [batchOf(1), batchOf(1, 5_000)];
    for (const batch of [...waiting, batchOf(2)]) watch(queue.charge(batch));
    const reading = transactions.find(({ kind }) => kind === 'tenant')!;
    expect(reading.waiting()).toStrictEqual(waiting);
    await reading.commit();
    expect(reading.waiting()).toHaveLength(1);
  });

  test('tenants that never paid have a quarter of the places to read', async () => {
    const { queue, transactions, reads } = openQueue({ reading: 4, repeating: 4 });
    const reading: number[] = [];
    for (const tenant of [1, 2, 3]) {
      const read = Promise.withResolvers<void>();
      reads.set(BigInt(tenant) as TenantId, read);
      void read.promise.then(() => reading.push(tenant));
      watch(queue.charge(batchOf(tenant), tenant === 3));
      await transactions.at(-1)!.commitWithout(tenant);
    }
    for (const read of reads.values()) read.resolve();
    await turn();
    // The second began to read when the first was charged.
    const charged = numbersOf(transactions.filter(({ kind }) => kind === 'tenant'));
    expect(charged).toStrictEqual([[1], [3]]);
    await transactions.find(({ kind }) => kind === 'tenant')!.commit();
    await turn();
    expect(numbersOf(transactions.filter(({ kind }) => kind === 'tenant'))).toStrictEqual([[1], [3], [2]]);
  });
});

describe('tenants that send one batch at a time', () => {
  test('leave turns to one that sends several', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, records: 100 });
    const charged = new Map([1, 2, 3].map((tenant) => [tenant, 0]));
    const send = async (tenant: number) => {
      while (transactions.length < 60) {
        await queue.charge(batchOf(tenant, 100));
        charged.set(tenant, charged.get(tenant)! + 1);
      }
    };
    // The first has two under way all the time.
    const all = [1, 1, 2, 3].map(send);
    for (let at = 0; at < transactions.length; at += 1) await transactions[at]!.commit();
    await Promise.all(all);
    for (const count of charged.values()) expect(count).toBeGreaterThan(15);
  });

  test('are forgotten once the queue is empty, or the others have gone on', async () => {
    const { queue, transactions } = openQueue({ transactions: 1 });
    for (let tenant = 1; tenant <= 1_100; tenant += 1) {
      const charged = queue.charge(batchOf(tenant));
      await transactions[tenant - 1]!.commit();
      await charged;
    }
    expect(transactions).toHaveLength(1_100);
  });
});

describe('a tenant that pays', () => {
  test('does not lose a batch that a lock kept meanwhile behind those that it sends later', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, retryMs: 20, patienceMs: 60_000 });
    const first = batchOf(1);
    watch(queue.charge(first, false));
    await transactions[0]!.commit([first]);
    for (let sent = 0; sent < 3; sent += 1) watch(queue.charge(batchOf(1)));
    await vi.waitUntil(() => transactions.length > 1, { interval: 1 });
    expect(transactions[1]!.batches[0]).toBe(first);
    await transactions[1]!.commit();
  });

  test('is charged as others that paid, and what it sent before goes first', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, records: 100 });
    watch(queue.charge(batchOf(9, 100)));
    for (let sent = 0; sent < 3; sent += 1) watch(queue.charge(batchOf(1, 80), false));
    for (let sent = 0; sent < 3; sent += 1) watch(queue.charge(batchOf(2, 80)));
    watch(queue.charge(batchOf(1, 20)));
    const order: number[][] = [];
    for (let at = 0; at < transactions.length; at += 1) {
      order.push(transactions[at]!.batches.map(({ tenant }) => Number(tenant)));
      await transactions[at]!.commit();
    }
    const turns = order.slice(1).map(([first]) => first);
    expect(turns.slice(0, 4).toSorted()).toStrictEqual([1, 1, 2, 2]);
    expect(order.flat().filter((tenant) => tenant === 1)).toHaveLength(4);
    expect(order.at(-1)).toContain(1);
  });

  test('does not wait behind all that it sent before', async () => {
    const { queue, transactions } = openQueue({ transactions: 1, records: 100 });
    watch(queue.charge(batchOf(1, 5_000), false));
    await transactions[0]!.commit();
    // Others never stop.
    for (let sent = 0; sent < 20; sent += 1) watch(queue.charge(batchOf(2, 100)));
    watch(queue.charge(batchOf(1, 10)));
    await transactions[1]!.commit();
    expect(transactions[2]!.batches.map(({ tenant }) => Number(tenant))).toStrictEqual([1]);
  });

  test('counts as one that paid at once', async () => {
    const { queue } = openQueue({ ...ONE_AT_A_TIME, unanswered: 400 });
    watch(queue.charge(batchOf(9)));
    watch(queue.charge(batchOf(1, 150), false));
    watch(queue.charge(batchOf(1, 50)));
    // The half of those that never paid is empty again.
    const free = watch(queue.charge(batchOf(2, 100), false));
    await turn();
    expect(free.result).toBeUndefined();
  });
});

describe('a batch that waits too long', () => {
  const MESSAGE = 'the service is busy: try again';

  test('fails after 10 seconds, and is not charged when its turn comes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    const first = watch(queue.charge(batchOf(1)));
    const old = [batchOf(2), batchOf(3)].map((batch) => watch(queue.charge(batch)));
    await vi.advanceTimersByTimeAsync(9_000);
    const young = batchOf(3);
    const result = watch(queue.charge(young));
    expect(old.map((each) => each.result)).toStrictEqual([undefined, undefined]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([first, ...old].map((each) => each.result)).toStrictEqual([MESSAGE, MESSAGE, MESSAGE]);
    expect(transactions).toHaveLength(1);

    await transactions[0]!.commit();
    expect(transactions[1]!.batches).toStrictEqual([young]);
    await transactions[1]!.commit();
    expect(result.result).toStrictEqual(outcomeOf(young));
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is held no longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    watch(queue.charge(batchOf(1)));
    let looks = 0;
    const { tenant, records } = batchOf(1);
    const old = {
      records,
      get tenant() {
        looks += 1;
        return tenant;
      },
    };
    watch(queue.charge(old));
    await vi.advanceTimersByTimeAsync(10_000);
    looks = 0;
    watch(queue.charge(batchOf(2)));
    await transactions[0]!.commit();
    expect(transactions[1]!.batches.map((batch) => batch.tenant)).toStrictEqual([2n]);
    expect(looks).toBe(0);
  });

  test('leaves the archive, which is not read for it any more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, transactions } = openQueue({ reading: 2 });
    for (const tenant of [1, 2, 3]) {
      watch(queue.charge(batchOf(tenant)));
      await transactions.at(-1)!.commitWithout(tenant);
    }
    const reading = transactions.filter(({ kind }) => kind === 'tenant');
    expect(reading.map(({ isAwaited }) => isAwaited())).toStrictEqual([true, true]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(reading.map(({ isAwaited }) => isAwaited())).toStrictEqual([false, false]);
    const count = transactions.length;
    const again = watch(queue.charge(batchOf(3)));
    await transactions[count]!.commit();
    expect(typeof again.result).toBe('object');
    for (const each of reading) await each.commit();
    expect(transactions).toHaveLength(count + 1);
  });

  test('is not repeated after a refusal either', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, transactions } = openQueue(ONE_AT_A_TIME);
    watch(queue.charge(batchOf(1)));
    const results = [batchOf(2), batchOf(3)].map((batch) => watch(queue.charge(batch)));
    await transactions[0]!.commit();
    await vi.advanceTimersByTimeAsync(10_000);
    await transactions[1]!.fail(databaseError('23514'));
    expect(transactions).toHaveLength(2);
    expect(results.map(({ result }) => result)).toStrictEqual([MESSAGE, MESSAGE]);
    watch(queue.charge(batchOf(2)));
    expect(transactions).toHaveLength(3);
  });
});

test.each([
  [16, 3, 3],
  [4, 1, 2],
])(
  'with %i connections, %i locked accounts are waited for, and %i archives read',
  (connections, locked, repeating) => {
    expect(separateLimits(connections)).toEqual({ locked, repeating });
  },
);

describe('batches that are too many to be charged in time', () => {
  test('are counted by their bytes where these are many', async () => {
    const { queue } = openQueue({ ...ONE_AT_A_TIME, unanswered: 400 });
    watch(queue.charge(batchOf(1, 1, 200 * 256)));
    await expect(queue.charge(batchOf(1))).rejects.toMatchObject({ kind: 'overloaded' });
    watch(queue.charge(batchOf(2, 1, 150 * 256)));
    watch(queue.charge(batchOf(3)));
    await expect(queue.charge(batchOf(4))).rejects.toMatchObject({ kind: 'overloaded' });
  });

  test('of all tenants are refused at once', async () => {
    const { queue, transactions } = openQueue({ ...ONE_AT_A_TIME, unanswered: 400 });
    const results = [1, 2, 3, 4].map((tenant) => watch(queue.charge(batchOf(tenant, 100))));
    await expect(queue.charge(batchOf(5))).rejects.toMatchObject({ kind: 'overloaded', retryAfter: 2 });
    await transactions[0]!.commit();
    expect(results[0]!.result).toBeDefined();
    watch(queue.charge(batchOf(5)));
    expect(transactions[1]!.batches).toHaveLength(1);
  });

  test('of one tenant leave half for the others, and small batches count too', async () => {
    const { queue } = openQueue({ ...ONE_AT_A_TIME, unanswered: 400 });
    for (let count = 0; count < 4; count += 1) watch(queue.charge(batchOf(1)));
    await expect(queue.charge(batchOf(1))).rejects.toMatchObject({ kind: 'overloaded' });
    const other = watch(queue.charge(batchOf(2, 200)));
    await turn();
    expect(other.result).toBeUndefined();
  });

  test('of tenants that never paid leave half for the others', async () => {
    const { queue, transactions } = openQueue({ ...ONE_AT_A_TIME, unanswered: 400 });
    for (const tenant of [1, 2]) watch(queue.charge(batchOf(tenant, 100), false));
    await expect(queue.charge(batchOf(3), false)).rejects.toMatchObject({ kind: 'overloaded' });
    const paid = watch(queue.charge(batchOf(4, 200)));
    await transactions[0]!.commit();
    expect(paid.result).toBeUndefined();
    watch(queue.charge(batchOf(3), false));
    await expect(queue.charge(batchOf(3), false)).rejects.toMatchObject({ kind: 'overloaded' });
  });
});

describe('too many small batches', () => {
  test('of one tenant that never paid are refused at once', async () => {
    const { queue, transactions } = openQueue({ ...ONE_AT_A_TIME, batchesOfNeverPaid: 3 });
    const results = Array.from({ length: 3 }, () => watch(queue.charge(batchOf(2), false)));
    const refusal = { kind: 'overloaded', retryAfter: 2 };
    await expect(queue.charge(batchOf(2), false)).rejects.toMatchObject(refusal);
    await transactions[0]!.commit();
    expect(results.filter(({ result }) => result)).toHaveLength(1);
    watch(queue.charge(batchOf(2), false));
    await expect(queue.charge(batchOf(2), false)).rejects.toMatchObject(refusal);
  });

  test('of a tenant that paid wait, as long as they hold few records', async () => {
    const { queue } = openQueue({ ...ONE_AT_A_TIME, batchesOfNeverPaid: 3 });
    const results = Array.from({ length: 400 }, () => watch(queue.charge(batchOf(1))));
    expect(results.filter(({ result }) => result)).toEqual([]);
  });

  test('of tenants that never paid are refused together, and leave the others theirs', async () => {
    const { queue, transactions } = openQueue({ ...ONE_AT_A_TIME, batchesNeverPaid: 3 });
    for (const tenant of [1, 2, 3]) watch(queue.charge(batchOf(tenant), false));
    await expect(queue.charge(batchOf(4), false)).rejects.toMatchObject({ kind: 'overloaded' });
    watch(queue.charge(batchOf(4)));
    // One of those that never paid pays.
    watch(queue.charge(batchOf(3)));
    watch(queue.charge(batchOf(5), false));
    await expect(queue.charge(batchOf(6), false)).rejects.toMatchObject({ kind: 'overloaded' });
    await transactions[0]!.commit();
    watch(queue.charge(batchOf(6), false));
  });
});

/** The result of a transaction, and its delay in turns of the event loop. */
const ending = fc.record({
  turns: fc.nat(3),
  end: fc.oneof(
    { weight: 4, arbitrary: fc.constant('commit' as const) },
    { weight: 1, arbitrary: fc.constantFrom('refused' as const, 'lost' as const, 'thrown' as const) },
  ),
  locked: fc.uniqueArray(fc.nat(4), { maxLength: 2 }),
  repeating: fc.uniqueArray(fc.nat(4), { maxLength: 2 }),
});

const tenantsFrom = (numbers: readonly number[]) => new Set(numbers.map((each) => BigInt(each) as TenantId));

test('for any results of transactions, every batch gets its own answer and no tenant stays blocked', async () => {
  const arrivals = fc.array(fc.record({ tenant: fc.nat(4), records: fc.nat(14), turns: fc.nat(1) }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(arrivals, fc.infiniteStream(ending), fc.nat(2), async (batches, endings, patienceMs) => {
      const limits = {
        transactions: 3,
        ofOneKind: 2,
        records: 12,
        locked: 1,
        repeating: 2,
        retryMs: 0,
        patienceMs,
      };
      const open = new Set<TenantId>();
      let free = 0;
      const run = async (kind: 'free' | 'tenant', group: readonly Batch[]): Promise<SharedOutcomes> => {
        const tenants = new Set(group.map(({ tenant }) => tenant));
        const records = group.reduce((sum, batch) => sum + batch.records.length, 0);
        expect(group.length === 1 || records <= limits.records).toBe(true);
        expect([...tenants].filter((tenant) => open.has(tenant))).toStrictEqual([]);
        for (const tenant of tenants) open.add(tenant);
        free += kind === 'free' ? 1 : 0;
        expect(free).toBeLessThanOrEqual(limits.transactions);
        const { turns, end, ...left } = endings.next().value;
        for (let passed = 0; passed < turns; passed += 1) await turn();
        for (const tenant of tenants) open.delete(tenant);
        free -= kind === 'free' ? 1 : 0;
        if (end === 'refused') throw databaseError('23514');
        if (end === 'lost') throw databaseError('57P01');
        if (end === 'thrown') throw new TypeError('a mistake of ours');
        const [locked, repeating] = [tenantsFrom(left.locked), tenantsFrom(left.repeating)];
        const done = group.filter(
          ({ tenant }) => kind === 'tenant' || !(locked.has(tenant) || repeating.has(tenant)),
        );
        return { outcomes: outcomesOf(done), repeating };
      };
      const queue = new ChargeQueue(
        {
          free: (group) => run('free', group),
          tenant: async (_tenant, group) => (await run('tenant', group)).outcomes,
        },
        limits,
      );
      const answers = await Promise.all(
        batches.map(async ({ tenant, records, turns }, at) => {
          for (let passed = 0; passed < turns * at; passed += 1) await turn();
          const batch = batchOf(tenant, records);
          return queue.charge(batch, tenant % 2 === 0).then(
            (outcome) => expect(outcome).toStrictEqual(outcomeOf(batch)),
            (error: Error) => expect(error.message).toMatch(/^(refused with|a mistake of ours$)/),
          );
        }),
      );
      expect(answers).toHaveLength(batches.length);
      for (const tenant of [0, 1, 2, 3, 4]) await queue.charge(batchOf(tenant)).catch(() => undefined);
      expect([free, open.size]).toStrictEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
