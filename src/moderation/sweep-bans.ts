/** Takes bans that have ended out of what every mint and join looks through. */
import type { Deps } from '../deps.ts';
import { type Repeating, repeat } from '../lib/repeat.ts';
import { liftEndedBans } from './bans.sql.ts';

const EVERY_SECONDS = 300;
const AT_ONCE = 5_000;

export function startBansSweep(deps: Deps): Repeating {
  const sweep = async () => {
    while ((await liftEndedBans(deps.db, AT_ONCE)) === AT_ONCE);
  };
  return repeat(EVERY_SECONDS, sweep, (error) =>
    deps.log.warn({ err: error }, 'bans that ended were not taken out of sight'),
  );
}
