/** The order in which the files of a run begin. */
import { expect, test } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { SlowestFirst } from './slowest-first.ts';

const SLOWEST = '/test/sdk/rust.test.ts';
const SLOW = '/test/money/usage/charge-usage.locks.test.ts';
const QUICK = '/test/access/keys/quick.test.ts';

/** As a sequencer sees a file that has not run before. */
const fileOf = (project: string, moduleId: string) =>
  ({
    moduleId,
    project: { name: project, config: { sequence: { groupOrder: 0 }, isolate: false } },
  }) as TestSpecification;

const vitest = { cache: { getTestSpecificationResult: () => undefined } } as unknown as Vitest;

test('the files of a project begin one after the other, the slow ones of each first', async () => {
  const files = ['step forms', 'archived', 'one server'].flatMap((project) =>
    [QUICK, SLOW, SLOWEST].map((path) => fileOf(project, path)),
  );
  const sorted = await new SlowestFirst(vitest).sort(files);
  expect(sorted.map(({ project, moduleId }) => [project.name, moduleId])).toEqual(
    ['one server', 'step forms', 'archived'].flatMap((project) =>
      [SLOWEST, SLOW, QUICK].map((path) => [project, path]),
    ),
  );
});
