import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CallQueue, type CallQueueLimits, callQueueLimits } from '../../../src/base/tenants/call-queue.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { limitedCaller } from '../../support/tenants.ts';

const LIMITS: CallQueueLimits = {
  running: 3,
  runningPerTenant: 2,
  waiting: 5,
  waitingPerTenant: 4,
  waitMs: 60_000,
};

/** A queue whose calls run until the test ends them; calls are named `<tenant><number>`. */
function open(limits: Partial<CallQueueLimits> = {}) {
  const queue = new CallQueue({ ...LIMITS, ...limits });
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

test.each([
  [16, { running: 12, runningPerTenant: 8 }],
  [4, { running: 3, runningPerTenant: 2 }],
  [1, { running: 1, runningPerTenant: 1 }],
])('with %i connections: %j', (connections, limits) => {
  expect(callQueueLimits(connections)).toMatchObject({ ...limits, waitMs: 10_000 });
});
