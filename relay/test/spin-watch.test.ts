import { expect, test, vi } from 'vitest';
import { watchForSpin } from '../src/spin-watch.ts';

vi.mock('node:fs', () => ({
  readdirSync: () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  },
  readFileSync: () => '',
}));

test.runIf(process.platform === 'linux')('without descriptors the watch goes on, and ends nothing', () => {
  vi.useFakeTimers();
  const onSpin = vi.fn();
  watchForSpin(onSpin);
  expect(() => vi.advanceTimersByTime(30_000)).not.toThrow();
  expect(onSpin).not.toHaveBeenCalled();
  vi.useRealTimers();
});
