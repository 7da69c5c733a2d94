import { expect, test } from 'vitest';
import { EVENT_DAYS } from '../../../src/events/event.ts';
import { RETRY_SCHEDULE, retryWaitSeconds } from '../../../src/outward/webhooks/retry-schedule.ts';

const DAY = 86_400;
const wait = (failures: number, options: Parameters<typeof retryWaitSeconds>[2] = { random: 0 }) =>
  retryWaitSeconds(RETRY_SCHEDULE, failures, options);

test('ten attempts, with growing waits', () => {
  const waits = Array.from({ length: 10 }, (_, at) => wait(at + 1));
  expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined]);
});

test('the event is still kept at the last attempt', () => {
  const longest = Array.from({ length: 9 }, (_, at) => wait(at + 1, { random: 1 })!);
  expect(longest.reduce((sum, each) => sum + each)).toBeLessThan(EVENT_DAYS * DAY);
  expect(longest[0]).toBe(5.5);
});

test('Retry-After makes a wait longer, up to a day, and never shorter', () => {
  expect(wait(1, { retryAfterSeconds: 60, random: 0 })).toBe(60);
  expect(wait(1, { retryAfterSeconds: 10 * DAY, random: 0 })).toBe(DAY);
  expect(wait(3, { retryAfterSeconds: 1, random: 0 })).toBe(1_800);
});
