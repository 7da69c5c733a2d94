import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Progress } from '../../faults/progress.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('it tells at once what begins, and once a second for how long it goes on and what it has come to', () => {
  const told: string[] = [];
  const progress = new Progress((line) => told.push(line));
  let rule = 'rule 1';
  progress.begin('settling');
  vi.advanceTimersByTime(1_500);
  progress.begin('checking', () => rule);
  rule = 'rule 2';
  vi.advanceTimersByTime(1_000);
  progress.end();
  vi.advanceTimersByTime(9_000);
  expect(told).toEqual(['settling, 0 s', 'settling, 1 s', 'checking, 0 s: rule 1', 'checking, 1 s: rule 2']);
});
