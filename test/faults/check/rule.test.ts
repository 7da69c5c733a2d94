import { expect, test } from 'vitest';
import { type Rule, runRules } from '../../../faults/check/rule.ts';
import { factsOf } from './entries.ts';

const RULES: readonly Rule[] = [
  {
    name: 'many',
    check: (_, look) => {
      look.at(9);
      for (let at = 1; at <= 9; at += 1) look.wrong(`line ${at}`);
    },
  },
  {
    name: 'broken',
    check: () => {
      throw new Error('no such table');
    },
  },
  { name: 'idle', check: (_, look) => look.leaveOut('there is no Go') },
];

test('a rule names five problems, and says how many there are and how much it looked at', async () => {
  const { problems, looked, leftOut } = await runRules(RULES, await factsOf([]));
  expect(problems).toEqual([
    ...[1, 2, 3, 4, 5].map((at) => `many: line ${at}`),
    'many: and 4 more',
    'broken: the check failed: no such table',
  ]);
  expect(looked).toEqual({ many: 9, broken: 0, idle: 0 });
  expect(leftOut).toEqual(['idle: there is no Go']);
});
