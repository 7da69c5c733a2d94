import { describe, expect, it } from 'vitest';
import { chooseMutants, makeMutant } from '../../../scripts/mutants/mutant.ts';

const text = 'first\n  const a = b;\n';
const made = Array.from({ length: 100 }, (_, at) =>
  makeMutant('src/a.ts', text, { start: 18, end: 19, replacement: `c${at}`, kind: 'name' }),
);

it('a mutant names its place and its change', () => {
  expect(made[7]).toMatchObject({ line: 2, what: 'name: b -> c7', code: 'const a = b;' });
});

describe('the choice', () => {
  it('is the same for the same seed, and in the order of places', () => {
    const chosen = chooseMutants(made, 10, 3);
    expect(chosen).toStrictEqual(chooseMutants(made, 10, 3));
    expect(chosen).toStrictEqual(made.filter((mutant) => chosen.includes(mutant)));
    expect(chosen).toHaveLength(10);
  });

  it('is another one for another seed', () => {
    expect(chooseMutants(made, 10, 3)).not.toStrictEqual(chooseMutants(made, 10, 4));
  });

  it('is all of them if there are no more', () => {
    expect(chooseMutants(made, 1000, 1)).toStrictEqual(made);
  });
});
