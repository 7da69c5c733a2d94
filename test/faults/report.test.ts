/** What the report of a campaign tells, and when it is as expected. */
import { describe, expect, test } from 'vitest';
import { CONTROLS } from '../../faults/controls.ts';
import { FaultCounts } from '../../faults/inject/run-faults.ts';
import { makePlan } from '../../faults/plan.ts';
import { isAsExpected, type Report, renderMarkdown } from '../../faults/report.ts';

const control = CONTROLS.find(({ name }) => name === 'index-dropped')!;
const RULE = 'an acknowledged record is charged exactly once';

describe('a campaign is as expected', () => {
  test('without problems', () => {
    expect(isAsExpected({ control: undefined, problems: [] })).toBe(true);
    expect(isAsExpected({ control: undefined, problems: [`${RULE}: r1`] })).toBe(false);
  });

  test('with a control, if its rule has found it, and not if the rule failed itself', () => {
    expect(isAsExpected({ control, problems: [`${RULE}: r1 is there twice`] })).toBe(true);
    expect(isAsExpected({ control, problems: [`${RULE}: the check failed: no such table`] })).toBe(false);
  });
});

test('the report says what was not looked at, and how to plan the same again', () => {
  const report: Report = {
    plan: makePlan({ seed: 7, minutes: 2, tenants: 1 }),
    control,
    controlled: undefined,
    seconds: 120,
    counts: { records: 1, answers: 1 },
    operations: new Map(),
    faults: new FaultCounts(),
    topUps: {},
    problems: [],
    looked: { [RULE]: 12, 'a watchdog fires once': 0 },
    notLooked: ['histories of keys are linearizable: Porcupine needs Go 1.24'],
  };
  const text = renderMarkdown(report);
  expect(text).toContain('`npm run faults -- --minutes 2 --seed 7 --tenants 1 --control index-dropped`');
  const [, section] = text.split('## Not looked at\n\n');
  expect(section!.split('\n\n')[0]).toBe(
    '- histories of keys are linearizable: Porcupine needs Go 1.24\n- a watchdog fires once: there was nothing to compare',
  );
});
