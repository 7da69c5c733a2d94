import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeRest } from '../../../scripts/describe-rest.ts';
import { makeTypes } from '../../../scripts/make-rest-types.ts';
import { AS_IS, INTEGERS, TIMES } from '../../../sdk/typescript/src/backend/rest-types.ts';

test('the types of the REST interface are those of its description', async () => {
  const file = new URL('../../../sdk/typescript/src/backend/rest-types.ts', import.meta.url);
  expect(await readFile(file, 'utf8')).toBe(await makeTypes());
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly additionalProperties?: boolean;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Members of answers, wherever they stand. */
function membersOf({ properties = {}, items }: Schema): [string, Schema][] {
  const own = Object.entries(properties);
  return [...own, ...[...own.map(([, each]) => each), ...(items ? [items] : [])].flatMap(membersOf)];
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { schema: Schema }> }>>;
}

/** The client has both as `bigint`. */
const WHOLE_NUMBERS = ['int64', 'bigint'];

test('a name in answers means the same everywhere, because the client converts by name', async () => {
  const [{ paths }, types] = [(await describeRest()) as Described, await makeTypes()];
  const members = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => types.includes(`'${method.toUpperCase()} ${path}': {`))
      .flatMap(([, { responses }]) => Object.values(responses))
      .flatMap(({ content }) => membersOf(content?.['application/json']?.schema ?? {})),
  );
  expect(members.length).toBeGreaterThan(100);
  const wrong = members.filter(
    ([name, { type, format }]) =>
      (TIMES.has(name) && format !== 'date-time') ||
      (INTEGERS.has(name) &&
        !AS_IS.has(name) &&
        (type !== 'integer' || !WHOLE_NUMBERS.includes(format ?? ''))),
  );
  expect(wrong).toStrictEqual([]);
  // `after` is a number in one answer, and an object in another: the client tells them apart.
  const kept = members.filter(([name]) => AS_IS.has(name));
  const isKept = ([, { type, format, additionalProperties }]: (typeof kept)[number]) =>
    (type === 'object' && additionalProperties === true) || (type === 'integer' && format === 'int64');
  expect(kept.filter((each) => !isKept(each))).toStrictEqual([]);
});
