import { describe, expect, it } from 'vitest';
import { findRelatedTests, findSpecifiers } from '../../../scripts/mutants/related-tests.ts';

it('a module loads what it imports or runs in any way, except types', () => {
  const code = `
    import a from './a.ts';
    import type { B } from './b.ts';
    export { c } from '../c.ts';
    const d = await import('./d.ts');
    const e = new URL('./e.ts', import.meta.url);
    const f = join(import.meta.dirname, 'f.ts');
    import { readFile } from 'node:fs';`;
  expect(findSpecifiers(code)).toStrictEqual(['./a.ts', '../c.ts', './d.ts', './e.ts', 'f.ts']);
});

describe('related tests', () => {
  const imports = new Map([
    ['src/money/pay-card.ts', []],
    ['src/run/service.ts', ['src/money/pay-card.ts']],
    ['src/alone.ts', []],
    ['test/support/service.ts', ['src/run/service.ts']],
    ['test/doors/far.test.ts', ['test/support/service.ts']],
    ['test/doors/near.test.ts', ['src/money/pay-card.ts']],
    ['test/doors/card.test.ts', ['test/support/service.ts']],
    ['test/doors/payers/cards.test.ts', ['test/support/service.ts']],
    ['test/money/other.test.ts', ['test/support/service.ts']],
    ['test/money/pay-card.faults.test.ts', ['test/support/service.ts']],
    ['test/money/unrelated.test.ts', ['src/alone.ts']],
  ]);

  it('are all that load the file, the likeliest to fail first', () => {
    expect(findRelatedTests('src/money/pay-card.ts', imports)).toStrictEqual([
      'test/money/pay-card.faults.test.ts',
      'test/doors/card.test.ts',
      'test/doors/payers/cards.test.ts',
      'test/money/other.test.ts',
      'test/doors/near.test.ts',
      'test/doors/far.test.ts',
    ]);
  });

  it('may not exist', () => {
    expect(findRelatedTests('src/nobody.ts', imports)).toStrictEqual([]);
  });
});
