/** The tables of docs/reference.md have what the code has. `test/base/telemetry/metrics.test.ts` compares the metrics. */
import { globSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { makeProgram } from '../../src/run/admin/run.ts';

const ROOT = new URL('../../', import.meta.url);

const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

/** The first cells of the table of a section. */
function rowsOf(heading: string): string[] {
  const section = read('docs/reference.md')
    .split(/^## /m)
    .find((text) => text.startsWith(`${heading}\n`));
  return [...section!.matchAll(/^\| (`.*?) +\|/gm)].map(([, cell]) => cell!);
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

test('each command is told, and no other', () => {
  const told = rowsOf("The operator's command line").flatMap((cell) =>
    [...cell.matchAll(/`([a-z][a-z-]*(?: [a-z][a-z-]*)*)/g)].map(([, words]) => words!),
  );
  const paths = pathsOf(makeProgram());
  expect(paths.length).toBeGreaterThan(30);
  expect([...new Set(told)].toSorted()).toEqual(paths.toSorted());
});
