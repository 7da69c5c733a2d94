import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { nameOf, readTable, rowsOf, SERVICES } from '../../scripts/error-table.ts';
import { makeDocs } from '../../scripts/make-error-docs.ts';
import { makeKinds } from '../../scripts/make-error-kinds.ts';

const table = readTable();
const methods = SERVICES.flatMap((service) => service.methods);
const committed = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

it('makes the page that is committed', async () => {
  expect(makeDocs(table)).toBe(await committed('docs/control-plane-errors.md'));
});

it.each(Object.entries(makeKinds(table)))('makes %s', async (path, text) => {
  expect(text).toBe(await committed(path));
});

describe('the table', () => {
  it('names every method, and no other', () => {
    expect(Object.keys(table.methods)).toStrictEqual(methods.map(nameOf));
  });

  it('defines each condition once, and none that no method has', () => {
    const defined = table.conditions.flatMap((group) => Object.keys({ ...group.common, ...group.own }));
    expect(new Set(defined).size).toBe(defined.length);
    const listed = new Set(methods.flatMap((method) => rowsOf(table, method).map((row) => row.condition)));
    expect([...listed].sort()).toStrictEqual(defined.sort());
    const own = table.conditions.flatMap((group) => Object.keys(group.own ?? {}));
    expect(Object.values(table.methods).flat()).toSatisfy((names: string[]) =>
      names.every((name) => own.includes(name)),
    );
  });

  it('gives each reason one code, and each code a kind', () => {
    const codes = new Map(table.conditions.map(({ reason, code }) => [reason, code]));
    for (const { reason, code } of table.conditions) expect(codes.get(reason)).toBe(code);
    const known = table.kinds.map(({ code }) => code);
    for (const { code } of [...table.conditions, ...table.anytime]) expect(known).toContain(code);
  });

  it('names a field for every condition about the request', () => {
    for (const group of table.conditions) {
      for (const [name, { field }] of Object.entries({ ...group.common, ...group.own })) {
        expect([name, field !== undefined]).toStrictEqual([name, group.code === 'INVALID_ARGUMENT']);
      }
    }
  });
});
