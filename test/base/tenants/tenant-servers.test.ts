import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { setAwayServers } from '../../../src/base/db/away-servers.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { ServerLanes, TenantServers } from '../../../src/base/tenants/tenant-servers.ts';

/** Work of tenants, each on the server of its first digit. It runs until the test ends it. */
function open(ofEach: number) {
  const lanes = new ServerLanes((tenant) => (tenant === 0n ? undefined : Number(tenant / 10n)), ofEach);
  const begun: number[] = [];
  const gates = new Map<number, () => void>();
  const run = (tenant: number) => {
    const work = lanes.run(BigInt(tenant) as TenantId, async () => {
      begun.push(tenant);
      await new Promise<void>((resolve) => gates.set(tenant, resolve));
      return tenant;
    });
    work.catch(() => {});
    return work;
  };
  return { begun, run, end: (tenant: number) => gates.get(tenant)!() };
}

const AWAY = 'a database server is away: try again';

afterEach(() => setAwayServers([]));

test('the tenants of a server wait for each other, and not for those of others', async () => {
  const { begun, run, end } = open(2);
  const works = [10, 11, 12, 20, 0].map(run);
  expect(begun).toEqual([10, 11, 20, 0]);
  end(10);
  await works[0];
  await expect.poll(() => begun).toContain(12);
});

test('what waits when its server turns out to be away fails with the next that ends', async () => {
  const { begun, run, end } = open(2);
  const works = [10, 11, 12, 13].map(run);
  setAwayServers([1]);
  end(10);
  await expect(works[2]).rejects.toThrow(AWAY);
  await expect(works[3]).rejects.toThrow(AWAY);
  await expect(run(14)).rejects.toThrow(AWAY);
  end(11);
  await works[1];
  run(15);
  expect(begun).toEqual([10, 11, 15]);
});

test('the server of a tenant is asked once, and again when another one is away', async () => {
  const TENANT = 10n as TenantId;
  let server = 1;
  let asked = 0;
  const servers = new TenantServers({
    query: async () => {
      asked += 1;
      return { rows: [{ server }] };
    },
  } as never);
  expect(servers.of(TENANT)).toBeUndefined();
  await turn();
  setAwayServers([]);
  expect([servers.of(TENANT), servers.of(TENANT), asked]).toEqual([1, 1, 1]);
  server = 2;
  setAwayServers([1]);
  expect([servers.of(TENANT), servers.of(TENANT), asked]).toEqual([1, 1, 2]);
  await turn();
  expect([servers.of(TENANT), asked]).toEqual([2, 2]);
});
