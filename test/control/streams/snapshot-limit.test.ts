import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TenantId, TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { SnapshotLimit } from '../../../src/control/streams/snapshot-limit.ts';
import { limitedCaller } from '../../support/tenants.ts';

const tenant = (number: number, status: TenantStatus = 'active') =>
  limitedCaller(BigInt(number) as TenantId, { status });
const pending = (number: number) => tenant(number, 'pending');
const NEVER = new AbortController().signal;
const tooMany = expect.objectContaining({ kind: 'too_many_streams' });

describe('snapshots', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('four at once, one per tenant, the others in order', async () => {
    const limit = new SnapshotLimit();
    const begun: number[] = [];
    const of = [1, 1, 2, 3, 1, 4, 5];
    const turns = of.map(() => Promise.withResolvers<void>());
    const reads = turns.map((turn, at) =>
      limit.inTurn(tenant(of[at]!), NEVER, async () => {
        begun.push(at);
        await turn.promise;
      }),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toStrictEqual([0, 2, 3, 5]);
    turns[2]!.reject(new Error('lost'));
    await expect(reads[2]).rejects.toThrow('lost');
    await vi.advanceTimersByTimeAsync(0);
    // Tenant 1 came before tenant 5, and is still reading.
    expect(begun).toStrictEqual([0, 2, 3, 5, 6]);
    for (const turn of turns) turn.resolve();
    await Promise.allSettled(reads);
    expect(begun).toStrictEqual([0, 2, 3, 5, 6, 1, 4]);
    expect(await limit.inTurn(tenant(1), NEVER, async () => 'again')).toBe('again');
  });

  test('two turns are for active tenants', async () => {
    const limit = new SnapshotLimit();
    const turn = Promise.withResolvers<void>();
    const begun: string[] = [];
    const read = (name: string) => async () => {
      begun.push(name);
      await turn.promise;
    };
    const reads = [1, 2, 3].map((each) => limit.inTurn(pending(each), NEVER, read(`pending ${each}`)));
    reads.push(...[4, 5, 6].map((each) => limit.inTurn(tenant(each), NEVER, read(`active ${each}`))));
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toStrictEqual(['pending 1', 'pending 2', 'active 4', 'active 5']);
    turn.resolve();
    await Promise.all(reads);
    expect(begun).toHaveLength(6);
  });

  test('a stream that has waited for 10 s gives up its turn', async () => {
    const limit = new SnapshotLimit();
    const turn = Promise.withResolvers<void>();
    const reads = [1, 2, 3, 4].map((each) => limit.inTurn(tenant(each), NEVER, () => turn.promise));
    const late = limit.inTurn(tenant(5), NEVER, async () => 'late');
    const refusal = expect(late).rejects.toThrow(tooMany);
    await vi.advanceTimersByTimeAsync(9_999);
    const next = limit.inTurn(tenant(6), NEVER, async () => 'next');
    await vi.advanceTimersByTimeAsync(1);
    await refusal;
    turn.resolve();
    await Promise.all(reads);
    expect(await next).toBe('next');
  });

  test('a client that disconnects gives up its turn and its place', async () => {
    const limit = new SnapshotLimit();
    const turn = Promise.withResolvers<void>();
    const gone = new AbortController();
    const first = limit.inTurn(tenant(1), NEVER, () => turn.promise);
    const read = vi.fn();
    const left = limit.inTurn(tenant(1), gone.signal, read);
    const last = limit.inTurn(tenant(1), NEVER, async () => 'last');
    gone.abort();
    expect(await left).toBeUndefined();
    turn.resolve();
    await first;
    expect(await last).toBe('last');
    void limit.inTurn(tenant(1), NEVER, () => new Promise(() => {}));
    expect(await limit.inTurn(tenant(1), gone.signal, read)).toBeUndefined();
    expect(read).not.toHaveBeenCalled();
  });
});
