/** Numbers of options of a campaign. */
import { expect, test } from 'vitest';
import { readNumber } from '../../faults/read-number.ts';

const MINUTES: readonly (readonly [string | undefined, number | undefined])[] = [
  [undefined, 5],
  ['0.5', 0.5],
  ['60', 60],
  ...['0', '-1', 'abc', '', ' ', 'NaN', 'Infinity', '61'].map((text) => [text, undefined] as const),
];

test.each(MINUTES)('%s minutes are %s', (text, expected) => {
  expect(readNumber(text, 5, { min: 0.1, max: 60 })).toBe(expected);
});

test.each([
  ['7', 7],
  ['7.5', undefined],
])('%s as a whole number is %s', (text, expected) => {
  expect(readNumber(text, 1, { min: 0, isWhole: true })).toBe(expected);
});
