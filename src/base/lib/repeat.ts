/** Work that is done again and again in the background of this process. */

export interface Repeating {
  /** Do it now rather than at the next turn. */
  wake(): void;
  /** No further turn; resolves once the one under way is over. */
  stop(): Promise<void>;
}

/**
 * Do `work` at once and then every `seconds`, one turn at a time. A turn may ask for an earlier next one: it
 * calls `soon` with the milliseconds until then.
 *
 * A turn that fails is handed to `onError`; the next one comes all the same.
 */
export function repeat(
  seconds: number,
  work: (soon: (ms: number) => void) => Promise<void>,
  onError: (error: unknown) => void,
): Repeating {
  let stopped = false;
  let wakeUp = () => {};

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const running = (async () => {
    while (!stopped) {
      // A wake-up during a turn must lead to another turn, so the pause begins before the work does.
      const pausing = pause();
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
