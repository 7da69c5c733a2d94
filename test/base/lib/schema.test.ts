import Typebox from 'typebox';
import { describe, expect, test } from 'vitest';
import { faultFinder, type Static, Type } from '../../../src/base/lib/schema.ts';

describe('Type', () => {
  const examples = (of: typeof Type) => ({
    array: of.Array(of.Boolean(), { maxItems: 5 }),
    literal: [of.Literal('usd'), of.Literal(5), of.Literal(true)],
    members: of.Object({ a: of.String(), b: of.Optional(of.Integer({ minimum: 0 })) }),
    noMembers: of.Object({}),
    onlyOptional: of.Object({ a: of.Optional(of.Null()) }, { additionalProperties: false }),
    text: of.String({ pattern: '^a$', description: 'An a' }),
    union: of.Union([of.String(), of.Null()], { description: 'Either' }),
    unsafe: of.Unsafe<bigint>({ type: 'integer', format: 'int64' }),
  });

  test.each(Object.keys(examples(Type)) as (keyof ReturnType<typeof examples>)[])(
    'builds what TypeBox builds: %s',
    (name) => {
      // As text: TypeBox marks its schemas with members that JSON leaves out.
      expect(JSON.stringify(examples(Type)[name])).toBe(JSON.stringify(examples(Typebox)[name]));
    },
  );

  test('an optional member stays optional with another description', () => {
    const member = { ...Type.Optional(Type.String()), description: 'Another' };
    expect(JSON.stringify(Type.Object({ member }))).not.toContain('required');
  });
});

describe('faultFinder', () => {
  const schema = Type.Object(
    { name: Type.String(), inner: Type.Optional(Type.Object({ n: Type.Integer() })) },
    { additionalProperties: false },
  );
  const findFault = faultFinder(schema);

  test('finds no fault in what fits', () => {
    const value: Static<typeof schema> = { name: 'a', inner: { n: 1 } };
    expect(findFault(value)).toBeUndefined();
  });

  test.each<[unknown, string, string]>([
    [1, '', 'must be object'],
    [{}, '', "must have required property 'name'"],
    [{ name: 1 }, '/name', 'must be string'],
    [{ name: 'a', inner: { n: 1.5 } }, '/inner/n', 'must be integer'],
    [{ name: 'a', more: 1 }, '/more', 'is not a known field'],
  ])('%j: %s %s', (value, path, message) => {
    expect(findFault(value)).toStrictEqual({ path, message });
  });
});
