/** A benchmark that is interrupted tells what it has measured, and closes what it opened. */
import { expect, test } from 'vitest';
import type { Bench, Benchmark, Result } from '../../bench/benchmark.ts';
import { describeMachine, renderReport } from '../../bench/report.ts';
import { runBenchmark } from '../../bench/run.ts';

async function run(work: (bench: Bench) => Promise<void>, interrupted: Promise<never>): Promise<Result[]> {
  const results: Result[] = [];
  const benchmark: Benchmark = { name: 'some', summary: '', protocol: '', run: work };
  const measured = (result: Result) => void results.push(result);
  const settings = { rounds: 5, peers: [], progress: () => {}, interrupted, measured };
  await runBenchmark(benchmark, settings).catch((error: Error) => expect(error.message).toBe('interrupted'));
  return results;
}

test('an interrupted benchmark tells the rounds that it has', async () => {
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  let closed = 0;
  const [result, ...others] = await run(async (bench) => {
    await bench.use(Promise.resolve('opened'), async () => (closed += 1));
    bench.note('bytes', 7, 'B');
    await bench.compare({
      title: 'speed',
      unit: 'requests/s',
      contestants: [
        {
          name: 'ours',
          role: 'ours',
          round: async (round) => {
            if (round === 3) {
              reject(new Error('interrupted'));
              await new Promise(() => {});
            }
            return { value: 10 };
          },
        },
      ],
    });
  }, interrupted);
  expect(others).toEqual([]);
  expect(closed).toBe(1);
  expect(result).toMatchObject({
    isWhole: false,
    notes: [{ name: 'bytes' }],
    comparisons: [{ title: 'speed: 2 of 5 rounds', contestants: [{ values: [10, 10] }] }],
  });
  expect(renderReport(describeMachine(), [result!])).toContain('some: not finished, 0 s');
});

test('a benchmark that ends has its comparisons once', async () => {
  const [result] = await run(
    (bench) =>
      bench
        .compare({
          title: 'speed',
          unit: 'requests/s',
          contestants: [{ name: 'ours', role: 'ours', round: async () => ({ value: 10 }) }],
        })
        .then(() => {}),
    new Promise(() => {}),
  );
  expect(result).toMatchObject({ isWhole: true, comparisons: [{ title: 'speed' }] });
  expect(result?.comparisons).toHaveLength(1);
});
