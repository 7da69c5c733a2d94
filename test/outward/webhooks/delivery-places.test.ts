import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { CROWDED_MS, LANE_RULES, type Lane, SLOW_MS } from '../../../src/outward/webhooks/delivery-lane.ts';
import { DeliveryPlaces, type Place } from '../../../src/outward/webhooks/delivery-places.ts';

let places: DeliveryPlaces;
let cut: Place[];
const freed = vi.fn();
const cuts = { inc: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers();
  cuts.inc.mockReset();
  freed.mockReset();
  cut = [];
  places = new DeliveryPlaces(cuts, freed);
});
afterEach(() => {
  vi.useRealTimers();
});

const take = (tenant: TenantId, lane: Lane, isFailing = false) => places.take({ tenant, lane, isFailing });

/** A request that is never answered. */
function hang(place: Place): void {
  const answer = places.during(
    place,
    (signal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          cut.push(place);
          resolve();
        });
      }),
  );
  void answer.then(() => places.release(place));
}

/** Take places with requests that are never answered. */
function hangMany(count: number, lane: Lane, tenant = newTenantId()): Place[] {
  return Array.from({ length: count }, () => {
    const place = take(tenant, lane)!;
    hang(place);
    return place;
  });
}

/** So that the lane is full, of tenants with one place each. */
const fill = (lane: Lane) => {
  while (places.taken(lane) < LANE_RULES[lane].places) hangMany(1, lane);
};

describe('a request', () => {
  test('that is answered at once keeps its lane', async () => {
    const place = take(newTenantId(), 'fast')!;
    expect(await places.during(place, async () => 'ok')).toBe('ok');
    vi.advanceTimersByTime(10 * SLOW_MS);
    expect([place.lane, place.isLeft]).toEqual(['fast', false]);
    places.release(place);
    expect(places.taken('fast')).toBe(0);
  });

  test('that takes long goes on in the slow lane, and the turn ends after it', () => {
    const [place] = hangMany(1, 'fast');
    vi.advanceTimersByTime(SLOW_MS - 1);
    expect(place!.lane).toBe('fast');
    vi.advanceTimersByTime(1);
    expect([place!.lane, place!.isLeft]).toEqual(['slow', true]);
    expect([places.taken('fast'), places.taken('slow')]).toEqual([0, 1]);
    expect(freed).toHaveBeenLastCalledWith('fast');
    expect(cut).toEqual([]);
  });

  test('leaves the fast lane earlier if another tenant waits for it', () => {
    fill('fast');
    expect(take(newTenantId(), 'fast')).toBeUndefined();
    vi.advanceTimersByTime(CROWDED_MS);
    expect(take(newTenantId(), 'fast')).toBeDefined();
    expect([places.taken('fast'), places.taken('slow')]).toEqual([LANE_RULES.fast.places, 1]);
    expect(cut).toEqual([]);
  });

  test('that becomes slow while the slow lane is full cuts off the longest one of the tenant with most places', () => {
    const hostile = newTenantId();
    const [longest] = hangMany(5, 'slow', hostile);
    fill('slow');
    vi.advanceTimersByTime(SLOW_MS);
    const [place] = hangMany(1, 'fast');
    vi.advanceTimersByTime(SLOW_MS);
    expect(cut).toEqual([longest]);
    expect(cuts.inc).toHaveBeenCalledTimes(1);
    expect(place!.lane).toBe('slow');
    expect(places.taken('slow')).toBe(LANE_RULES.slow.places);
  });

  test('is cut off itself if none is late', () => {
    const [place] = hangMany(1, 'fast');
    vi.advanceTimersByTime(SLOW_MS - 1);
    fill('slow');
    vi.advanceTimersByTime(1);
    expect(cut).toEqual([place]);
    expect(place!.isLeft).toBe(true);
  });
});

describe('a full slow lane', () => {
  test('gives a place to a webhook that does not fail, of the late requests of the tenant with most', () => {
    const [longest] = hangMany(3, 'pending_slow');
    fill('pending_slow');
    expect(take(newTenantId(), 'pending_slow')).toBeUndefined();
    vi.advanceTimersByTime(SLOW_MS);
    expect(take(newTenantId(), 'pending_slow', true)).toBeUndefined();
    expect(take(newTenantId(), 'pending_slow')).toBeDefined();
    expect(cut).toEqual([longest]);
    expect(places.taken('pending_slow')).toBe(LANE_RULES.pending_slow.places);
  });

  test('gives a tenant with its whole share only what it has itself', () => {
    const tenant = newTenantId();
    const [longest] = hangMany(LANE_RULES.pending_slow.placesPerTenant, 'pending_slow', tenant);
    hangMany(LANE_RULES.pending_slow.placesPerTenant, 'pending_slow');
    vi.advanceTimersByTime(SLOW_MS);
    expect(take(tenant, 'pending_slow')).toBeDefined();
    expect(cut).toEqual([longest]);
  });

  test('takes nothing from the other lanes', () => {
    fill('pending_slow');
    for (const lane of ['fast', 'slow', 'pending_fast'] as const)
      expect(take(newTenantId(), lane)).toBeDefined();
  });
});

test('those that do not fail come first, then tenants with few places', () => {
  const [many, few, failing] = [newTenantId(), newTenantId(), newTenantId()];
  hangMany(2, 'slow', many);
  hangMany(1, 'slow', few);
  const seekers = [
    { id: 'c', tenant: failing, lane: 'slow', isFailing: true },
    { id: 'b', tenant: many, lane: 'slow', isFailing: false },
    { id: 'a', tenant: few, lane: 'slow', isFailing: false },
  ] as const;
  const order: string[] = [];
  const left = new Set<(typeof seekers)[number]>(seekers);
  while (left.size > 0) {
    const { seeker } = places.takeNext('slow', left)!;
    left.delete(seeker);
    order.push(seeker.id);
  }
  expect(order).toEqual(['a', 'b', 'c']);
});

test('when the service stops, every request ends, and its outcome does not count', () => {
  const hanging = [...hangMany(2, 'fast'), ...hangMany(2, 'pending_slow')];
  places.abortAll();
  expect(cut).toEqual(hanging);
  expect(hanging.every(({ isAborted }) => isAborted)).toBe(true);
});
