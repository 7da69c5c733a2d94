/** A place for this window among those of the same browser that are in the room. */

/**
 * A browser has six connections to one address over HTTP/1.1. A stay keeps one open for what it sends, and one for each
 * participant whose media it gets. Without this, a third window would wait for ever.
 */
const STAYS_MAX = 2;

/** Returns what gives the place back. Fails if there is none. */
export async function takePlace(): Promise<() => void> {
  const { held = [] } = await navigator.locks.query();
  // Over HTTPS the demo speaks HTTP/2, which has one connection for everything.
  if (location.protocol === 'http:' && held.length >= STAYS_MAX) {
    throw new Error(
      'this browser has no connections left for a third window: use a private window, or another browser',
    );
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks.request(crypto.randomUUID(), () => promise);
  return resolve;
}
