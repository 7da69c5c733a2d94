/** Which test files open no database: neither they nor a file of `test` that they import reaches `database.ts`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from './import-rules.ts';

const ROOT = join(import.meta.dirname, '../..');
const DATABASE = 'test/support/database.ts';
/** What the run provides for all files: a database, or the form of statements. */
const PROVIDED = /\binject\(/;

/** Those of `patterns`, as paths from the root of the project. */
export function listWithoutDatabase(patterns: readonly string[]): string[] {
  const known = new Map<string, boolean>();
  return globSync(patterns, { cwd: ROOT }).filter((file) => !opensDatabase(file, known));
}

function opensDatabase(file: string, known: Map<string, boolean>): boolean {
  if (file === DATABASE) return true;
  const found = known.get(file);
  if (found !== undefined) return found;
  const text = readFileSync(join(ROOT, file), 'utf8');
  const opens =
    PROVIDED.test(text) ||
    importsOf(file, text).some((each) => each.startsWith('test/') && opensDatabase(each, known));
  known.set(file, opens);
  return opens;
}
