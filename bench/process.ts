/** How a measured process reports its address and its memory, and how it ends. */

/** Called by the process itself once it listens. */
export function announce(port: number, stop: () => Promise<void>): void {
  process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }));
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
