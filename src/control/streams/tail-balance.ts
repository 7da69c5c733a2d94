/** Follow the balance of a tenant, for a person who looks on. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import { findBalance } from '../../money/accounts/accounts.sql.ts';
import type { StreamDeps } from './follow-events.ts';
import type { Tailing } from './tail-events.ts';

const LOOK_MS = 3_000;
/** What goes by the time, such as the spend of the last hour, changes without a posting. */
const UNCHANGED_MS_MAX = 60_000;

/** `over`: the person may not look on any more; it is the last item. */
export type BalanceTail = 'changed' | 'silence' | 'over';

/** Begins with `changed`, and ends after `signal` was aborted, and after `over`. Fails with `too_many_streams`. */
export async function* tailBalance(
  deps: Pick<StreamDeps, 'db' | 'streams' | 'calls'>,
  caller: LimitedCaller,
  { signal, mayGoOn }: Pick<Tailing, 'signal' | 'mayGoOn'>,
): AsyncGenerator<BalanceTail> {
  const leave = deps.streams.enterPage(caller);
  try {
    let last: { readonly balance: bigint; readonly at: number } | undefined;
    while (!signal.aborted) {
      const balance = await deps.calls.run(caller, () => findBalance(deps.db, caller.tenant));
      if (!(await mayGoOn())) return yield 'over';
      const now = performance.now();
      const isChanged = balance !== last?.balance || now > last.at + UNCHANGED_MS_MAX;
      if (isChanged) last = { balance, at: now };
      yield isChanged ? 'changed' : 'silence';
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    leave();
  }
}
