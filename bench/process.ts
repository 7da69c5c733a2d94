/** How a process that is measured tells where it listens, how much memory it takes, and when it ends. */

/** To be called by the process itself, once it listens. */
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
  // An interrupt of the terminal reaches this process as well; who started it will end it.
  process.on('SIGINT', () => {});
  process.once('disconnect', end);
  process.send?.({ url: `http://127.0.0.1:${port}` });
}
