/**
 * Contestants run in turns, in another order each round, so that other load on the machine affects all
 * of them alike. Ratios are taken within a round, so that slow rounds do not matter.
 */
import type {
  Comparison,
  ComparisonResult,
  Contestant,
  ContestantResult,
  CpuUse,
  Goal,
  GoalResult,
  Limit,
  Sample,
} from './benchmark.ts';
import { median, percentile, rangeOf } from './statistics.ts';

type Samples = ReadonlyMap<Contestant, Sample[]>;

export interface Watching {
  progress(text: string): void;
  /** What there is after each counted round but the last, without goals. */
  soFar(result: ComparisonResult): void;
}

/** `rounds` are counted, after the warm-up. */
export async function compare(
  comparison: Comparison,
  rounds: number,
  { progress, soFar }: Watching,
): Promise<ComparisonResult> {
  const { title, unit, contestants, warmUpRounds = 1, goals = [] } = comparison;
  const summarizeAll = () => contestants.map((each) => summarize(each, samples));
  const samples: Samples = new Map(contestants.map((each) => [each, []]));
  for (const contestant of contestants) {
    if (contestant.warmUp) progress(`${title}: warming up ${contestant.name}`);
    await contestant.warmUp?.();
  }
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    for (const contestant of rotate(contestants, round)) {
      progress(`${title}: round ${round + 1} of ${warmUpRounds + rounds}, ${contestant.name}`);
      const sample = await contestant.round(round);
      if (round >= warmUpRounds) samples.get(contestant)!.push(sample);
    }
    const done = round + 1 - warmUpRounds;
    if (done > 0 && done < rounds) {
      const name = `${title}: ${done} of ${rounds} rounds`;
      soFar({ title: name, unit, contestants: summarizeAll(), goals: [] });
    }
  }
  return {
    title,
    unit,
    contestants: summarizeAll(),
    goals: goals.map((goal) => judgeGoal(goal, unit, samples)),
  };
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function summarize(contestant: Contestant, samples: Samples): ContestantResult {
  const values = valuesOf(contestant, samples);
  const floor = [...samples.keys()].find(({ role }) => role === 'floor');
  const ratios = floor && floor !== contestant ? ratiosOf(values, valuesOf(floor, samples)) : undefined;
  const latencies = samples.get(contestant)!.flatMap((sample) => sample.latencies ?? []);
  const sorted = Float64Array.from(latencies).sort();
  return {
    name: contestant.name,
    role: contestant.role,
    median: median(values),
    range: rangeOf(values),
    values,
    ...(ratios && { ratio: { median: median(ratios), range: rangeOf(ratios) } }),
    ...medianCpu(samples.get(contestant)!),
    ...(sorted.length > 0 && { latency: { p50: percentile(sorted, 50), p99: percentile(sorted, 99) } }),
  };
}

function medianCpu(samples: readonly Sample[]): { readonly cpu?: CpuUse } {
  const uses = samples.flatMap(({ cpu }) => cpu ?? []);
  if (uses.length === 0) return {};
  const of = (part: keyof CpuUse) => median(uses.map((use) => use[part]));
  return { cpu: { service: of('service'), postgres: of('postgres'), generator: of('generator') } };
}

function judgeGoal(goal: Goal, unit: string, samples: Samples): GoalResult {
  const values = valuesOf(find(goal.of, samples), samples);
  if (!('to' in goal)) return judgeLimit(goal.of, median(values), unit, goal);
  const reached = median(ratiosOf(values, valuesOf(find(goal.to, samples), samples)));
  if ('atMost' in goal) return judgeLimit(goal.of, reached, `x ${goal.to}`, goal);
  return {
    text: `${goal.of} at least ${goal.atLeast} x ${goal.to}`,
    reached,
    met: reached >= goal.atLeast,
  };
}

/** Whether `value` is within its limit. */
export function judgeLimit(name: string, value: number, unit: string, { atMost }: Limit): GoalResult {
  return { text: `${name} at most ${atMost} ${unit}`, reached: value, met: value <= atMost };
}

function find(name: string, samples: Samples): Contestant {
  const contestant = [...samples.keys()].find((each) => each.name === name);
  if (!contestant) throw new Error(`a goal names ${name}, which takes no part`);
  return contestant;
}

function valuesOf(contestant: Contestant, samples: Samples): number[] {
  return samples.get(contestant)!.map(({ value }) => value);
}

function ratiosOf(values: readonly number[], others: readonly number[]): number[] {
  return values.map((value, round) => value / others[round]!);
}
