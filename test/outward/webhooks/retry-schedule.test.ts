import { describe, expect, test, vi } from 'vitest';
import { EVENT_DAYS } from '../../../src/events/event.ts';
import {
  RETRY_SCHEDULE,
  retryWaitSeconds,
  scheduleOf,
} from '../../../src/outward/webhooks/retry-schedule.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { useService } from '../../support/service.ts';
import { appendCounted, makeWebhook } from './support.ts';

const DAY = 86_400;
const wait = (failures: number, options: Parameters<typeof retryWaitSeconds>[2] = { random: 0 }) =>
  retryWaitSeconds(RETRY_SCHEDULE, failures, options);

test('ten attempts, with growing waits', () => {
  const waits = Array.from({ length: 10 }, (_, at) => wait(at + 1));
  expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined]);
});

test('two more within a minute for a webhook that has accepted an event before', () => {
  const schedule = scheduleOf(RETRY_SCHEDULE, true);
  const waits = Array.from({ length: 5 }, (_, at) => retryWaitSeconds(schedule, at + 1, { random: 0 }));
  expect(waits).toEqual([5, 15, 45, 300, 1_800]);
  expect(retryWaitSeconds(schedule, 11, { random: 0 })).toBe(86_400);
  expect(retryWaitSeconds(schedule, 12)).toBeUndefined();
  expect(scheduleOf(RETRY_SCHEDULE, false)).toEqual(RETRY_SCHEDULE);
});

test('the event is still kept at the last attempt', () => {
  const { waitSeconds, jitter } = scheduleOf(RETRY_SCHEDULE, true);
  const longest = waitSeconds.reduce((sum, each) => sum + each) * (1 + jitter);
  expect(longest).toBeLessThan(EVENT_DAYS * DAY);
  expect(wait(1, { random: 1 })).toBe(5.5);
});

test('Retry-After makes a wait longer, up to a day, and never shorter', () => {
  expect(wait(1, { retryAfterSeconds: 60, random: 0 })).toBe(60);
  expect(wait(1, { retryAfterSeconds: 10 * DAY, random: 0 })).toBe(DAY);
  expect(wait(3, { retryAfterSeconds: 1, random: 0 })).toBe(1_800);
});

describe('a receiver that fails for a moment', () => {
  const schedule = { waitSeconds: [0.01, 3_600], quickSeconds: [0.01, 0.01], jitter: 0 };
  const app = useService({ webhooks: { ...FAST_WEBHOOKS, rules: { ...FAST_WEBHOOKS.rules!, schedule } } });
  const receiver = useReceiver();
  const settle = (work: () => void | Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 20 });

  test.each(['tenant', 'none'])(
    'gets the event soon if it has accepted one before: order %s',
    async (order) => {
      const tenant = await app.signUp();
      const path = `/healthy-${order}`;
      let refusals = 0;
      receiver.answer(path, () => (refusals-- > 0 ? 500 : 204));
      const { id } = await makeWebhook(app, tenant, receiver.url(path), { order, types: ['credit_spent'] });
      const show = async () => (await app.request('GET', `/v1/webhooks/${id}`, { key: tenant.key })).json;
      await appendCounted(app, tenant, 1);
      await settle(async () => expect((await show()).delivered_seq).toBe(1));
      refusals = 3;
      await appendCounted(app, tenant, 1, 2);
      await settle(async () =>
        expect(await show()).toMatchObject({ failures: 0, waiting: 0, delivered_seq: 2 }),
      );
      expect(receiver.received(path)).toHaveLength(5);
    },
  );

  test('waits longer if it has never accepted one', async () => {
    const tenant = await app.signUp();
    receiver.answer('/new', () => 500);
    const { id } = await makeWebhook(app, tenant, receiver.url('/new'), { types: ['credit_spent'] });
    await appendCounted(app, tenant, 1);
    await settle(async () => {
      const { failures, retry_at } = (await app.request('GET', `/v1/webhooks/${id}`, { key: tenant.key }))
        .json;
      expect([failures, Date.parse(retry_at) > Date.now() + 3_000_000]).toEqual([2, true]);
    });
  });
});
