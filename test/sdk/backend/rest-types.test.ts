import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { makeTypes } from '../../../scripts/make-rest-types.ts';

test('the types of the REST interface are those of its description', async () => {
  const file = new URL('../../../sdk/typescript/src/backend/rest-types.ts', import.meta.url);
  expect(await readFile(file, 'utf8')).toBe(await makeTypes());
});
