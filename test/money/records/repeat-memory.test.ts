import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { RepeatMemory, type TenantMemory } from '../../../src/money/records/repeat-memory.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';

const idOf = (tenant: number) => BigInt(tenant) as TenantId;

function recordsOf(...ids: readonly string[]): UsageRecords {
  const one = { room: 'stage', participant: 'ann', role: 'host', tier: 'hd', seconds: 60 } as const;
  return UsageRecords.from(ids.map((id) => ({ ...one, id, egressBytes: 1n, ingressBytes: 1n })));
}

const idsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => `id-${first + at}`);

/** Whether the memory of the tenant is the same that it was. */
const isKept = (all: RepeatMemory, tenant: number, memory: TenantMemory, hasPaid = true) =>
  all.of(idOf(tenant), hasPaid) === memory;

test('a chunk is known for the ids that were asked for before it was read', () => {
  const memory = new RepeatMemory().of(idOf(1), true);
  expect(memory.ask(recordsOf('a', 'b'))).toBe(2);
  memory.put(0, { version: '1', ids: memory.ids.size, records: [] });
  expect(memory.ask(recordsOf('b', 'a'))).toBe(2);
  expect(memory.ask(recordsOf('a'))).toBe(1);
  expect(memory.ask(recordsOf('c', 'a'))).toBe(3);
  expect(memory.chunk(0)).toMatchObject({ ids: 2 });
  expect(memory.ask(recordsOf())).toBe(0);
});

test('it is forgotten a minute after its last use', () => {
  let now = 0;
  const all = new RepeatMemory({ now: () => now });
  const memory = all.of(idOf(1), true);
  memory.ask(recordsOf('a'));
  now = 59_000;
  expect(isKept(all, 1, memory)).toBe(true);
  now = 118_000;
  all.of(idOf(2), false);
  expect(all.bytes).toBeGreaterThan(0);
  now = 119_000;
  all.of(idOf(2), false);
  expect(all.bytes).toBe(0);
  expect(isKept(all, 1, memory)).toBe(false);
});

test('a tenant has a quarter, and one with more begins anew', () => {
  const all = new RepeatMemory({ bytesMax: 40_000 });
  const memory = all.of(idOf(1), true);
  memory.ask(recordsOf(...idsFrom(0, 90)));
  expect(isKept(all, 1, memory)).toBe(true);
  memory.ask(recordsOf(...idsFrom(90, 10)));
  expect(all.bytes).toBe(0);
  expect(isKept(all, 1, memory)).toBe(false);
  // It is still in use.
  memory.put(0, { version: '1', ids: 100, records: [] });
  expect([memory.chunk(0)?.ids, all.bytes]).toEqual([100, 0]);
});

test('those not used for longest make room, and none that paid for one that never did', () => {
  const all = new RepeatMemory({ bytesMax: 40_000 });
  const fill = (tenant: number, hasPaid: boolean) => {
    const memory = all.of(idOf(tenant), hasPaid);
    memory.ask(recordsOf(...idsFrom(0, 80)));
    return memory;
  };
  const paid = [1, 2, 3].map((tenant) => fill(tenant, true));
  for (let tenant = 10; tenant < 30; tenant += 1) fill(tenant, false);
  expect(all.bytes).toBeLessThan(80_000);
  expect(paid.map((memory, at) => isKept(all, at + 1, memory))).toEqual([true, true, true]);
  for (const tenant of [4, 5]) fill(tenant, true);
  expect(isKept(all, 3, paid[2]!)).toBe(true);
  expect(isKept(all, 1, paid[0]!)).toBe(false);
});

test('batches that wait are asked for along, while there is room', () => {
  const memory = new RepeatMemory({ bytesMax: 40_000 }).of(idOf(1), true);
  const waiting = Array.from({ length: 10 }, (_, at) => recordsOf(...idsFrom(at * 20, 20)));
  memory.askAlong(waiting);
  memory.askAlong(waiting);
  expect(memory.ids.size).toBe(60);
});
