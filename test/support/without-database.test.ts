/** What runs once instead of twice is what opens no database, however it would do so. */
import { expect, test } from 'vitest';
import { listWithoutDatabase } from './without-database.ts';

test.each([
  ['pure functions', 'test/money/records/known-ids/id-hash.test.ts'],
  ['imports support that opens none', 'test/control/streams/stream-limit.test.ts'],
])('a file without a database: %s', (_, file) => {
  expect(listWithoutDatabase([file])).toEqual([file]);
});

test.each([
  ['imports it', 'test/events/listen.test.ts'],
  ['starts a service', 'test/money/cards/saved-cards.test.ts'],
  ['through support of its folder', 'test/money/payments/worker.test.ts'],
  ['takes one that the run provides', 'test/base/db/migrate.test.ts'],
])('a file with a database: %s', (_, file) => {
  expect(listWithoutDatabase([file])).toEqual([]);
});

test('most files of an area that charges have one', () => {
  const files = listWithoutDatabase(['test/money/usage/**/*.test.ts']);
  expect(files).toContain('test/money/usage/charge-queue.test.ts');
  expect(files).not.toContain('test/money/usage/charge-usage.test.ts');
});
