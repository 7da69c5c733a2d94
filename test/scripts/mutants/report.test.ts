import { expect, it } from 'vitest';
import { makeMutant } from '../../../scripts/mutants/mutant.ts';
import { type Result, renderProgress, renderReport, summarize } from '../../../scripts/mutants/report.ts';

const mutant = makeMutant('src/a.ts', 'if (a < b) return;', {
  start: 6,
  end: 7,
  replacement: '<=',
  kind: 'operator',
});
const results = (['killed', 'killed', 'timed out', 'survived', 'invalid'] as const).map(
  (outcome): Result => ({ mutant, outcome, seconds: 1.5 }),
);

it('the score counts a time-out as noticed, and leaves out what is invalid', () => {
  expect(summarize(results)).toStrictEqual({
    counts: { killed: 2, 'timed out': 1, survived: 1, invalid: 1 },
    score: 75,
  });
  expect(summarize([]).score).toBeNull();
});

it('the report names each survivor with its line, and tests that were left out', () => {
  expect(renderReport(results, ['test/b.test.ts'])).toBe(`Survivors:
  src/a.ts:1  operator: < -> <=
      if (a < b) return;

Left out, since it fails without any mutant: test/b.test.ts
2 killed, 1 timed out, 1 survived, 1 invalid
Score: 75.0 % of 5 mutants, in 8 s
`);
});

it('progress is one line for each mutant, with the first line of the reason', () => {
  const line = renderProgress({ mutant, outcome: 'killed', seconds: 12.34, by: 'a test\nmore' }, 7, 150);
  expect(line).toBe('[  7/150] killed      12.3 s  src/a.ts:1  operator: < -> <=  (a test)');
});
