/** Says on stderr what long work is at, so that whoever waits knows that it goes on. */

const EVERY_MS = 2_000;

export interface Progress {
  /** What is under way now. Shown at the next turn, if it lasts that long. */
  at(what: string): void;
  stop(): void;
}

export function startProgress(): Progress {
  let current = '';
  const timer = setInterval(() => process.stderr.write(`${current} ...\n`), EVERY_MS);
  return {
    at: (what) => {
      current = what;
    },
    stop: () => clearInterval(timer),
  };
}
