import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { setAwayServers } from '../../../src/base/db/away-servers.ts';
import {
  CallQueue,
  type CallQueueLimits,
  callQueueLimits,
  gatheredCallLimits,
} from '../../../src/base/tenants/call-queue.ts';
import type { TenantId, TenantStatus } from '../../../src/base/tenants/tenant.ts';
import type { ServerOf } from '../../../src/base/tenants/tenant-servers.ts';
import { limitedCaller } from '../../support/tenants.ts';

const LIMITS: CallQueueLimits = {
  running: 3,
  runningPerTenant: 2,
  waiting: 5,
  waitingPerTenant: 4,
  waitMs: 60_000,
};

/** A queue whose calls run until the test ends them; calls are named `<tenant><number>`. */
function open(limits: Partial<CallQueueLimits> = {}, serverOf?: ServerOf) {
  const queue = new CallQueue({ ...LIMITS, ...limits }, serverOf);
  const begun: string[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const call = (name: string, overrides?: { calls_in_flight: number }) => {
    const caller = limitedCaller(BigInt(name.charCodeAt(0)) as TenantId, { limits: overrides ?? null });
    const ended = queue.run(caller, async () => {
      begun.push(name);
      running.set(name, Promise.withResolvers());
      await running.get(name)!.promise;
      return name;
    });
    ended.catch(() => {});
    return ended;
  };
  const end = async (name: string) => {
    running.get(name)!.resolve();
    await turn();
  };
  return { begun, call, end, running };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a call', () => {
  test('runs at once while its tenant and the process have places', async () => {
    const { begun, call, end } = open();
    const first = call('a1');
    expect(begun).toStrictEqual(['a1']);
    await end('a1');
    expect(await first).toBe('a1');
  });

  test('beyond the places of its tenant waits, and calls of others do not', () => {
    const { begun, call } = open();
    for (const name of ['a1', 'a2', 'a3', 'b1']) void call(name);
    expect(begun).toStrictEqual(['a1', 'a2', 'b1']);
  });

  test('of a tenant waits in order, and tenants take turns', async () => {
    const { begun, call, end } = open({ running: 1, runningPerTenant: 1 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void call(name);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
    expect(begun).toStrictEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('that comes later takes no place from one that waits', async () => {
    const { begun, call, end } = open({ running: 1 });
    for (const name of ['a1', 'a2']) void call(name);
    const ended = end('a1');
    void call('b1');
    await ended;
    expect(begun).toStrictEqual(['a1', 'a2']);
  });

  test('that fails gives its place back', async () => {
    const { begun, call, running } = open({ running: 1 });
    const first = call('a1');
    void call('a2');
    running.get('a1')!.reject(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    await expect.poll(() => begun).toStrictEqual(['a1', 'a2']);
  });

  test('that waits too long fails with the limit that it waited for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { begun, call } = open({ waitMs: 10_000 });
    for (const name of ['a1', 'a2']) void call(name);
    const ownLimit = expect(call('a3')).rejects.toMatchObject({
      kind: 'too_many_calls',
      message: 'limit reached: at most 2 calls at the same time',
      metadata: { limit: 'calls_in_flight', max: '2' },
      retryAfter: expect.any(Number),
    });
    void call('b1');
    const ofProcess = expect(call('c1')).rejects.toMatchObject({
      kind: 'overloaded',
      retryAfter: expect.any(Number),
    });
    await vi.advanceTimersByTimeAsync(9_999);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all([ownLimit, ofProcess]);
    expect(begun).toStrictEqual(['a1', 'a2', 'b1']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('fails at once if too many of its tenant, or of all, wait already', async () => {
    const { call } = open();
    for (let count = 1; count <= 6; count += 1) void call(`a${count}`);
    await expect(call('a7')).rejects.toMatchObject({ kind: 'too_many_calls' });
    void call('b1');
    void call('b2');
    await expect(call('b3')).rejects.toMatchObject({ kind: 'overloaded' });
  });
});

describe('the limit of a tenant', () => {
  test('is what an operator set', () => {
    const { begun, call } = open();
    for (const name of ['a1', 'a2']) void call(name, { calls_in_flight: 1 });
    expect(begun).toStrictEqual(['a1']);
  });

  test('is at least one', () => {
    const { begun, call } = open();
    void call('a1', { calls_in_flight: 0 });
    expect(begun).toStrictEqual(['a1']);
  });
});

describe('tenants of one of several database servers', () => {
  const SERVERS = { a: 1, b: 1, c: 2 } as const;
  const nameOf = (tenant: TenantId) => String.fromCharCode(Number(tenant)) as keyof typeof SERVERS;
  const serverOf = (tenant: TenantId) => SERVERS[nameOf(tenant)];

  test('leave places to those of the others', async () => {
    const { begun, call, end } = open({ running: 3, runningPerServer: 2 }, serverOf);
    for (const name of ['a1', 'b1', 'b2', 'c1']) void call(name);
    expect(begun).toStrictEqual(['a1', 'b1', 'c1']);
    await end('c1');
    expect(begun).toStrictEqual(['a1', 'b1', 'c1']);
    await end('a1');
    expect(begun).toStrictEqual(['a1', 'b1', 'c1', 'b2']);
  });

  test('are counted for the server that is known now', async () => {
    let server: number | undefined;
    const { begun, call, end } = open({ running: 4, runningPerServer: 1 }, () => server);
    for (const name of ['a1', 'b1']) void call(name);
    server = 1;
    void call('a2');
    await end('b1');
    expect(begun).toStrictEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toStrictEqual(['a1', 'b1', 'a2']);
  });

  test('fail at once while it is away, but for one that finds out whether it answers', async () => {
    onTestFinished(() => setAwayServers([]));
    const { begun, call, end } = open({ running: 4, runningPerServer: 3 }, serverOf);
    setAwayServers([1]);
    void call('a1');
    for (const name of ['a2', 'b1'])
      await expect(call(name)).rejects.toMatchObject({
        kind: 'overloaded',
        retryAfter: 2,
        message: 'a database server is away: try again',
      });
    void call('c1');
    expect(begun).toStrictEqual(['a1', 'c1']);
    await end('a1');
    void call('b2');
    expect(begun).toStrictEqual(['a1', 'c1', 'b2']);
  });
});

describe('tenants that never paid', () => {
  /** The calls of the queues of a process. Each runs until the test ends it. */
  function openForStatus(limits: CallQueueLimits) {
    const queue = new CallQueue(limits);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const call = (name: string, tenant: number, tenantStatus: TenantStatus) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const caller = { ...limitedCaller(BigInt(tenant) as TenantId), tenantStatus };
      const ended = queue.run(caller, async () => {
        begun.push(name);
        ends.set(name, resolve);
        await promise;
      });
      ended.catch(() => {});
      return ended;
    };
    const end = async (name: string) => {
      ends.get(name)!();
      await turn();
    };
    return { begun, call, end };
  }

  test.each([
    ['calls', callQueueLimits(16)],
    ['gathered calls', gatheredCallLimits(16)],
  ])('leave places of %s to one that pays, however many they are', (_name, limits) => {
    const { begun, call } = openForStatus(limits);
    for (let tenant = 1; tenant <= 1_000; tenant += 1) void call('free', tenant, 'pending');
    expect(begun).toHaveLength(limits.runningPerTenant);
    void call('paid', 2_000, 'active');
    expect(begun.at(-1)).toBe('paid');
  });

  test('have the places of one tenant, so that one of them alone has all of its own', () => {
    expect(callQueueLimits(16)).toMatchObject({ runningPerTenant: 8, runningNeverPaid: 8 });
    expect(gatheredCallLimits(16)).toMatchObject({ runningPerTenant: 64, runningNeverPaid: 64 });
  });

  test('leave half of the queue to the others', async () => {
    const { call } = openForStatus(callQueueLimits(16));
    for (let tenant = 1; tenant <= 2_508; tenant += 1) void call('free', tenant, 'pending');
    await expect(call('free', 2_509, 'pending')).rejects.toMatchObject({ kind: 'overloaded' });
    for (let count = 1; count <= 9; count += 1) void call('paid', 3_000, 'active');
    const waits = call('paid', 3_000, 'active');
    const settled = vi.fn();
    waits.catch(settled);
    await turn();
    expect(settled).not.toHaveBeenCalled();
  });

  test('take turns with those that pay as one, not each', async () => {
    const limits = { ...LIMITS, running: 1, runningPerTenant: 1, waiting: 20, runningNeverPaid: 1 };
    const { begun, call, end } = openForStatus(limits);
    for (const tenant of [1, 2, 3, 4]) void call(`free ${tenant}`, tenant, 'pending');
    for (const tenant of [5, 6]) void call(`paid ${tenant}`, tenant, 'active');
    for (const name of ['free 1', 'paid 5', 'free 2', 'paid 6', 'free 3']) await end(name);
    expect(begun).toStrictEqual(['free 1', 'paid 5', 'free 2', 'paid 6', 'free 3', 'free 4']);
  });

  test('change their place in turn when they pay', async () => {
    const limits = { ...LIMITS, running: 1, runningPerTenant: 1, waiting: 20, runningNeverPaid: 1 };
    const { begun, call, end } = openForStatus(limits);
    void call('first', 9, 'active');
    for (const tenant of [1, 2]) void call(`free ${tenant}`, tenant, 'pending');
    void call('free 1 again', 1, 'pending');
    void call('paid 2', 2, 'active');
    for (const name of ['first', 'free 2', 'free 1', 'paid 2']) await end(name);
    expect(begun).toStrictEqual(['first', 'free 2', 'free 1', 'paid 2', 'free 1 again']);
  });
});

test.each([
  [16, { running: 12, runningPerTenant: 8 }],
  [4, { running: 3, runningPerTenant: 2 }],
  [1, { running: 1, runningPerTenant: 1 }],
])('with %i connections: %j', (connections, limits) => {
  expect(callQueueLimits(connections)).toMatchObject({ ...limits, waitMs: 10_000 });
});
