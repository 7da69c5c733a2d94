/** How long services stand still while a filled database is distributed. */
import { distribute } from '../src/run/distribution/distribute.ts';
import type { Benchmark } from './benchmark.ts';
import { openCluster, openStandOn } from './distributed-sides.ts';
import { runLoad } from './load.ts';
import { makeBenchTenant, openProcess } from './stand.ts';
import { makeRows, usageRequest } from './usage-records.ts';

const TENANTS = 12;
const BATCH = 5_000;
const BATCHES = 400;

export const distributedMove: Benchmark = {
  name: 'distributed-move',
  summary: `seconds that distributing a database of ${(BATCH * BATCHES).toLocaleString('en')} records takes`,
  protocol: `The coordinator of a Citus cluster of this machine, with two workers, fsync on, serves as one server first:
    ${TENANTS} tenants report batches of ${BATCH} records. Then the service is stopped, and the tables are distributed.
    Needs PostgreSQL with Citus, and runs only by name.`,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStandOn(bench, (await openCluster(bench)).servers, false);
    const service = await openProcess(bench, stand, './service.ts');
    const made = Array.from({ length: TENANTS }, () => makeBenchTenant(stand, 'relay'));
    const keys = (await Promise.all(made)).map(({ key }) => key);
    bench.progress('reporting');
    await runLoad({
      urls: [service.url],
      connections: 4,
      request: (index) => usageRequest(service.url, keys[index % TENANTS], makeRows(0, index * BATCH, BATCH)),
      until: { requests: BATCHES },
      statuses: [200],
    });
    await service.stop();
    const start = performance.now();
    await distribute(stand.db, (table) => bench.progress(`distributing ${table}`));
    bench.note('services stand still', (performance.now() - start) / 1_000, 's');
  },
};
