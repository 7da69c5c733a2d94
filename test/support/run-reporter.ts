/**
 * What a run says beside its results: a line while nothing else is printed, and at the end the names of tests that failed,
 * what was left out, and one plain line for programs, `N passed, N failed`. A figure of docs/tried.md that the tests no longer
 * have counts as failed, too.
 */
import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification } from 'vitest/node';
import { findStale, readCounted, TRIED_PAGE } from './counted-cases.ts';
import { describeLeftOut } from './left-out.ts';

export class RunReporter implements Reporter {
  readonly #startedAt = Date.now();
  readonly #quietMs: number;
  readonly #page: string;
  readonly #running = new Set<string>();
  #files = 0;
  #ended = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `quietMs`: the longest time in which nothing is printed. `page`: says how many cases there are. */
  constructor({ quietMs = 10_000, page = TRIED_PAGE } = {}) {
    this.#quietMs = quietMs;
    this.#page = page;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
    this.#timer = setInterval(() => this.#tellProgress(), this.#quietMs).unref();
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.add(nameOf(module));
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(nameOf(module));
    this.#ended += 1;
    // The line of this file says that the run goes on.
    this.#timer?.refresh();
  }

  /**
   * Failed also counts errors outside tests: a file that does not load, a hook that throws, an error that was not
   * caught.
   */
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    clearInterval(this.#timer);
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: ReturnType<TestCase['result']>['state']) =>
      tests.filter((test) => test.result().state === state);
    const stale = findStale(readCounted(this.#page), casesOf(modules));
    if (stale.length > 0) process.exitCode = 1;
    const failed = [...modules.flatMap(errorsOutsideTests), ...inState('failed').map(describe), ...stale];
    const skipped = inState('skipped').length + inState('pending').length;
    const lines = [
      ...failed.map((name) => `failed: ${name}`),
      ...describeLeftOut(inState('skipped').map(({ module }) => nameOf(module))),
      `${inState('passed').length} passed, ${failed.length + unhandled.length} failed` +
        (skipped > 0 ? `, ${skipped} skipped` : ''),
    ];
    // Other reporters and the teardown still print. These lines come last.
    process.once('exit', () => writeSync(1, `${lines.join('\n')}\n`));
  }

  #tellProgress(): void {
    const seconds = Math.round((Date.now() - this.#startedAt) / 1000);
    console.log(
      ` ${seconds} s: ${this.#ended} of ${this.#files} files, now ${[...this.#running].join(', ')}`,
    );
  }
}

function nameOf(module: TestModule): string {
  return `${relative(process.cwd(), module.moduleId)}${module.project.name === 'step forms' ? ' (step forms)' : ''}`;
}

/** Files that were loaded. One that is in several projects has the same cases in each. */
function casesOf(modules: readonly TestModule[]): Map<string, number> {
  const loaded = modules.filter((module) => module.errors().length === 0);
  return new Map(
    loaded.map((module) => [
      relative(process.cwd(), module.moduleId),
      [...module.children.allTests()].length,
    ]),
  );
}

const describe = (test: TestCase): string => `${nameOf(test.module)} > ${test.fullName}`;

function errorsOutsideTests(module: TestModule): string[] {
  const inSuites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map(() => `${nameOf(module)} > ${suite.fullName}`),
  );
  return [...module.errors().map(() => nameOf(module)), ...inSuites];
}
