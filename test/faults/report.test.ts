/** What the report of a campaign tells, and with which exit code it ends. */
import { describe, expect, test } from 'vitest';
import { CONTROLS } from '../../faults/controls.ts';
import { FaultCounts } from '../../faults/inject/run-faults.ts';
import { makePlan } from '../../faults/plan.ts';
import {
  emptyReport,
  parseReport,
  type Report,
  renderEnd,
  renderJson,
  renderMarkdown,
} from '../../faults/report.ts';
import { exitCodeOf, rulesThatFound } from '../../faults/verdict.ts';

const control = CONTROLS.find(({ name }) => name === 'index-dropped')!;
const RULE = 'an acknowledged record is charged exactly once';
const OTHER = 'a batch without an answer is charged as a whole or not at all';
const PLAN = makePlan({ seed: 7, minutes: 2, tenants: 1 });

function report(rest: Partial<Report> = {}): Report {
  const machine = { node: '24.1.0', postgres: '18.4', go: undefined, kernel: 'Linux 6.1', cores: 2 };
  const environment = { version: '0.1.0', ...machine };
  const looked = { [RULE]: 12, [OTHER]: 3 };
  const base = { ...emptyReport(PLAN, undefined, ''), cutShort: undefined, environment, looked };
  base.faults.happened.set('a lock is held', 2);
  return { ...base, seconds: 120, counts: { records: 120, answers: 9 }, ...rest };
}

const IDLE = { looked: { [RULE]: 12, 'a watchdog fires once': 0 } };

/** The first lines of a report, without those between. */
const firstLines = (rest: Partial<Report>, count = 1) =>
  renderMarkdown(report(rest)).split('\n\n').slice(0, count);

describe('a campaign', () => {
  test.each([
    ['without problems', {}, 0],
    ['with a problem', { problems: [`${RULE}: r1 was lost`] }, 1],
    ['whose control was found by its rule', { control, problems: [`${RULE}: r1 was charged 2 times`] }, 0],
    ['whose control was found by another rule', { control, problems: [`${OTHER}: 1 of 2 was charged`] }, 1],
    ['whose rule failed itself', { control, problems: [`${RULE}: the check failed: no such table`] }, 1],
    ['with a control that was not found', { control }, 1],
    ['in which no fault met anything', { faults: new FaultCounts() }, 3],
    ['that charged less than a record a second', { counts: { records: 119, answers: 9 } }, 3],
    ['with a rule that compared nothing', IDLE, 3],
    ['without a rule', { looked: {} }, 3],
    ['with a problem, in which no fault met anything', { problems: ['a: b'], faults: new FaultCounts() }, 1],
    ['whose rule cannot run here', { ...IDLE, notLooked: ['a watchdog fires once: no Go'] }, 0],
    ['that was interrupted', { cutShort: 'ended by SIGINT after 5 of 120 s' }, 3],
    ['that was interrupted, with a problem', { cutShort: 'ended by SIGINT', problems: [`${RULE}: r1`] }, 3],
  ] as const)('%s ends with its exit code', (_, rest, code) => {
    expect(exitCodeOf(report(rest))).toBe(code);
  });
});

describe('a control', () => {
  test.each(CONTROLS)('$name is found by its rules, and by no other line that has their words', (each) => {
    for (const rule of each.foundBy)
      expect(rulesThatFound({ control: each, problems: [`${rule}: this`] })).toEqual([rule]);
    const others = [...each.foundBy.map((rule) => `after 40 s: ${rule}: this`), ...each.foundBy];
    expect(rulesThatFound({ control: each, problems: others })).toEqual([]);
  });
});

