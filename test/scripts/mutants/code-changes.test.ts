import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findChanges, parseTypeScript } from '../../../scripts/mutants/code-changes.ts';
import { applyChange } from '../../../scripts/mutants/mutant.ts';

function changed(code: string, file = 'src/some.ts'): string[] {
  return findChanges(file, code).map((change) => applyChange(code, change));
}

describe('in code', () => {
  it.each([
    ['a === b', ['a !== b']],
    ['a < b', ['a <= b']],
    ['(a) + (b)', ['(a) - (b)']],
    ["'a' + b", []],
    ['!a', ['a']],
    ['-a', ['a']],
    ['a && b', ['a', 'a || b', 'b']],
    ['!a || b === c', ['!a', '!a && b === c', 'a || b === c', 'b === c', '!a || b !== c']],
    ['a ? b : c', ['!(a) ? b : c']],
    ['a === b ? c : d', ['a !== b ? c : d']],
    ['Math.max(a, b)', ['Math.min(a, b)']],
    ['a.some(b)', ['a.every(b)']],
    ['a.toString()', []],
    ['true', ['false']],
    ['[7, 1_000n, 0.5]', ['[8, 1_000n, 0.5]', '[7, 1001n, 0.5]']],
  ])('%s', (expression, expected) => {
    const made = changed(`x = ${expression};`);
    expect(made.toSorted()).toStrictEqual(expected.map((each) => `x = ${each};`).toSorted());
  });

  it.each([
    ['if (a) throw b;', 'if (false) throw b;'],
    ['for (;;) if (a) { f = b; continue; }', 'for (;;) if (false) { f = b; continue; }'],
    ['if (a) f = b;', 'if (!(a)) f = b;'],
    ['if (!a) f = b;', 'if (a) f = b;'],
    ['f(a);', ';'],
    ['await f(a);', ';'],
  ])('%s', (statement, expected) => {
    expect(changed(statement)).toStrictEqual([expected]);
  });

  it('assertions and log calls stay', () => {
    expect(changed('assert(a); deps.log.warn(b);')).toStrictEqual([]);
  });

  it('types, imports and names of properties stay', () => {
    const code = `import { a } from './a-1.ts'; type B = 1 | true; interface C { 2: 3 } x = { 4: y as 5, z: w<6>() };`;
    expect(changed(code)).toStrictEqual([]);
  });

  it('SQL is mutated: any text with a blank in a file of SQL, whole statements elsewhere', () => {
    const code = "x = 'a and b'; y = `where [a && b] and c`;".replace('[', '${').replace(']', '}');
    expect(changed(code, 'src/some.sql.ts').toSorted()).toStrictEqual(
      [
        code.replace('a and b', 'a or b'),
        code.replace('a and b', 'a and true'),
        code.replace('} and', '} or'),
        code.replace(/\S+ && b\}/, 'true'),
        code.replace('and c', 'and true'),
        code.replace('a && b', 'a || b'),
        code.replace('a && b', 'a'),
        code.replace('a && b', 'b'),
      ].toSorted(),
    );
    expect(changed("x = 'a and b'; y = 'select a and b';")).toStrictEqual([
      "x = 'a and b'; y = 'select a or b';",
      "x = 'a and b'; y = 'select a and true';",
    ]);
  });
});

it('every mutation of a real file changes it, and is still TypeScript', () => {
  for (const file of ['src/money/usage/charge-usage.ts', 'src/control/rooms/participants.sql.ts']) {
    const code = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    const mutants = changed(code, file);
    expect(mutants.length).toBeGreaterThan(20);
    expect(new Set([code, ...mutants]).size).toBe(mutants.length + 1);
    for (const mutant of mutants) parseTypeScript(mutant);
  }
});
