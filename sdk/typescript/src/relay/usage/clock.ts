/** Time as the reporter sees it, so that tests can do without sleeping. */
export interface Clock {
  /** Milliseconds that only ever grow; a wall clock that is set does not move them. */
  now(): number;
  /** Milliseconds since 1970, for dates that a server names. */
  wallNow(): number;
  /** Call back once after `ms`; the result cancels it. */
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

/** Wait for `ms`, or until the signal is given. */
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
