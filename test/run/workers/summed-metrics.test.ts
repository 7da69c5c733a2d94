import { expect, test } from 'vitest';
import { type Metrics, makeMetrics } from '../../../src/doors/metrics.ts';
import { type Measured, SummedMetrics } from '../../../src/run/workers/summed-metrics.ts';

interface Process extends Measured {
  readonly metrics: Metrics;
  silent: boolean;
}

function makeProcess(): Process {
  const metrics = makeMetrics();
  const self: Process = {
    metrics,
    silent: false,
    ask: async () => {
      if (self.silent) throw new Error('no answer');
      return metrics.registry.getMetricsAsJSON();
    },
  };
  return self;
}

const valuesOf = async (summed: SummedMetrics, processes: readonly Process[]) => {
  const lines = (await (await summed.read(processes)).metrics()).split('\n');
  return Object.fromEntries(lines.map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]));
};

const JOINED = 'boxoffice_joins_total{outcome="joined"}';
const CHARGES = 'boxoffice_charge_duration_seconds_count';
const DRIFT = 'boxoffice_ledger_drift_micros';

test('counters are added up, and the drift is not', async () => {
  const processes = [makeProcess(), makeProcess()];
  for (const { metrics } of processes) {
    metrics.joins.inc({ outcome: 'joined' }, 2);
    metrics.chargeDuration.observe(0.1);
    metrics.ledgerDrift.set(7);
  }
  processes[1]!.metrics.ledgerDrift.set(9);
  expect(await valuesOf(new SummedMetrics(), processes)).toMatchObject({
    [JOINED]: 4,
    [CHARGES]: 2,
    [DRIFT]: 9,
  });
});

test('counters of an ended process stay, its gauges go', async () => {
  const summed = new SummedMetrics();
  const [first, second, third] = [makeProcess(), makeProcess(), makeProcess()];
  for (const { metrics } of [first, second]) {
    metrics.joins.inc({ outcome: 'joined' });
    metrics.chargeDuration.observe(0.1);
  }
  first.metrics.ledgerDrift.set(5);
  expect(await valuesOf(summed, [first, second])).toMatchObject({ [JOINED]: 2, [CHARGES]: 2, [DRIFT]: 5 });
  third.metrics.joins.inc({ outcome: 'joined' });
  expect(await valuesOf(summed, [second, third])).toMatchObject({ [JOINED]: 3, [CHARGES]: 2, [DRIFT]: 0 });
  expect(await valuesOf(summed, [third])).toMatchObject({ [JOINED]: 3, [CHARGES]: 2 });
  expect(await valuesOf(summed, [])).toMatchObject({ [JOINED]: 3, [CHARGES]: 2 });
});

test('a process that does not answer counts with its last values', async () => {
  const summed = new SummedMetrics();
  const [first, second] = [makeProcess(), makeProcess()];
  first.metrics.joins.inc({ outcome: 'joined' });
  await summed.read([first, second]);
  first.silent = true;
  second.metrics.joins.inc({ outcome: 'joined' });
  expect(await valuesOf(summed, [first, second])).toMatchObject({ [JOINED]: 2 });
});
