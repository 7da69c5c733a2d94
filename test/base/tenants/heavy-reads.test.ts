import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CallQueue, callQueueLimits } from '../../../src/base/tenants/call-queue.ts';
import { HeavyReads, heavyReadLimits } from '../../../src/base/tenants/heavy-reads.ts';
import type { TenantId, TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { limitedCaller } from '../../support/tenants.ts';

/** Reads that run until the test ends them. */
function open() {
  const calls = new CallQueue(callQueueLimits(16));
  const reads = new HeavyReads(heavyReadLimits(16), calls);
  const begun: string[] = [];
  const running = new Map<string, () => void>();
  const read = (name: string, tenant: number, status: TenantStatus) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ended = reads.run(
      { ...limitedCaller(BigInt(tenant) as TenantId), tenantStatus: status },
      async () => {
        begun.push(name);
        running.set(name, resolve);
        await promise;
      },
    );
    ended.catch(() => {});
    return ended;
  };
  const end = async (name: string) => {
    running.get(name)!();
    await turn();
  };
  return { calls, begun, read, end };
}

describe('heavy reads', () => {
  test('run one at a time of a tenant, two in all of a process', async () => {
    const { begun, read, end } = open();
    for (const [name, tenant] of [
      ['a1', 1],
      ['a2', 1],
      ['b1', 2],
      ['c1', 3],
    ] as const) {
      void read(name, tenant, 'active');
    }
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'a2', 'c1']);
  });

  test('of a tenant that pays do not wait for those of a thousand that never paid', async () => {
    const { begun, read } = open();
    for (let tenant = 1; tenant <= 1_000; tenant += 1) void read(`free ${tenant}`, tenant, 'pending');
    void read('paid', 2_000, 'active');
    expect(begun).toEqual(['free 1', 'paid']);
  });

  test('in slices, of a tenant that pays, wait for one of those that never paid', async () => {
    const reads = new HeavyReads(heavyReadLimits(16), new CallQueue(callQueueLimits(16)));
    const ended: string[] = [];
    const slice = (name: string, tenant: number, tenantStatus: TenantStatus) => {
      const caller = { ...limitedCaller(BigInt(tenant) as TenantId), tenantStatus };
      // biome-ignore lint/correctness/useYield: one slice
      const work = (function* () {
        ended.push(name);
      })();
      return reads.inSlices(caller, work);
    };
    const all = Array.from({ length: 9 }, (_, at) => slice(`free ${at}`, at + 1, 'pending'));
    await Promise.all([...all, slice('paid', 100, 'active')]);
    expect(ended.indexOf('paid')).toBe(1);
  });

  test('of tenants that never paid leave half of the queue to the others', async () => {
    const { read } = open();
    let refused = 0;
    for (let tenant = 1; tenant <= 2_600; tenant += 1) {
      read(`free ${tenant}`, tenant, 'pending').catch(({ kind }) => {
        refused += kind === 'overloaded' ? 1 : 0;
      });
    }
    await turn();
    expect(refused).toBe(99);
    const paid = [read('paid 1', 3_001, 'active'), read('paid 2', 3_002, 'active')];
    await turn();
    expect(await Promise.race([...paid, 'neither was refused'])).toBe('neither was refused');
  });

  test('leave the places of their tenant to its other calls', async () => {
    const { calls, read } = open();
    for (let count = 0; count < 20; count += 1) void read(`a${count}`, 1, 'active');
    const caller = { ...limitedCaller(1n as TenantId), tenantStatus: 'active' as const };
    expect(await calls.run(caller, async () => 'at once')).toBe('at once');
  });

  test('are counted by the newest status of a tenant', async () => {
    const { begun, read, end } = open();
    void read('a1', 1, 'pending');
    void read('a2', 1, 'active');
    void read('b1', 2, 'pending');
    await end('a1');
    await end('a2');
    void read('c1', 3, 'active');
    expect(begun).toEqual(['a1', 'b1', 'a2', 'c1']);
    void read('d1', 4, 'pending');
    await end('c1');
    expect(begun).not.toContain('d1');
    await end('b1');
    expect(begun).toContain('d1');
  });
});
