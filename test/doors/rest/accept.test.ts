import { expect, test } from 'vitest';
import { preferredType } from '../../../src/doors/rest/accept.ts';

test.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['image/png', 'application/json'],
  ['text/csv', 'text/csv'],
  ['image/png, TEXT/CSV;q=0.5', 'text/csv'],
  ['text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8', 'text/html'],
  ['application/json, text/csv', 'application/json'],
])('Accept: %s is answered with %s', (accept, type) => {
  expect(preferredType(accept, ['application/json', 'text/csv', 'text/html'])).toBe(type);
});
