/** The checker shares no code with what it checks, nor with the campaign that it judges. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const CHECKER = join(import.meta.dirname, '../../../faults/check');

/** Node's own, the driver of the database, and the compilers of this machine. */
const ALLOWED = /^(node:\w+(\/\w+)?|pg|(\.\.?\/)+[\w/-]+\.ts)$/;
const OUTSIDE = new Set(['../../scripts/toolchains.ts']);

const imports = globSync('**/*.ts', { cwd: CHECKER }).flatMap((file) =>
  [...readFileSync(join(CHECKER, file), 'utf8').matchAll(/\b(?:from|import\()\s*'([^']+)'/g)].map(
    ([, path]) => ({ file, path: path! }),
  ),
);

test('the checker imports nothing outside its folder', () => {
  expect(imports.length).toBeGreaterThan(50);
  const strange = imports.filter(({ file, path }) => {
    if (!ALLOWED.test(path)) return true;
    if (OUTSIDE.has(path) || !path.startsWith('.')) return false;
    return !join('check', file, '..', path).startsWith('check/');
  });
  expect(strange).toEqual([]);
});
