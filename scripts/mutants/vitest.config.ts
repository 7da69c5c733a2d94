/** Runs the given test files against a mutant, in the given order, until the first failure. */
import { writeSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import type { SerializedError } from 'vitest';
import { mergeConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import {
  BaseSequencer,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
} from 'vitest/node';
import base from '../../vitest.config.ts';
import { type Message, renderMessage } from './run-tests.ts';

const files: readonly string[] = JSON.parse(process.env.MUTANT_TESTS ?? '[]');

class InOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) =>
      files.findIndex((file) => moduleId.endsWith(`/${file}`));
    return specifications.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

/** Reports each test as soon as it finishes, files that fail to load, and errors outside of any test. */
class LineReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    tell({
      file: test.module.relativeModuleId,
      name: test.fullName,
      failed: test.result().state === 'failed',
    });
  }

  onTestModuleEnd(module: TestModule): void {
    const errors = [module, ...module.children.allSuites()].flatMap((each) => each.errors());
    if (errors.length > 0) tell({ file: module.relativeModuleId, name: errors[0]!.message, failed: true });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = modules[0]?.relativeModuleId ?? 'no test file';
    if (errors.length > 0) tell({ file, name: errors[0]!.message, failed: true });
  }
}

function tell(message: Message): void {
  writeSync(1, `${renderMessage(message)}\n`);
}

const { reporters: _reporters, projects = [], ...test } = base.test ?? {};

/** The files of the run that belong to the project. */
function narrow(project: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  const include = project.test?.include ?? [];
  const own = files.filter((file) => include.some((pattern) => matchesGlob(file, pattern)));
  return { ...project, test: { ...project.test, include: own } };
}

export default mergeConfig(
  { ...base, test },
  {
    test: {
      projects: projects.map((each) => narrow(each as TestProjectInlineConfiguration)),
      bail: 1,
      reporters: [new LineReporter()],
      sequence: { sequencer: InOrder },
    },
  },
);
