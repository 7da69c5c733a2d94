/**
 * The places of all lanes in this process. A turn of a webhook has one.
 *
 * A place moves. A request that is not answered soon leaves the fast lane and goes on in the slow one. If that is full,
 * the tenant that has most of it loses the request that has been under way for longest. So places become free within a
 * second whatever receivers do, and a tenant that waits takes them from tenants that have more.
 */
import type { Counter } from 'prom-client';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { CROWDED_MS, LANE_RULES, LANES, type Lane, SLOW_MS } from './delivery-lane.ts';
import { RequestError } from './request-error.ts';

/** What asks for a place. */
export interface PlaceSeeker {
  readonly tenant: TenantId;
  readonly lane: Lane;
  /** Its last attempt failed. It waits for a free place, and takes none from others. */
  readonly isFailing: boolean;
}

interface PlacedRequest {
  readonly startedAt: number;
  readonly controller: AbortController;
  /** It has had `CROWDED_MS`, so it may be moved. */
  isOld: boolean;
  /** It has had `SLOW_MS`, so it may be cut off. */
  isLate: boolean;
}

class Place {
  readonly tenant: TenantId;
  lane: Lane;
  /** The request that is under way. */
  request: PlacedRequest | undefined;
  /** The turn has to end: the webhook belongs into another lane, or its place is gone. */
  isLeft = false;
  /** The request was ended by the service itself, not for others: its outcome does not count. */
  isAborted = false;
  /** It is free once its request has ended. */
  isReleased = false;

  constructor(tenant: TenantId, lane: Lane) {
    this.tenant = tenant;
    this.lane = lane;
  }
}

export type { Place };

class LanePlaces {
  readonly #lane: Lane;
  readonly #places = new Set<Place>();
  readonly #ofTenants = new Map<TenantId, number>();

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  get size(): number {
    return this.#places.size;
  }

  get isFull(): boolean {
    return this.#places.size >= LANE_RULES[this.#lane].places;
  }

  of(tenant: TenantId): number {
    return this.#ofTenants.get(tenant) ?? 0;
  }

  isFullFor(tenant: TenantId): boolean {
    return this.isFull || this.isAtShare(tenant);
  }

