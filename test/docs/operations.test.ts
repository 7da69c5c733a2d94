/** The files that docs/operations.md shows, as the programs read them that they are for. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
const TEXT = read('operations.md');
const [unit, environment] = [...TEXT.matchAll(/```ini\n(.*?)```/gs)].map(([, code]) => code!);
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test('systemd reads each value of the environment file as it is meant', () => {
  const lines = environment!.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.length).toBeGreaterThan(5);
  const settings = new Set([...read('reference.md').matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)*/gm)].flat());
  for (const line of lines) {
    // systemd takes everything after the first = as the value, a # included.
    const [, name, value] = /^([A-Z_]+)=(\S+)$/.exec(line) ?? [];
    expect([line, settings.has(name!), value?.includes('#')]).toStrictEqual([line, true, false]);
  }
});

test.skipIf(!hasSystemd)('systemd rates the unit as the document says', async () => {
  const file = join(mkdtempSync(join(inject('scratch'), 'unit-')), 'boxoffice.service');
  writeFileSync(file, unit!);
  const options = ['security', '--offline=true', '--no-pager', file];
  const { stdout } = await promisify(execFile)('systemd-analyze', options);
  const [, rating] = /exposure level for boxoffice\.service: ([\d.]+)/.exec(stdout) ?? [];
  const [, documented] = /rates it ([\d.]+)/.exec(TEXT) ?? [];
  // Versions of systemd differ in what they weigh.
  expect(Math.abs(Number(rating) - Number(documented))).toBeLessThan(0.3);
});
