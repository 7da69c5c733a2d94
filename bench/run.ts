/** Runs one benchmark: closes what it opened and collects its results. */
import type {
  Bench,
  Benchmark,
  Comparison,
  ComparisonResult,
  Facts,
  Limit,
  Note,
  Peer,
  Result,
} from './benchmark.ts';
import { compare, judgeLimit } from './compare.ts';

export interface Settings {
  readonly rounds: number;
  readonly peers: readonly Peer[];
  readonly progress: (text: string) => void;
  /** Rejects when the run is interrupted. */
  readonly interrupted: Promise<never>;
}

export async function runBenchmark(benchmark: Benchmark, settings: Settings): Promise<Result> {
  const run = new Run(benchmark.name, settings);
  try {
    await Promise.race([benchmark.run(run), settings.interrupted]);
  } finally {
    await run.closeAll();
  }
  return {
    name: benchmark.name,
    protocol: benchmark.protocol.replace(/\s+/g, ' '),
    database: run.database,
    comparisons: run.comparisons,
    notes: run.notes,
  };
}

class Run implements Bench {
  readonly rounds: number;
  readonly peers: readonly Peer[];
  readonly comparisons: ComparisonResult[] = [];
  readonly notes: Note[] = [];
  database: Facts | undefined;
  readonly #name: string;
  readonly #progress: (text: string) => void;
  readonly #closers: (() => Promise<unknown>)[] = [];

  constructor(name: string, { rounds, peers, progress }: Settings) {
    this.#name = name;
    this.rounds = rounds;
    this.peers = peers;
    this.#progress = progress;
  }

  progress(text: string): void {
    this.#progress(`${this.#name}: ${text}`);
  }

  /** If the run is interrupted while something is being opened, it is closed as soon as it is open. */
  use<T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T> {
    this.#closers.push(() => opening.then(close, () => {}));
    return opening;
  }

  async compare(comparison: Comparison): Promise<ComparisonResult> {
    const result = await compare(comparison, this.rounds, (text) => this.progress(text));
    this.comparisons.push(result);
    return result;
  }

  note(name: string, value: number, unit: string, goal?: Limit): void {
    this.notes.push({ name, value, unit, ...(goal && { goal: judgeLimit(name, value, unit, goal) }) });
  }

  measuredOn(facts: Facts): void {
    this.database = facts;
  }

  async closeAll(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close();
  }
}
