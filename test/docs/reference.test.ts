/** The tables of docs/reference.md and docs/command-line.md have what the code has. `test/base/telemetry/metrics.test.ts` compares the metrics. */
import { globSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { makeProgram } from '../../src/run/admin/run.ts';
import { readConfig } from '../../src/run/config.ts';

const ROOT = new URL('../../', import.meta.url);

const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

/** The first cells of the table of a section. */
const rowsOf = (heading: string) => cellsOf(heading).map(([first]) => first!);

/** The rows of the table of a section. */
function cellsOf(heading: string): string[][] {
  const section = ['docs/reference.md', 'docs/command-line.md']
    .flatMap((page) => read(page).split(/^##? /m))
    .find((text) => text.startsWith(`${heading}\n`));
  const rows = section!.match(/^\| `.* \|$/gm) ?? [];
  return rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\| |\|$/g, '').trim()));
}

function commandOf(path: string): Command {
  return path
    .split(' ')
    .reduce((command, name) => command.commands.find((each) => each.name() === name)!, makeProgram());
}

/** `tenants list`: commands without commands of their own. */
function pathsOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((each) => pathsOf(each, [...path, each.name()]));
}

const READERS = globSync('src/run/{config,read-*,connection-budget,secrets-key}.ts', { cwd: ROOT });

test('each setting that is read is told, and no other', () => {
  const text = READERS.map(read).join('\n');
  // `env.NAME`, `{ NAME: name } = env`, and names that are handed on.
  const names = [
    ...text.matchAll(/\benv\.([A-Z_]{4,})|'([A-Z_]{4,})'|\b([A-Z_]{4,}): \w+(?=[^;\n]*\} = env)/g),
  ].map(([, ...found]) => found.find((name) => name !== undefined)!);
  const told = rowsOf('Settings').flatMap((cell) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!),
  );
  expect(told.length).toBeGreaterThan(50);
  expect(told.toSorted()).toEqual([...new Set(names)].toSorted());
});

/** Each setting, with the cells of its default and its meaning. */
const SETTINGS = cellsOf('Settings').flatMap(([names, fallbacks, ...meaning]) => {
  const defaults = fallbacks!.split(', ').map((each) => each.replaceAll('`', ''));
  return [...names!.matchAll(/`([A-Z_]+)`/g)].map(
    ([, name], index) => [name!, defaults[index] ?? '', meaning.join(' | ')] as const,
  );
});

test('each counts as unset if it is empty', () => {
  const empty = Object.fromEntries(SETTINGS.map(([name]) => [name, '']));
  expect(readConfig(empty)).toStrictEqual(readConfig({}));
});

test.each(
  SETTINGS.filter(
    ([, fallback]) => /^[\w./:]+$/.test(fallback) && fallback !== 'none' && !/[A-Z]{3}/.test(fallback),
  ),
)('%s may as well be set to its default, %s', (name, fallback) => {
  expect(readConfig({ PAYMENTS: 'none', [name]: fallback })).toEqual(readConfig({ PAYMENTS: 'none' }));
});

test.each(
  SETTINGS.flatMap(([name, , meaning]) => {
    const [, min, max] = /(?:, |; )(\d+) to (\d+)(?!\d* (?:letters|characters))/.exec(meaning) ?? [];
    return min === undefined ? [] : [[name, Number(min), Number(max)] as const];
  }),
)('%s accepts %d to %d, and nothing beyond', (name, min, max) => {
  for (const value of [min, max]) expect(readConfig({ [name]: `${value}` })).toBeDefined();
  for (const value of [min - 1, max + 1]) expect(() => readConfig({ [name]: `${value}` })).toThrow(name);
});

test('each command is told, and no other', () => {
  const told = rowsOf("The operator's command line").flatMap((cell) =>
    [...cell.matchAll(/`([a-z][a-z-]*(?: [a-z][a-z-]*)*)/g)].map(([, words]) => words!),
  );
  const paths = pathsOf(makeProgram());
  expect(paths.length).toBeGreaterThan(30);
  expect([...new Set(told)].toSorted()).toEqual(paths.toSorted());
});

test('the options of each command are told, and no other', () => {
  const isCommon = (option: string) => ['--json', '--help'].includes(option);
  const problems = cellsOf("The operator's command line").flatMap(([usages, does]) => {
    const told = new Set(`${usages} ${does}`.match(/--[a-z-]+/g));
    const uses = [...usages!.matchAll(/`([^`]+)`/g)].map(([, usage]) => usage!);
    const known = uses.flatMap((usage) => {
      const path = /^[a-z-]+(?: [a-z][a-z-]*)*/.exec(usage)![0];
      return commandOf(path).options.map(({ long }) => long!);
    });
    const strange = [...told].filter((option) => !known.includes(option) && !isCommon(option));
    const untold = known.filter(
      (option) => !told.has(option) && !isCommon(option) && !usages!.includes('[...]'),
    );
    return [...strange, ...untold].map((option) => `${usages}: ${option}`);
  });
  expect(problems).toEqual([]);
});
