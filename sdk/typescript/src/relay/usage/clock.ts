/** The reporter's clock, replaceable so that tests need not sleep. */
export interface Clock {
  /** Monotonic milliseconds, unaffected by changes of the wall clock. */
  now(): number;
  /** Milliseconds since 1970, to compare with a server's dates. */
  wallNow(): number;
  /** Call back once after `ms`. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Wait for `ms`, or until the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end);
  });
}
