/**
 * Gives memory back after a burst. V8 keeps what it took until a collection, which a service that is mostly idle does not
 * reach for a long time.
 */
import { performance } from 'node:perf_hooks';
import { shrinkHeap } from './shrink-heap.ts';

const LOOK_EVERY_MS = 15_000;
/** What is worth a pause of about 50 ms. */
const BURST_BYTES_MIN = 32 * 1024 * 1024;
/** The share of the time in which the main thread works, beyond which a pause would be noticed. */
const UTILIZATION_MAX = 0.2;

export interface Measured {
  /** Bytes that the process has in memory. */
  readonly rss: () => number;
  /** The load of the main thread since the last call, from 0 to 1. */
  readonly utilization: () => number;
  readonly shrink: () => void;
}

/** From now on, and until the process ends. */
export function giveBackMemory(): void {
  let last = performance.eventLoopUtilization();
  const utilization = () => {
    const now = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(now, last);
    last = now;
    return since.utilization;
  };
  const look = watchMemory({ rss: () => process.memoryUsage.rss(), utilization, shrink: shrinkHeap });
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** Returns what looks once: it shrinks the heap if the process has grown and now hardly works. */
export function watchMemory({ rss, utilization, shrink }: Measured): () => void {
  let settled = rss();
  return () => {
    const isBusy = utilization() > UTILIZATION_MAX;
    const now = rss();
    settled = Math.min(settled, now);
    if (isBusy || now - settled < BURST_BYTES_MIN) return;
    shrink();
    settled = rss();
  };
}
