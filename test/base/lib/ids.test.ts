import { expect, test } from 'vitest';
import { isId, newId } from '../../../src/base/lib/ids.ts';

test('an id has its prefix and 32 hex digits', () => {
  const id = newId('co');
  expect(isId('co', id)).toBe(true);
  for (const text of [
    '',
    'co',
    'co_',
    `${id}0`,
    id.slice(0, -1),
    id.replace('_', '-'),
    `x${id}`,
    `${id}\n`,
  ]) {
    expect(isId('co', text), text).toBe(false);
  }
  expect(isId('c', id)).toBe(false);
  expect(isId('wh', id)).toBe(false);
  expect(isId('co', `co_${'A'.repeat(32)}`)).toBe(false);
});
