/** Work that leaves nothing behind when the command is interrupted. */
import { END_SIGNALS } from '../lifetime.ts';

/** After a signal, the work has to end, and fails. */
export async function untilSignal<T>(work: (ending: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const end = (signal: NodeJS.Signals) => ending.abort(new Error(`ended by ${signal}`));
  for (const signal of END_SIGNALS) process.on(signal, end);
  try {
    return await work(ending.signal);
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, end);
  }
}
