/**
 * The days and months of a tenant, in the time zones that it has set.
 *
 * A zone holds for whole months. A month begins where the one before it ends, so the first month after a change runs from its start in
 * the old zone to its end in the new one: months and days tile the time line, whatever changes.
 */
import { endOf, type Month, monthOf, nextMonth, previousMonth } from '../month.ts';
import { offsetAt, startOfDayIn, type TimeZone, UTC } from './time-zone.ts';

const DAY_MS = 86_400_000;

declare const day: unique symbol;
/** Such as `2026-10-31`. */
export type Day = string & { readonly [day]: true };

/** `month`: the first one that ends in the zone. */
export interface ZoneChange {
  readonly zone: TimeZone;
  readonly month: Month;
}

export class Calendar {
  readonly #changes: readonly ZoneChange[];
  /** Those that are stored, and those that were asked for: a day asks for the end before its month. */
  readonly #ends: Map<Month, Date>;

  /**
   * `changes`: in the order of their months. `ends`: of months that are over, as they are stored. They stay when the rules of zones are
   * corrected.
   */
  constructor(changes: readonly ZoneChange[], ends: ReadonlyMap<Month, Date> = new Map()) {
    this.#changes = changes;
    this.#ends = new Map(ends);
  }

  /** In which the month ends. */
  zoneOf(month: Month): TimeZone {
    return this.#changes.findLast((change) => change.month <= month)?.zone ?? UTC;
  }

  /** The newest change, whether or not its month has begun. */
  get newest(): ZoneChange | undefined {
    return this.#changes.at(-1);
  }

  startOf(month: Month): Date {
    return this.endOf(previousMonth(month));
  }

  endOf(month: Month): Date {
    if (this.#changes.length === 0) return endOf(month);
    const end = this.#ends.get(month) ?? startOfDayIn(this.zoneOf(month), endOf(month).getTime());
    this.#ends.set(month, end);
    return end;
  }

  monthOf(time: Date): Month {
    const near = monthOf(time);
    if (time < this.startOf(near)) return previousMonth(near);
    return time < this.endOf(near) ? near : nextMonth(near);
  }

  /** The month that contains the first time, and the others that begin before the second one. */
  monthsBetween(first: Date, last: Date): Month[] {
    const months: Month[] = [];
    for (let month = this.monthOf(first); this.startOf(month) < last; month = nextMonth(month))
      months.push(month);
    return months;
  }

  /**
   * The rest of a day that a change has cut into two months belongs to the first day of the second one. What a correction of the
   * rules leaves beyond the last day of a month belongs to that day.
   */
  dayOf(time: Date): Day {
    const month = this.monthOf(time);
    const local = new Date(time.getTime() + offsetAt(this.zoneOf(month), time.getTime()));
    const shown = local.toISOString().slice(0, 10);
    if (shown.startsWith(month)) return shown as Day;
    return shown < month ? (`${month}-01` as Day) : lastDayOf(month);
  }

  /** A change may leave nothing of the first day of a month: the next one then begins at the same time. */
  startOfDay(of: Day): Date {
    const month = of.slice(0, 7) as Month;
    const start = this.startOf(month);
    if (of.endsWith('-01')) return start;
    const found = startOfDayIn(this.zoneOf(month), Date.parse(of));
    return found > start ? found : start;
  }

  /** When the day begins that contains the first time, and the others before the second time. */
  startsOfDays(first: Date, last: Date): Date[] {
    const starts: Date[] = [];
    let day = this.dayOf(first);
    for (let start = this.startOfDay(day); start < last; start = this.startOfDay(day)) {
      starts.push(start);
      day = daysLater(day, 1);
    }
    return starts;
  }
}

export function lastDayOf(month: Month): Day {
  return new Date(endOf(month).getTime() - 1).toISOString().slice(0, 10) as Day;
}

/** That of tenants that have set no zone. */
export const IN_UTC = new Calendar([]);

/** `count` may be negative. */
export function daysLater(from: Day, count: number): Day {
  return new Date(Date.parse(from) + count * DAY_MS).toISOString().slice(0, 10) as Day;
}
