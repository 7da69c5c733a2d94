/** Mutants of a miniature project, tested like ours. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeMutant } from '../../../scripts/mutants/mutant.ts';
import { linkPackages } from '../../../scripts/mutants/scratch-copy.ts';
import { Trial } from '../../../scripts/mutants/trial.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const SOURCE = 'export const isLarge = (size: number) => size > 10;\n';
const testOf = (name: string, ...sizes: [number, boolean][]) =>
  `import { expect, it } from 'vitest';
   import { isLarge } from '../src/size.ts';
   it(${JSON.stringify(name)}, () => {
     ${sizes.map(([size, large]) => `expect(isLarge(${size})).toBe(${large});`).join('\n')}
   });`;
const FILES = {
  'package.json': '{ "type": "module" }',
  'vitest.config.ts': `export default {
    test: { projects: [{ extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } }] },
  };`,
  'src/size.ts': SOURCE,
  'test/clear.test.ts': testOf('tells what is clear', [5, false], [20, true]),
  'test/limit.test.ts': testOf('knows the limit', [10, false]),
  'test/wrong.test.ts': testOf('is wrong', [10, true]),
  'test/once.test.ts': `import { existsSync, writeFileSync } from 'node:fs';
   import { expect, it } from 'vitest';
   it('fails once', () => {
     const hasFailed = existsSync('failed');
     writeFileSync('failed', '');
     expect(hasFailed).toBe(true);
   });`,
};

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'boxoffice-trial-'));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  cpSync(join(PROJECT, 'scripts/mutants'), join(root, 'scripts/mutants'), { recursive: true });
  linkPackages(PROJECT, root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newTrial = (silenceSeconds = 60) =>
  new Trial({ root, databaseUrl: '', silenceSeconds, signal: new AbortController().signal });

/** The source with `found` replaced. */
function mutantOf(found: string, replacement: string) {
  const start = SOURCE.indexOf(found);
  return makeMutant('src/size.ts', SOURCE, { start, end: start + found.length, replacement, kind: 'test' });
}

const LIMIT = mutantOf('> 10', '>= 10');

describe('a mutant', () => {
  it('is killed by the first test that fails, and leaves the file as it was', async () => {
    const result = await newTrial().judge(LIMIT, ['test/clear.test.ts', 'test/limit.test.ts']);
    expect(result).toMatchObject({ outcome: 'killed', by: 'test/limit.test.ts: knows the limit' });
    expect(readFileSync(join(root, 'src/size.ts'), 'utf8')).toBe(SOURCE);
  });

  it('survives if every test passes, or there is none', async () => {
    const trial = newTrial();
    expect(await trial.judge(LIMIT, ['test/clear.test.ts'])).toMatchObject({ outcome: 'survived' });
    expect(await trial.judge(LIMIT, [])).toMatchObject({ outcome: 'survived', by: 'no test loads it' });
  });

  it('is killed by a test file that does not load with it', async () => {
    const mutant = mutantOf('export', 'throw new Error(); export');
    const { outcome, by } = await newTrial().judge(mutant, ['test/clear.test.ts']);
    expect([outcome, by]).toStrictEqual(['killed', expect.stringContaining('test/clear.test.ts')]);
  });

  it('times out when no test finishes any more', async () => {
    const mutant = mutantOf('size > 10', '{ for (;;); }');
    expect(await newTrial(5).judge(mutant, ['test/clear.test.ts'])).toMatchObject({ outcome: 'timed out' });
  });

  it('is not killed by a test that also fails without it, which is skipped from then on', async () => {
    const trial = newTrial();
    const [clear, wrong, limit] = ['test/clear.test.ts', 'test/wrong.test.ts', 'test/limit.test.ts'];
    const harmless = mutantOf('10', '10.5');
    expect(await trial.judge(harmless, [wrong, clear])).toMatchObject({ outcome: 'survived' });
    expect(trial.unsound).toStrictEqual([wrong]);
    expect(await trial.judge(LIMIT, [wrong, limit])).toMatchObject({ outcome: 'killed' });
  });

  it('is not killed by a test that fails once', async () => {
    const [once, clear] = ['test/once.test.ts', 'test/clear.test.ts'];
    expect(await newTrial().judge(LIMIT, [once, clear])).toMatchObject({ outcome: 'survived' });
  });

  it('is invalid when the tests cannot be started', async () => {
    writeFileSync(join(root, 'vitest.config.ts'), 'export default {}; throw new Error("no way");');
    const result = await newTrial().judge(LIMIT, ['test/clear.test.ts']);
    writeFileSync(join(root, 'vitest.config.ts'), FILES['vitest.config.ts']);
    expect([result.outcome, result.by]).toStrictEqual(['invalid', expect.stringContaining('no way')]);
  });
});
