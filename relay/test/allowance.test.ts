import { expect, test, vi } from 'vitest';
import { Allowance } from '../src/allowance.ts';

test('a participant may send its rate, and twice that for a second', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const allowance = new Allowance(80_000);
  const taken = (bytes: number) => {
    let count = 0;
    while (allowance.take(bytes)) count += 1;
    return count;
  };
  expect(taken(1_000)).toBe(20);
  vi.advanceTimersByTime(500);
  expect(taken(1_000)).toBe(5);
  // Small packets count as 200 bytes.
  vi.advanceTimersByTime(1_000);
  expect(taken(12)).toBe(50);
  vi.advanceTimersByTime(60_000);
  expect(taken(1_000)).toBe(20);
  vi.useRealTimers();
});
