/**
 * Which session or room incarnation usage belongs to. A record has names and no time, so the time of its charge decides.
 *
 * A record is charged after its interval has ended, so the interval began before the charge, by its seconds at least.
 */
import { CLOCK_SLACK_SECONDS } from '../../money/records/usage-record.ts';

const SLACK_MS = CLOCK_SLACK_SECONDS * 1_000;

/** A relay may report late: its spool waits for the network. After a day, the same names mean another visit. */
export const LATE_HOURS_MAX = 24;

/** When a participant or a room was there. `to` is `null` while it still is. */
export interface Stay {
  readonly from: Date;
  readonly to: Date | null;
}

export interface Charged {
  /** When it was charged. */
  readonly at: Date;
  /** The seconds of the longest record. */
  readonly seconds: number;
}

/**
 * The newest stay that began before the interval did, unless it ended more than `LATE_HOURS_MAX` before. If there is none, the
 * oldest that began before the charge. `stays`: newest first.
 */
export function chooseStay<T extends Stay>(stays: readonly T[], { at, seconds }: Charged): T | undefined {
  const begun = at.getTime() - seconds * 1_000;
  const wasThere = ({ from, to }: Stay) =>
    from.getTime() <= begun + SLACK_MS && (to === null || to.getTime() >= begun - LATE_HOURS_MAX * 3_600_000);
  return (
    stays.find(wasThere) ??
    stays.findLast(({ from }) => from.getTime() > begun + SLACK_MS && from.getTime() <= at.getTime())
  );
}
