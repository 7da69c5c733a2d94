/** One chunk at a time is unpacked, and tenants that never paid leave time to the others. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { TenantId } from '../../../../src/base/tenants/tenant.ts';
import { UnpackTurns } from '../../../../src/money/records/chunks/unpack-turns.ts';

/** Work that the test ends, and the order in which it began. */
function open() {
  const turns = new UnpackTurns();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  /** Each name is a tenant of its own, up to the first digit. */
  const take = (name: string, hasPaid: boolean) => {
    ends.set(name, Promise.withResolvers());
    const tenant = BigInt(name.charCodeAt(0)) as TenantId;
    return turns.take({ tenant, hasPaid }, async () => {
      begun.push(name);
      await ends.get(name)!.promise;
      return name;
    });
  };
  const end = (name: string) => {
    ends.get(name)!.resolve();
    return turn();
  };
  return { take, end, begun, ends };
}

test('those of tenants that paid go first, one at a time, and a failure holds up no others', async () => {
  const { take, end, begun, ends } = open();
  const all = [take('a', false), take('b', false), take('c', true), take('d', true)];
  await turn();
  expect(begun).toEqual(['a']);
  await end('a');
  expect(begun).toEqual(['a', 'c']);
  const failed = expect(all[2]).rejects.toThrow('damaged');
  ends.get('c')!.reject(new Error('damaged'));
  await failed;
  await turn();
  expect(begun).toEqual(['a', 'c', 'd']);
  await end('d');
  await vi.waitUntil(() => begun.length > 3);
  await end('b');
  expect(await Promise.all([all[0], all[1], all[3]])).toEqual(['a', 'b', 'd']);
});

test('after one of a tenant that never paid, the next waits twice as long as it took', async () => {
  const { take, end, begun } = open();
  void take('a', false);
  void take('b', false);
  await new Promise((resolve) => setTimeout(resolve, 40));
  await end('a');
  const ended = performance.now();
  const paid = take('c', true);
  await turn();
  expect(begun).toEqual(['a', 'c']);
  await end('c');
  await paid;
  await vi.waitUntil(() => begun.length > 2, { interval: 1 });
  expect(performance.now() - ended).toBeGreaterThan(75);
  expect(begun).toEqual(['a', 'c', 'b']);
  await end('b');
});

test('work whose turn does not come within 10 seconds fails, and is not done', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { take, end, begun } = open();
  const long = take('a', true);
  await vi.advanceTimersByTimeAsync(5_000);
  const late = expect(take('b', true)).rejects.toMatchObject({ kind: 'overloaded', retryAfter: 2 });
  await vi.advanceTimersByTimeAsync(5_000);
  const young = take('c', true);
  await vi.advanceTimersByTimeAsync(5_000);
  await late;
  await end('a');
  await end('c');
  expect(await Promise.all([long, young])).toEqual(['a', 'c']);
  expect(begun).toEqual(['a', 'c']);
  expect(vi.getTimerCount()).toBe(0);
});

test('tenants take turns, however much work of one waits', async () => {
  const { take, end, begun } = open();
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => take(name, true));
  await turn();
  const order = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'];
  for (const name of order) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(order);
});

test('a tenant that reads one chunk after the other leaves turns to one that reads several', async () => {
  const turns = new UnpackTurns();
  const done = new Map([1n, 2n].map((tenant) => [tenant, 0]));
  const read = async (tenant: bigint) => {
    for (let at = 0; at < 50; at += 1) {
      await turns.take({ tenant: tenant as TenantId, hasPaid: true }, () => turn());
      done.set(tenant, done.get(tenant)! + 1);
      if (done.get(2n)! + done.get(1n)! === 60) break;
    }
  };
  const all = [read(1n), read(1n), read(2n)];
  await Promise.race(all);
  expect(done.get(1n)).toBeGreaterThan(20);
  expect(done.get(2n)).toBeGreaterThan(20);
  await Promise.all(all);
});

test('every fourth turn is of a tenant that never paid', async () => {
  const { take, end, begun } = open();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const all = [...names.map((name) => take(name, true)), take('free', false)];
  await turn();
  for (const name of ['a', 'b', 'c', 'free', 'd', 'e']) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(['a', 'b', 'c', 'free', 'd', 'e']);
});
