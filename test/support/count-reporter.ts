/** Ends a run with one plain line, `N passed, N failed`, for programs that parse the output. */
import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Failed also counts errors outside tests: a file that does not load, a hook that throws, an error
 * that was not caught.
 */
export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === 'pending' ? 'skipped' : state] += 1;
      }
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    // Other reporters and the teardown still print. This line comes last.
    process.once('exit', () => writeSync(1, `${count.passed} passed, ${count.failed} failed${skipped}\n`));
  }
}
