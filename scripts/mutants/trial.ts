/** Try mutants one after the other in the scratch copy. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyChange, type Mutant } from './mutant.ts';
import type { Result } from './report.ts';
import { type Runner, runTests } from './run-tests.ts';

export class Trial {
  readonly #runner: Runner;
  /** Test files that fail without any mutant. They are skipped. */
  readonly #unsound: string[] = [];
  readonly #sound = new Set<string>();
  /** For each mutated file, the test files that have killed a mutant, most recent first. */
  readonly #killers = new Map<string, readonly string[]>();

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  get unsound(): readonly string[] {
    return this.#unsound;
  }

  /** `tests` are the files to run, most likely to fail first. */
  async judge(mutant: Mutant, tests: readonly string[]): Promise<Result> {
    const started = performance.now();
    const judged = await this.#tryOut(mutant, tests);
    return { mutant, seconds: Math.round(performance.now() - started) / 1000, ...judged };
  }

  async #tryOut(mutant: Mutant, tests: readonly string[]): Promise<Pick<Result, 'outcome' | 'by'>> {
    const earlier = this.#killers.get(mutant.file) ?? [];
    const ordered = [...new Set([...earlier.filter((file) => tests.includes(file)), ...tests])];
    const asked = ordered.filter((file) => !this.#unsound.includes(file));
    if (asked.length === 0) return { outcome: 'survived', by: 'no test loads it' };
    const run = await this.#runWith(mutant, asked);
    if (run.outcome === 'passed') return { outcome: 'survived' };
    if (run.outcome === 'silent') return { outcome: 'timed out' };
    if (run.outcome === 'broken') return { outcome: 'invalid', by: run.output };
    const { file, name } = run.by;
    if (!(await this.#isSound(file))) return this.#tryOut(mutant, tests);
    // On a busy machine, a test may fail once. One that notices the mutant fails each time.
    const { outcome } = await this.#runWith(mutant, [file]);
    if (outcome === 'passed') return this.#tryOut(mutant, without(tests, file));
    this.#killers.set(mutant.file, [file, ...without(earlier, file)]);
    return { outcome: 'killed', by: `${file}: ${name}` };
  }

  async #runWith(mutant: Mutant, files: readonly string[]) {
    const path = join(this.#runner.root, mutant.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, applyChange(text, mutant));
    try {
      return await runTests(this.#runner, files);
    } finally {
      writeFileSync(path, text);
    }
  }

  async #isSound(file: string): Promise<boolean> {
    if (this.#sound.has(file)) return true;
    const { outcome } = await runTests(this.#runner, [file]);
    if (outcome === 'passed') this.#sound.add(file);
    else this.#unsound.push(file);
    return outcome === 'passed';
  }
}

function without(files: readonly string[], file: string): readonly string[] {
  return files.filter((other) => other !== file);
}
