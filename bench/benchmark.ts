/** Types of benchmarks and their results. */
import type { Range } from './statistics.ts';

export interface Benchmark {
  /** Its name on the command line: `keys-route`, or `keys` for all that start with it. */
  readonly name: string;
  /** One line, for `--help`. */
  readonly summary: string;
  /** A paragraph: what is sent, by how many clients, what the floor is, and what is counted. */
  readonly protocol: string;
  /** About how long it takes on two cores, for `--help`, where that was measured. */
  readonly minutes?: number;
  /** Whether it uses servers given by `--peer`. */
  readonly takesPeers?: boolean;
  /** Number of counted rounds without `--rounds`; default 7. */
  readonly rounds?: number;
  /** Whether it is judged by `guard.json`. It then runs only by name. */
  readonly isGuard?: boolean;
  /** Whether it runs only by name, because it takes long or needs programs that few machines have. */
  readonly isByNameOnly?: boolean;
  run(bench: Bench): Promise<void>;
}

/** What a benchmark receives. Everything it opens is closed when it ends or is interrupted. */
export interface Bench {
  /** Counted rounds, at least 5. */
  readonly rounds: number;
  /** Servers named by `--peer`. */
  readonly peers: readonly Peer[];
  /** Print progress on standard error. */
  progress(text: string): void;
  /** Wait for `opening`. `close` is called at the end, in reverse order of opening. */
  use<T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T>;
  /** Run the contestants in turns and report how they compare. */
  compare(comparison: Comparison): Promise<ComparisonResult>;
  /** Report a single number without a comparison. */
  note(name: string, value: number, unit: string, goal?: Limit): void;
  /** Report what the numbers were measured on. */
  measuredOn(facts: Facts): void;
}

export interface Peer {
  readonly name: string;
  readonly url: string;
  /** Sent as a bearer token; from BENCH_PEER_TOKEN. */
  readonly token: string | undefined;
}

export interface Comparison {
  /** Distinguishes it from the benchmark's other comparisons: `32 connections`. */
  readonly title: string;
  /** Unit of the values: `requests/s`. */
  readonly unit: string;
  readonly contestants: readonly Contestant[];
  /** Number of warm-up rounds, which are not counted; default 1. */
  readonly warmUpRounds?: number;
  readonly goals?: readonly Goal[];
}

export interface TimedRounds {
  /** Requests before the first round. */
  readonly warmUp: number;
  /** The duration of a round. */
  readonly seconds: number;
}

export interface Contestant {
  readonly name: string;
  /** The floor is the least work that could do; others are compared with it. At most one contestant is the floor. */
  readonly role: 'floor' | 'ours' | 'peer';
  /** Done once, before the first round of anyone. */
  warmUp?(): Promise<unknown>;
  /** One round. Numbers start at 0 and include the warm-up. */
  round(round: number): Promise<Sample>;
}

export interface Sample {
  readonly value: number;
  /** Latency of each request, in ms. */
  readonly latencies?: readonly number[];
  /** CPU time of each request, in microseconds. */
  readonly cpu?: CpuUse;
}

/** The same three parts in every benchmark that measures them. */
export interface CpuUse {
  readonly service: number;
  readonly postgres: number;
  readonly generator: number;
}

/** The value of `of` in each round as a multiple of that of `to`, or the median value itself. */
export type Goal = RatioGoal | ValueGoal;
export type RatioGoal = { readonly of: string; readonly to: string } & ({ readonly atLeast: number } | Limit);
export type ValueGoal = { readonly of: string } & Limit;
export type Limit = { readonly atMost: number };

/** Database settings that affect its speed. */
export interface Facts {
  readonly postgres: string;
  readonly fsync: string;
  readonly synchronousCommit: string;
}

export interface Result {
  readonly name: string;
  readonly protocol: string;
  readonly seconds: number;
  /** False: it failed, or was interrupted. */
  readonly isWhole: boolean;
  readonly database: Facts | undefined;
  readonly comparisons: readonly ComparisonResult[];
  readonly notes: readonly Note[];
}

export interface ComparisonResult {
  readonly title: string;
  readonly unit: string;
  readonly contestants: readonly ContestantResult[];
  readonly goals: readonly GoalResult[];
}

export interface ContestantResult {
  readonly name: string;
  readonly role: Contestant['role'];
  readonly median: number;
  readonly range: Range;
  readonly values: readonly number[];
  /** Ratios to the floor, one per round. */
  readonly ratio?: { readonly median: number; readonly range: Range };
  /** Over all counted rounds, in ms. */
  readonly latency?: { readonly p50: number; readonly p99: number };
  /** Medians over the counted rounds. */
  readonly cpu?: CpuUse;
}

export interface GoalResult {
  readonly text: string;
  readonly reached: number;
  readonly met: boolean;
}

export interface Note {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly goal?: GoalResult;
}
