import { afterEach, expect, test, vi } from 'vitest';
import {
  codeOf,
  countDownTo,
  countOf,
  dollars,
  exact,
  monthText,
  timeOf,
} from '../../../src/doors/consoles/components.ts';

afterEach(() => {
  vi.useRealTimers();
});

const shown = ({ text }: { readonly text: string }) => text.replace(/<[^>]+>/g, '');

test('a time is shown to the minute, in UTC', () => {
  const { text } = timeOf(new Date('2026-11-28T09:05:59.999Z'));
  expect(text).toBe(
    '<time datetime="2026-11-28T09:05:59.999Z" title="28 Nov 2026, 09:05 UTC">28 Nov 2026, 09:05</time>',
  );
});

test.each([
  [-1, 'now'],
  [999, 'now'],
  [1_000, 'in 0:00:01'],
  [119_999, 'in 0:01:59'],
  [7_200_000, 'in 2:00:00'],
  [90_061_000, 'in 25:01:01'],
])('%i ms are left: %s', (left, text) => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now });
  expect(shown(countDownTo(new Date(now + left)))).toBe(text);
});

test.each([
  [999_999_999n, '$1,000.00', '$999.999999'],
  [4_999n, '$0.00', '$0.004999'],
  [-4_999n, '$0.00', '-$0.004999'],
  [5_000n, '$0.01', '$0.005000'],
  [-5_000n, '-$0.01', '-$0.005000'],
  [1_234_567_890_000n, '$1,234,567.89', '$1,234,567.890000'],
  [-1_000_000_000n, '-$1,000.00', '-$1,000.000000'],
])('%i micros are %s, exactly %s', (micros, short, long) => {
  expect([dollars(micros), exact(micros)]).toEqual([short, long]);
});

test('months have their names, and those of other years the year', () => {
  const now = new Date('2026-11-28T00:00:00Z');
  expect(monthText('2026-01' as never, now)).toBe('January');
  expect(monthText('2025-12' as never, now)).toBe('December 2025');
});

test.each([
  [0, '0 records'],
  [1n, '1 record'],
  [3_002n, '3,002 records'],
])('%s of a noun are %s', (count, text) => {
  expect(countOf(count, 'record')).toBe(text);
});

test.each([
  ['room_created', '<code class="words">room_<wbr>created</code>'],
  ['boxoffice.room_ended', '<code class="words">boxoffice.<wbr>room_<wbr>ended</code>'],
  ['<b>', '<code class="words">&lt;b&gt;</code>'],
])('a line may end between the words of %s', (words, text) => {
  expect(codeOf(words).text).toBe(text);
});
