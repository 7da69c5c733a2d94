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
  /** Called once with what was measured, also if the run fails or is interrupted. */
  readonly measured: (result: Result) => void;
}

export async function runBenchmark(benchmark: Benchmark, settings: Settings): Promise<void> {
  const begun = performance.now();
  const run = new Run(benchmark.name, settings);
  let isWhole = false;
  try {
    await Promise.race([benchmark.run(run), settings.interrupted]);
    isWhole = true;
  } finally {
    settings.measured({
      name: benchmark.name,
      protocol: benchmark.protocol.replace(/\s+/g, ' '),
      seconds: Math.round((performance.now() - begun) / 1_000),
      isWhole,
      database: run.database,
      comparisons: run.unfinished ? [...run.comparisons, run.unfinished] : [...run.comparisons],
      notes: [...run.notes],
    });
    await run.closeAll();
  }
}

class Run implements Bench {
  readonly rounds: number;
  readonly peers: readonly Peer[];
  readonly comparisons: ComparisonResult[] = [];
  unfinished: ComparisonResult | undefined;
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
    const result = await compare(comparison, this.rounds, {
      progress: (text) => this.progress(text),
      soFar: (unfinished) => {
        this.unfinished = unfinished;
      },
    });
    this.unfinished = undefined;
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
