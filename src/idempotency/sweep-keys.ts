/** Forgets idempotency keys that no retry comes for any more, and the answers with them. */
import type { Deps } from '../deps.ts';
import { type Repeating, repeat } from '../lib/repeat.ts';
import { deleteOldKeys } from './idempotency-keys.sql.ts';
import { KEPT_HOURS } from './once.ts';

const EVERY_SECONDS = 300;
const AT_ONCE = 5_000;

export function startIdempotencySweep(deps: Deps): Repeating {
  const sweep = async () => {
    while ((await deleteOldKeys(deps.db, { hours: KEPT_HOURS, limit: AT_ONCE })) === AT_ONCE);
  };
  return repeat(EVERY_SECONDS, sweep, (error) =>
    deps.log.warn({ err: error }, 'old idempotency keys were not removed'),
  );
}
