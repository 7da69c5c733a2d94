/** How a measured process reports its address, its memory and the delay of its event loop, and how it ends. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Called by the process itself once it listens. */
export function announce(port: number, stop: () => Promise<void>): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  process.on('message', (question) => {
    if (question === 'memory') process.send?.({ rss: process.memoryUsage().rss });
    else {
      // Sampling wakes the process every millisecond, so it starts with the first question.
      process.send?.({ delayMs: delay.percentile(99) / 1e6 });
      delay.enable();
      delay.reset();
    }
  });
  let stopping = false;
  const end = async () => {
    if (stopping) return;
    stopping = true;
    await stop();
    process.exit(0);
  };
  process.once('SIGTERM', end);
  // A Ctrl-C in the terminal also reaches this process. Its parent ends it.
  process.on('SIGINT', () => {});
  process.once('disconnect', end);
  process.send?.({ url: `http://127.0.0.1:${port}` });
}