describe('the report begins with', () => {
  test('the verdict, and then what it ran on', () => {
    expect(firstLines({}, 2)).toEqual([
      '# Nothing is wrong, by all 2 rules',
      'Version 0.1.0, Node.js 24.1.0, PostgreSQL 18.4, no Go, Linux 6.1, 2 cores.',
    ]);
  });

  test('that too little was shown, or that some rules cannot run here', () => {
    expect(firstLines({ ...IDLE, faults: new FaultCounts() })).toEqual([
      '# Too little was shown: 2 lines under "Not shown", and no problem in what was compared',
    ]);
    expect(firstLines({ ...IDLE, notLooked: ['a watchdog fires once: no Go'] })).toEqual([
      '# Nothing is wrong, by 1 of 2 rules: the others are under "Not looked at"',
    ]);
  });

  test('how many problems there are', () => {
    expect(firstLines({ problems: ['a: b', 'a: c'] })).toEqual([
      '# Something is wrong: 2 lines under "Problems"',
    ]);
  });

  test('the rule that has found the control, or those that have not', () => {
    expect(firstLines({ control, problems: [`${RULE}: r1`] })).toEqual([
      `# The control index-dropped was found, by: ${RULE}`,
    ]);
    expect(firstLines({ control })).toEqual([`# The control index-dropped was not found by: ${RULE}`]);
  });

  test('how it was cut short', () => {
    const cutShort = 'ended by SIGINT after 5 of 120 s';
    expect(firstLines({ cutShort, problems: ['a: b'] })[0]).toMatch(
      /^# Not finished: ended by SIGINT after 5 of 120 s\. Something is wrong/,
    );
    const text = renderMarkdown(emptyReport(PLAN, undefined, 'it was killed'));
    expect(text).toMatch(/^# Not finished: it was killed\. Nothing was checked\n/);
  });

  test('the same as JSON', () => {
    const { verdict, finished } = JSON.parse(renderJson(report({ cutShort: 'it was killed' })));
    expect([verdict, finished]).toEqual([expect.stringMatching(/^Not finished: it was killed/), false]);
  });
});

/** The lines of a section. */
function sectionOf(text: string, title: string): string[] {
  const [, section = ''] = text.split(`## ${title}\n\n`);
  return section.split('\n\n')[0]!.split('\n');
}

test('the report says what was not shown and not looked at, and how to plan the same again', () => {
  const base = report({
    ...{ control, counts: { records: 7, answers: 9 } },
    looked: { [RULE]: 12, 'histories of keys are linearizable': 0, 'a watchdog fires once': 0 },
    notLooked: ['histories of keys are linearizable: Porcupine needs Go 1.24'],
  });
  base.faults.leftOut.set('the disk of PostgreSQL is full', 'only root may mount a file system');
  const text = renderMarkdown(base);
  expect(text).toContain('`npm run faults -- --minutes 2 --seed 7 --tenants 1 --control index-dropped`');
  const notLooked = [
    '- the disk of PostgreSQL is full: only root may mount a file system',
    '- histories of keys are linearizable: Porcupine needs Go 1.24',
  ];
  const notShown = [
    '- 7 records were charged, and 120 at least should be',
    '- a watchdog fires once: there was nothing to compare',
  ];
  expect(sectionOf(text, 'Not looked at')).toEqual(notLooked);
  expect(sectionOf(text, 'Not shown')).toEqual(notShown);
  // As the console ends, where the beginning of a report is far away.
  expect(renderEnd(base).split('\n')).toEqual([
    ...['Not shown:', ...notShown, 'Not looked at:', ...notLooked],
    `The control index-dropped was not found by: ${RULE}`,
  ]);
});

test('a report in JSON is that of the same campaign, whose check is left to do', () => {
  const found = { control, foundBefore: ['after 40 s: 1 webhooks'], controlled: '1 rows', seconds: 45 };
  const base = report({ ...found, topUps: { succeeded: 2 }, operations: new Map([['key.use', 3]]) });
  base.faults.leftOut.set('the disk of PostgreSQL is full', 'only root may mount a file system');
  const read = parseReport(renderJson({ ...base, problems: ['a: b'], notLooked: ['c: d'] }));
  expect(renderMarkdown(read)).toBe(renderMarkdown({ ...base, looked: {} }));
  expect(read.foundBefore).toEqual(base.foundBefore);
});

test('attempts that had nothing to disturb are not among the faults', () => {
  const base = report();
  base.faults.missed.set('a lock is held', 3);
  const text = renderMarkdown(base);
  expect(text).toContain('\n2 faults, ');
  expect(text).toContain('\n3 more attempts had nothing to disturb');
  expect(text).toContain('| a lock is held | 2 | 3 |');
});
