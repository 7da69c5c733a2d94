import { describe, expect, test } from 'vitest';
import {
  LANE_RULES,
  LANES,
  laneOf,
  SLOW_MS,
  standingAfter,
} from '../../../src/outward/webhooks/delivery-lane.ts';
import { WEBHOOKS_MAX } from '../../../src/outward/webhooks/webhook.ts';

const QUICK = { isDelivered: true, latencyMs: SLOW_MS };
const SLOW = { isDelivered: true, latencyMs: SLOW_MS + 1 };
const FAILED = { isDelivered: false, latencyMs: 5 };

describe('a webhook is in the lane', () => {
  test.each([
    ['a new one', [], 'fast', 'pending_slow'],
    ['two quick deliveries', Array(2).fill(QUICK), 'fast', 'pending_slow'],
    ['three quick deliveries', Array(3).fill(QUICK), 'fast', 'pending_fast'],
    ['a slow one', [SLOW], 'slow', 'pending_slow'],
    ['a failure', [FAILED], 'slow', 'pending_slow'],
    ['a failure after many quick ones', [...Array(1_000).fill(QUICK), FAILED], 'slow', 'pending_slow'],
    ['9 quick ones after a slow one', [SLOW, ...Array(9).fill(QUICK)], 'slow', 'pending_slow'],
    ['10 quick ones after a slow one', [SLOW, ...Array(10).fill(QUICK)], 'fast', 'pending_slow'],
    ['13 quick ones after a failure', [FAILED, ...Array(13).fill(QUICK)], 'fast', 'pending_fast'],
    ['9 quick ones between slow ones', [SLOW, ...Array(9).fill(QUICK), SLOW, QUICK], 'slow', 'pending_slow'],
  ] as const)('after %s', (_what, attempts, paid, pending) => {
    const standing = attempts.reduce<number>(standingAfter, 0);
    expect(laneOf({ isPending: false, standing })).toBe(paid);
    expect(laneOf({ isPending: true, standing })).toBe(pending);
  });
});

test('no tenant has half of a lane', () => {
  for (const lane of LANES) {
    const { places, placesPerTenant } = LANE_RULES[lane];
    expect(2 * Math.min(placesPerTenant, WEBHOOKS_MAX)).toBeLessThan(places);
  }
});
