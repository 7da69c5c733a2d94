/** What a process ends on its way out, however it ends: it exits, it throws, or stopping takes too long. Only SIGKILL is no way out. */

const endings = new Set<() => void>();

/** Call `end`, which may not wait for anything, when this process exits. Returns what takes that back. */
export function atExit(end: () => void): () => void {
  if (endings.size === 0) process.on('exit', endAll);
  endings.add(end);
  return () => {
    if (endings.delete(end) && endings.size === 0) process.off('exit', endAll);
  };
}

function endAll(): void {
  for (const end of endings) end();
}
