/** The rule of progress. */
import { expect, test } from 'vitest';
import { PROGRESS_RULES } from '../../../../faults/check/rules/progress.ts';
import { entry, judge } from '../entries.ts';

const RULE = 'usage is acknowledged again soon after each fault';
const SECOND = 1_000_000;
const report = (at: number, isAnswered: boolean) =>
  entry('usage.report', { key: 'r', records: [] }, [at * SECOND, isAnswered ? at * SECOND + 5 : null]);

test('batches without answers for a while are no problem', async () => {
  const { problems, looked } = await judge(PROGRESS_RULES, [
    ...[report(1, true), report(60, false), report(200, false), report(240, true), report(470, true)],
  ]);
  expect(problems).toEqual([]);
  expect(looked[RULE]).toBe(3);
});

test.each([
  ['in the middle', [report(1, true), report(100, false), report(250, false), report(900, true)]],
  ['until the end', [report(1, true), report(100, false), report(251, false)]],
  ['from the beginning', [report(1, false), report(251, false)]],
])('a system that is gone %s is found, once', async (_, entries) => {
  const { problems } = await judge(PROGRESS_RULES, entries);
  expect(problems).toEqual([
    expect.stringMatching(`${RULE}: no batch was acknowledged from \\d+ us on, for 2\\d\\d s`),
  ]);
});
