/** Times of single reads beside a floor: the median of each round, and the 95th percentile of all. */
import type { Bench, Contestant } from './benchmark.ts';
import { runLoad } from './load.ts';
import { percentile } from './statistics.ts';

export const READS_PER_ROUND = 60;

export interface Reader extends Contestant {
  readonly latencies: number[];
}

/** In turns with the floor; `p95`: the goal in ms. */
export async function compareRead(
  bench: Bench,
  title: string,
  floor: Reader,
  ours: Reader,
  p95?: number,
): Promise<void> {
  await bench.compare({ title, unit: 'ms', contestants: [floor, ours] });
  const sorted = Float64Array.from(ours.latencies).sort();
  bench.note(`${title}: p95`, percentile(sorted, 95), 'ms', p95 === undefined ? undefined : { atMost: p95 });
}

/** Sends `request` some times a round, one at a time. */
export function reader(name: string, role: Contestant['role'], url: string, request: Buffer): Reader {
  const all: number[] = [];
  return {
    name,
    role,
    latencies: all,
    round: async (round) => {
      const { latencies } = await runLoad({
        urls: [url],
        connections: 1,
        request: () => request,
        until: { requests: READS_PER_ROUND },
        statuses: [200],
      });
      // The first round is not counted.
      if (round > 0) all.push(...latencies);
      const sorted = Float64Array.from(latencies).sort();
      return { value: percentile(sorted, 50), latencies };
    },
  };
}