  isAtShare(tenant: TenantId): boolean {
    return this.of(tenant) >= LANE_RULES[this.#lane].placesPerTenant;
  }

  add(place: Place): void {
    this.#places.add(place);
    this.#ofTenants.set(place.tenant, this.of(place.tenant) + 1);
    place.lane = this.#lane;
  }

  delete(place: Place): void {
    if (!this.#places.delete(place)) return;
    const left = this.of(place.tenant) - 1;
    if (left > 0) this.#ofTenants.set(place.tenant, left);
    else this.#ofTenants.delete(place.tenant);
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#places.values();
  }

  /** The oldest of the requests that are old or late, of the tenant with most places. `only`: of this tenant. */
  findLongest(what: 'isOld' | 'isLate', only: TenantId | undefined): Place | undefined {
    let longest: Place | undefined;
    for (const place of this.#places) {
      if (!place.request?.[what] || (only !== undefined && place.tenant !== only)) continue;
      const more = longest ? this.of(place.tenant) - this.of(longest.tenant) : 1;
      const isOlder = place.request.startedAt < (longest?.request?.startedAt ?? Number.POSITIVE_INFINITY);
      if (more > 0 || (more === 0 && isOlder)) longest = place;
    }
    return longest;
  }
}

export class DeliveryPlaces {
  readonly #lanes = Object.fromEntries(LANES.map((lane) => [lane, new LanePlaces(lane)])) as Record<
    Lane,
    LanePlaces
  >;
  readonly #cuts: Pick<Counter, 'inc'>;
  readonly #onChange: (lane: Lane) => void;

  /** `onChange`: what waits for a place of the lane may get one now. */
  constructor(cuts: Pick<Counter, 'inc'>, onChange: (lane: Lane) => void) {
    this.#cuts = cuts;
    this.#onChange = onChange;
  }

  /** How many places of a lane are taken. */
  taken(lane: Lane): number {
    return this.#lanes[lane].size;
  }

  /** The next one of the lane that gets a place, and its place: those that do not fail first, and tenants with few places. */
  takeNext<Seeker extends PlaceSeeker>(
    lane: Lane,
    seekers: Iterable<Seeker>,
  ): { readonly seeker: Seeker; readonly place: Place } | undefined {
    const places = this.#lanes[lane];
    const inTurn = [...seekers].sort(
      (a, b) => Number(a.isFailing) - Number(b.isFailing) || places.of(a.tenant) - places.of(b.tenant),
    );
    for (const seeker of inTurn) {
      const place = this.take(seeker);
      if (place) return { seeker, place };
      // No other tenant gets one either.
      if (places.isFull && !places.isAtShare(seeker.tenant)) return undefined;
    }
    return undefined;
  }

  /** `undefined`: there is none now. */
  take({ tenant, lane, isFailing }: PlaceSeeker): Place | undefined {
    if (this.#lanes[lane].isFullFor(tenant) && (isFailing || !this.#makeRoom(lane, tenant))) return undefined;
    return this.#add(tenant, lane);
  }

  /** A place that is free, within the share of the tenant; none is taken from others. */
  takeFree(tenant: TenantId, lane: Lane): Place | undefined {
    return this.#lanes[lane].isFullFor(tenant) ? undefined : this.#add(tenant, lane);
  }

  #add(tenant: TenantId, lane: Lane): Place {
    const place = new Place(tenant, lane);
    this.#lanes[lane].add(place);
    return place;
  }

  /** Nothing more is sent in it. If a request is under way, it is free after that. */
  release(place: Place): void {
    place.isReleased = true;
    if (place.request) return;
    this.#lanes[place.lane].delete(place);
    this.#onChange(place.lane);
  }

  /** Send one request in the place. */
  async during<T>(place: Place, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const request = { startedAt: performance.now(), controller, isOld: false, isLate: false };
    place.request = request;
    const crowded = setTimeout(() => {
      request.isOld = true;
      this.#onChange(place.lane);
    }, CROWDED_MS);
    const late = setTimeout(() => {
      request.isLate = true;
      this.#noteLate(place);
    }, SLOW_MS);
    try {
      return await send(controller.signal);
    } finally {
      clearTimeout(crowded);
      clearTimeout(late);
      place.request = undefined;
      if (place.isReleased) this.release(place);
    }
  }

  /** End all requests. Their outcome is unknown, and does not count. */
  abortAll(): void {
    for (const lane of LANES) {
      for (const place of this.#lanes[lane]) {
        place.isAborted = true;
        place.request?.controller.abort();
      }
    }
  }

  /** One place for the tenant. In the fast lane, a request moves on if there is room; in the slow one, it is cut off. */
  #makeRoom(lane: Lane, tenant: TenantId): boolean {
    const only = this.#lanes[lane].isAtShare(tenant) ? tenant : undefined;
    const { next } = LANE_RULES[lane];
    const longest = this.#lanes[lane].findLongest(next ? 'isOld' : 'isLate', only);
    if (!longest) return false;
    if (!next) this.#cut(longest);
    else if (this.#lanes[next].isFullFor(longest.tenant)) return false;
    else this.#move(longest, next);
    return true;
  }

  #noteLate(place: Place): void {
    const { lane, tenant } = place;
    const { next } = LANE_RULES[lane];
    if (next) {
      const isAtShare = this.#lanes[next].isAtShare(tenant);
      const isFull = this.#lanes[next].isFullFor(tenant);
      this.#move(place, next);
      // There is one: the place itself.
      if (isFull) this.#cut(this.#lanes[next].findLongest('isLate', isAtShare ? tenant : undefined)!);
    }
    this.#onChange(lane);
  }

  #move(place: Place, to: Lane): void {
    this.#lanes[place.lane].delete(place);
    this.#lanes[to].add(place);
    place.isLeft = true;
  }

  /** The place is free at once. What its turn still has to do needs none. */
  #cut(place: Place): void {
    const { startedAt, controller } = place.request!;
    this.#lanes[place.lane].delete(place);
    place.isLeft = true;
    this.#cuts.inc();
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    controller.abort(
      new RequestError(
        `no answer within ${seconds} s, and other requests needed its place: the receiver may have the request`,
      ),
    );
  }
}
