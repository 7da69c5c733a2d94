/** Prints the progress of long work on stderr. */

const EVERY_MS = 2_000;

export interface Progress {
  /** The current step. Printed at the next tick, if it lasts that long. */
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

/** Runs long work, and prints where it is. */
export async function withProgress<T>(work: (at: (what: string) => void) => Promise<T>): Promise<T> {
  const progress = startProgress();
  try {
    return await work(progress.at);
  } finally {
    progress.stop();
  }
}
