import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DeliveryPace } from '../../../src/outward/webhooks/delivery-pace.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('without a limit nothing waits', () => {
  const pace = new DeliveryPace(null, 0);
  for (let sent = 0; sent < 3; sent += 1) {
    expect(pace.waitMs()).toBe(0);
    pace.begin();
  }
});

test('requests keep their distance, and what was missed is not made up for', () => {
  const pace = new DeliveryPace(4, null);
  expect(pace.waitMs()).toBe(0);
  pace.begin();
  expect(pace.waitMs()).toBe(250);
  vi.advanceTimersByTime(5_000);
  expect(pace.waitMs()).toBe(0);
  pace.begin();
  expect(pace.waitMs()).toBeGreaterThan(225);
});

test.each([
  [0, 500],
  [0.2, 300],
  [7, 0],
  // The turn before was cut short, so when it sent is not known.
  [-20, 500],
])('the first request after a turn that ended %d s ago waits %d ms', (idleSeconds, waitMs) => {
  expect(new DeliveryPace(2, idleSeconds).waitMs()).toBeCloseTo(waitMs);
});
