import { expect, test } from 'vitest';
import { describeRest } from '../../scripts/describe-rest.ts';
import { lintOpenApi } from '../../scripts/lint-openapi.ts';

// biome-ignore lint/suspicious/noExplicitAny: the description is spoiled below
const description = (await describeRest()) as any;

test('Spectral finds nothing in our description', async () => {
  expect(await lintOpenApi(description)).toEqual([]);
});

test.each([
  [
    'an operation without an id',
    (operation: Record<string, unknown>) => delete operation.operationId,
    'operation-operationId',
  ],
  [
    'an operation without a description',
    (operation: Record<string, unknown>) => delete operation.description,
    'operation-description',
  ],
  [
    'a tag that is not declared',
    (operation: Record<string, unknown>) => (operation.tags = ['other']),
    'operation-tag-defined',
  ],
])('it finds %s', async (_name, spoil, code) => {
  const spoiled = structuredClone(description);
  spoil(spoiled.paths['/v1/billing'].get);
  const findings = await lintOpenApi(spoiled);
  expect(findings).toContainEqual(
    expect.objectContaining({ code, path: expect.arrayContaining(['/v1/billing', 'get']) }),
  );
});
