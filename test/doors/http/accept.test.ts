import { expect, test } from 'vitest';
import { preferredType } from '../../../src/doors/http/accept.ts';

test.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['image/png', 'application/json'],
  ['text/csv', 'text/csv'],
  ['image/png, TEXT/CSV;q=0.5', 'text/csv'],
  ['text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8', 'text/html'],
  ['application/json, text/csv', 'application/json'],
  ['text/csv, application/json', 'text/csv'],
  // Weights.
  ['text/csv;q=0.1, application/json', 'application/json'],
  ['text/csv;q=0.1, application/json;q=0.2, text/html;q=0.15', 'application/json'],
  ['text/csv ; Q=0.999 , text/html;q=1.000', 'text/html'],
  ['text/csv;q=0.001', 'text/csv'],
  ['text/html;level=1;q=0.1, text/csv;q=0.2', 'text/csv'],
  // A weight of 0 refuses.
  ['application/json;q=0, text/csv;q=0.1', 'text/csv'],
  ['application/json;q=0.000, */*', 'text/csv'],
  ['text/csv;q=0, */*;q=0.1', 'application/json'],
  ['text/*;q=0, */*', 'application/json'],
  // The more exact range counts, wherever it stands.
  ['*/*, text/html;q=0.5', 'application/json'],
  ['text/*;q=0.9, text/csv;q=0.1, application/json;q=0.5', 'text/html'],
  ['*/*, text/csv', 'text/csv'],
  ['text/*, */*', 'text/csv'],
  // What no range wants is answered all the same.
  ['*/*;q=0', 'application/json'],
  ['application/json;q=0', 'application/json'],
  // A malformed weight says nothing of its type.
  ['text/csv;q=2', 'application/json'],
  ['text/csv;q=-1, text/html;q=0.1', 'text/html'],
  ['text/csv;q=, text/html;q="1"', 'application/json'],
  // Quotes.
  ['text/csv;x="a,b;q=1";q=0.1, application/json;q=0.2', 'application/json'],
  ['text/csv;x="', 'text/csv'],
  [',;,text/csv,', 'text/csv'],
  // As long as any browser's, and far too long.
  ['text/csv;q=0.5,'.repeat(60), 'text/csv'],
  ['text/csv;q=0.5,'.repeat(80), 'application/json'],
])('Accept: %s is answered with %s', (accept, type) => {
  expect(preferredType(accept, ['application/json', 'text/csv', 'text/html'])).toBe(type);
});

test('a header of 16 KiB takes no time', () => {
  const types = ['application/json', 'text/csv'] as const;
  for (const each of [',', ';', '"', 'q=', '"\\', 'text/csv;q=0.1,', 'a/b;x="y,']) {
    const start = process.threadCpuUsage();
    preferredType(each.repeat(16_384 / each.length), types);
    expect(process.threadCpuUsage(start).user, each).toBeLessThan(500_000);
  }
});
