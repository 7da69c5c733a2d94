/** Periodic background work. */

export interface Repeating {
  /** Start the next turn now. */
  wake(): void;
  /** Start no further turn; resolves once the current one has finished. */
  stop(): Promise<void>;
}

/**
 * Run `work` after `delayMs`, by default at once, and then every `seconds`, one turn at a time. A turn can
 * schedule an earlier next turn by calling `soon` with a delay in milliseconds.
 *
 * An error goes to `onError` and does not stop the repetition.
 */
export function repeat(
  seconds: number,
  work: (soon: (ms: number) => void) => Promise<void>,
  onError: (error: unknown) => void,
  { delayMs = 0 } = {},
): Repeating {
  let stopped = false;
  let wakeUp = () => {};

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const running = (async () => {
    if (delayMs > 0) await pause(delayMs);
    while (!stopped) {
      // A wake-up during a turn must cause another turn, so the pause begins before the work.
      const pausing = pause(seconds * 1000);
      let early: NodeJS.Timeout | undefined;
      const soon = (ms: number) => {
        early = setTimeout(wakeUp, ms);
      };
      await work(soon).catch(onError);
      if (!stopped) await pausing;
      clearTimeout(early);
    }
  })();

  return {
    wake: () => wakeUp(),
    stop: () => {
      stopped = true;
      wakeUp();
      return running;
    },
  };
}
