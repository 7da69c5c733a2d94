/** How long writes stop when the primary fails, and whether anything is lost. */
import { FAULTS } from '../test/deploy/faults.ts';
import { findMissingProgram } from '../test/deploy/ha-cluster.ts';
import { HaStage } from '../test/deploy/stage.ts';
import type { Benchmark } from './benchmark.ts';
import { median } from './statistics.ts';

/** What docs/high-availability.md promises. */
const RESUMED_WITHIN_SECONDS = 15;

export const failover: Benchmark = {
  name: 'failover',
  summary: 'seconds until writes go on after a failure of primary or standby, and what is lost',
  protocol: `The files of deploy/ha on this machine: two PostgreSQL with Patroni, one etcd, HAProxy and PgBouncer; two services, the
    second one through PgBouncer; three relays at each, which report 5 records every 100 ms and repeat what was not
    acknowledged. Each round, everything happens once that docs/high-availability.md lists. The result is the time from the
    failure until both services acknowledged records again. At the end, the records that are stored are compared with those that
    were acknowledged. Needs Patroni, etcd, HAProxy, PgBouncer and PostgreSQL, and runs only by name.`,
  rounds: 5,
  isByNameOnly: true,
  async run(bench) {
    const missing = findMissingProgram();
    if (missing) throw new Error(`no ${missing} found`);
    const stage = await bench.use(HaStage.open(), (opened) => opened.close());
    const seconds = new Map<string, number[]>(Object.values(FAULTS).map(({ name }) => [name, []]));
    for (let round = 1; round <= bench.rounds; round += 1) {
      for (const fault of Object.values(FAULTS)) {
        bench.progress(`round ${round} of ${bench.rounds}: ${fault.name}`);
        seconds.get(fault.name)!.push((await stage.suffer(fault)) / 1_000);
        await stage.checkTokens();
      }
    }
    const { records, problems } = await stage.settle();
    for (const [name, values] of seconds) {
      bench.note(`${name}, median`, median(values), 's');
      bench.note(`${name}, longest`, Math.max(...values), 's', { atMost: RESUMED_WITHIN_SECONDS });
    }
    bench.note('acknowledged', records, 'records');
    bench.note('lost, doubled or wrong', problems.length, 'records', { atMost: 0 });
    for (const problem of problems.slice(0, 5)) bench.progress(problem);
  },
};
