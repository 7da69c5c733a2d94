import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFeatureNouns } from './support/feature-nouns.ts';
import { breaches, findPairs, importsOf, RULES, strays } from './support/import-rules.ts';

const ROOT = join(import.meta.dirname, '..');
const files = new Map(
  globSync(['src/**/*.ts', 'sandbox/**/*.ts'], { cwd: ROOT })
    .sort()
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

describe('the project', () => {
  test('every file of src stands in a wing', () => {
    expect(strays(files)).toEqual([]);
  });

  test.each(Object.keys(RULES))('%s', (rule) => {
    expect(breaches(rule, files)).toEqual([]);
  });

  test('base names no feature, but in the list of failures and in what logs hide', () => {
    const named = findFeatureNouns(files).map((found) => found.split(':')[0]);
    expect([...new Set(named)].toSorted()).toEqual(['src/base/failure.ts', 'src/base/telemetry/log.ts']);
  });

  test('no two folders know each other', () => {
    expect(findPairs(files)).toEqual([]);
  });
});

describe('made-up files', () => {
  test('a file outside the wings is a stray', () => {
    const made = ['src/main.ts', 'src/gen/a.ts', 'src/base/a.ts', 'sandbox/a.ts'];
    expect(strays(new Map(made.map((file) => [file, ''])))).toEqual(['src/main.ts', 'src/gen/a.ts']);
  });

  test.each([
    ['a name', 'export const roomsMax = 5;', 'roomsMax'],
    ['a type', 'interface BanFilter {}', 'BanFilter'],
    ['a table', 'const text = `insert into payment_settings (tenant_id)`;', 'payment_settings'],
    ['a metric', "const name = 'boxoffice_watchdog_looks_total';", 'boxoffice_watchdog_looks_total'],
    ['a message', "throw new Error('no such webhook');", 'webhook'],
  ])('%s of a feature is found in base', (_what, text, word) => {
    expect(findFeatureNouns(new Map([['src/base/a.ts', text]]))).toEqual([`src/base/a.ts: ${word}`]);
    expect(findFeatureNouns(new Map([['src/money/a.ts', text]]))).toEqual([]);
  });

  test('other words of base, and its comments, are none of a feature', () => {
    const text = '/** Rooms. */\n// A ban.\nconst hasKey = banner.join(wildcard); // a card\n';
    expect(findFeatureNouns(new Map([['src/base/a.ts', text]]))).toEqual([]);
  });

  test('folders that know each other are found, but not one inside the other', () => {
    const made = new Map([
      ['src/money/a/one.ts', "import { two } from '../b/two.ts';"],
      ['src/money/b/two.ts', "import type { Three } from '../a/three.ts';"],
      ['src/money/b/in/four.ts', "import { two } from '../two.ts';"],
      ['src/money/b/five.ts', "import { four } from './in/four.ts';"],
    ]);
    expect(findPairs(made)).toEqual(['src/money/a <-> src/money/b']);
  });

  test.each([
    ['a wing imports no later wing', 'src/base/limits/a.ts', '../../money/b.ts', '../tenants/b.ts'],
    ['a wing imports no later wing', 'src/money/usage/a.ts', '../../control/b.ts', '../pricing/b.ts'],
    ['a wing imports no later wing', 'src/doors/rest/a.ts', '../../run/b.ts', '../../control/b.ts'],
    [
      'lib, db, telemetry and failure know nothing else of base',
      'src/base/lib/a.ts',
      '../tenants/b.ts',
      '../failure.ts',
    ],
    [
      'lib, db, telemetry and failure know nothing else of base',
      'src/base/failure.ts',
      './deps.ts',
      './lib/b.ts',
    ],
    ['a door imports no other door', 'src/doors/join/a.ts', '../rest/b.ts', '../http/b.ts'],
    ['a door imports no other door', 'src/doors/http/a.ts', '../grpc/b.ts', './b.ts'],
    ['a door imports no other door', 'src/doors/grpc/a.ts', '../ops/b.ts', '../grpc/b.ts'],
    [
      'doors/deps.ts is for doors and run',
      'src/access/keys/a.ts',
      '../../doors/deps.ts',
      '../../base/deps.ts',
    ],
    ['doors/deps.ts is for doors and run', 'src/base/a.ts', '../doors/deps.ts', './deps.ts'],
    ['a door leaves SQL to the features', 'src/doors/ops/a.ts', '../../money/b.sql.ts', '../../money/b.ts'],
    ['a door leaves SQL to the features', 'src/doors/http/a.ts', '../../base/b.sql.ts', '../../base/b.ts'],
    [
      'where tables are, only SQL asks, and what opens the database',
      'src/control/rooms/a.ts',
      '../../base/db/distribution.ts',
      '../../base/db/pool.ts',
    ],
    [
      'src imports nothing outside, except run/start-sandbox.ts the sandbox',
      'src/run/main.ts',
      '../../sandbox/server.ts',
      './b.ts',
    ],
    [
      'src imports nothing outside, except run/start-sandbox.ts the sandbox',
      'src/run/start-sandbox.ts',
      '../../test/b.ts',
      '../../sandbox/server.ts',
    ],
    ['the sandbox imports nothing outside', 'sandbox/http/a.ts', '../../src/base/b.ts', '../b.ts'],
  ])('%s: %s may not import %s, and may import %s', (rule, file, forbidden, allowed) => {
    const find = (path: string) => breaches(rule, new Map([[file, `import type { B } from '${path}';\n`]]));
    expect(find(forbidden)).toEqual([expect.stringMatching(`^${file} -> (src|sandbox|test)/`)]);
    expect(find(allowed)).toEqual([]);
  });

  test('every kind of import is read, over several lines too; packages and prose are not', () => {
    const text = `
/** Unlike \`from './prose.ts'\`, this counts. */
import './bare.ts';
import pg from 'pg';
import { type A, b } from './static.ts';
import type { C } from '../type.ts';
import {
  d,
  e,
} from './several/lines.ts';
export { f } from './re-export.ts';
export * from './everything.ts';
export const g = Array.from('./not-an-import.ts');
const h = await import('./dynamic.ts');
let i: import('./inline-type.ts').I;
`;
    expect(importsOf('src/money/a.ts', text).sort()).toEqual(
      [
        'src/money/bare.ts',
        'src/money/dynamic.ts',
        'src/money/everything.ts',
        'src/money/inline-type.ts',
        'src/money/re-export.ts',
        'src/money/several/lines.ts',
        'src/money/static.ts',
        'src/type.ts',
      ].sort(),
    );
  });
});
