import { describe, expect, test } from 'vitest';
import type { Result } from '../../bench/benchmark.ts';
import { type Guarded, guardsOf, judge, parseGuards, renderJudgements } from '../../bench/guard-judge.ts';

const COMMITTED = { 'guard-join': { ratio: 2, cpuUs: 400, floorCpuUs: 200 } };

function measured(ratio: number): Record<string, Guarded> {
  return { 'guard-join': { ratio, cpuUs: 200 * ratio, floorCpuUs: 200 } };
}

describe('judge', () => {
  test.each([
    ['half of it', 1, false],
    ['the same', 2, false],
    ['19 % worse', 2.38, false],
    ['21 % worse', 2.42, true],
    ['three times as bad', 6, true],
  ])('%s', (_, ratio, isWorse) => {
    expect(judge(measured(ratio), COMMITTED)).toEqual([
      expect.objectContaining({ name: 'guard-join', growth: expect.closeTo(ratio / 2 - 1), isWorse }),
    ]);
  });

  test('compares the ratio, not the CPU time', () => {
    const slowMachine = { 'guard-join': { ratio: 2, cpuUs: 4_000, floorCpuUs: 2_000 } };
    expect(judge(slowMachine, COMMITTED)[0]!.isWorse).toBe(false);
  });

  test('judges only what was measured', () => {
    const committed = { ...COMMITTED, 'guard-mint': { ratio: 3, cpuUs: 300, floorCpuUs: 100 } };
    expect(judge(measured(2), committed).map(({ name }) => name)).toEqual(['guard-join']);
  });

  test('refuses a ratio without a committed one', () => {
    expect(() => judge(measured(2), {})).toThrow(
      'bench/guard.json has no ratio of guard-join; --update adds it',
    );
  });
});

describe('parseGuards', () => {
  const names = ['guard-join', 'guard-mint'];

  test('reads some of the guards', () => {
    expect(parseGuards(JSON.stringify(COMMITTED), names)).toEqual(COMMITTED);
  });

  test('refuses an unknown name', () => {
    const text = JSON.stringify({ 'guard-joins': COMMITTED['guard-join'] });
    expect(() => parseGuards(text, names)).toThrow(
      'bench/guard.json names guard-joins, but the guards are guard-join, guard-mint',
    );
  });

  test.each([
    ['ratio', 0],
    ['ratio', undefined],
    ['cpuUs', '400'],
    ['floorCpuUs', -1],
  ])('refuses %s %s', (field, value) => {
    const text = JSON.stringify({ 'guard-join': { ...COMMITTED['guard-join'], [field]: value } });
    expect(() => parseGuards(text, names)).toThrow(
      'bench/guard.json: guard-join needs ratio, cpuUs and floorCpuUs, each above 0',
    );
  });
});

/** The result of a guard with this ratio. */
function result(ratio: number): Result {
  const contestant = { name: '', median: 1, range: [1, 1], values: [1] } as const;
  const floor = { ...contestant, role: 'floor', cpu: { service: 150, postgres: 50, generator: 30 } } as const;
  const ours = {
    ...contestant,
    role: 'ours',
    cpu: { service: 250, postgres: 150, generator: 30 },
    ratio: { median: ratio, range: [ratio, ratio] },
  } as const;
  const comparisons = [{ title: '', unit: 'us/request', goals: [], contestants: [floor, ours] }];
  return {
    name: 'guard-join',
    protocol: '',
    seconds: 1,
    isWhole: true,
    database: undefined,
    notes: [],
    comparisons,
  };
}

describe('guardsOf', () => {
  test('takes the median ratio, and CPU time without the generator', () => {
    expect(guardsOf([result(2.1)])).toEqual({ 'guard-join': { ratio: 2.1, cpuUs: 400, floorCpuUs: 200 } });
  });

  test('refuses CPU time that could not be measured', () => {
    expect(() => guardsOf([result(Number.NaN)])).toThrow('guard-join: the CPU time could not be measured');
  });
});

test('renderJudgements puts each ratio beside the committed one', () => {
  expect(renderJudgements(judge(measured(2), COMMITTED))).toBe(
    'guard-join  2.000  committed 2.000    +0 %  400 us (floor 200), committed 400 us (floor 200)  ok\n',
  );
  const [line, ...more] = renderJudgements(judge(measured(2.42), COMMITTED)).split('\n');
  expect(line).toBe(
    'guard-join  2.420  committed 2.000   +21 %  484 us (floor 200), committed 400 us (floor 200)  WORSE',
  );
  expect(more.join(' ')).toContain('run the guard again alone');
});
