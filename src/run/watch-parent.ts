/**
 * A service that `npm start` started ends with its npm, whose end by SIGKILL tells no one.
 *
 * `--parent=<pid>` asks for it, so a service that was detached on purpose stays.
 */

/** Asking costs one system call. */
const ASK_EVERY_MS = 1_000;

/** Calls `act` once, when the parent of this process is no longer the one that `args` name. */
export function watchParent(args: readonly string[], act: (parent: number) => void): void {
  const named = args.find((each) => /^--parent=\d+$/.test(each));
  if (named === undefined) return;
  const parent = Number(named.slice('--parent='.length));
  const ask = (): void => {
    if (process.ppid === parent) return;
    clearInterval(asking);
    act(parent);
  };
  const asking = setInterval(ask, ASK_EVERY_MS).unref();
  ask();
}
