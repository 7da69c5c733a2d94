/**
 * Time zones by their IANA names, and where days begin in them.
 *
 * Node.js has the rules: all processes of a version agree on them, whatever the machine of the database knows.
 */

declare const timeZone: unique symbol;
/** Such as `Europe/Berlin`. */
export type TimeZone = string & { readonly [timeZone]: true };

export const UTC = 'UTC' as TimeZone;
export const TIME_ZONE_LENGTH_MAX = 64;

const DAY_MS = 86_400_000;

/** `undefined`: Node.js has no zone of this name. It ignores case, so the spelling may still be wrong. */
export function parseTimeZone(text: string): TimeZone | undefined {
  // Node.js takes offsets such as +05:30 too.
  if (text.length > TIME_ZONE_LENGTH_MAX || !/^[A-Z][\w+-]*(\/[\w+-]+)*$/.test(text)) return undefined;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: text });
    return text as TimeZone;
  } catch {
    return undefined;
  }
}

/** The zone of this name in another case; `undefined`: there is none. */
export function findSpelling(text: string): string | undefined {
  const lower = text.toLowerCase();
  return [UTC, ...Intl.supportedValuesOf('timeZone')].find((each) => each.toLowerCase() === lower);
}

/** At most one for each zone that there is: making one takes longer than a hundred answers. */
const formats = new Map<TimeZone, Intl.DateTimeFormat>();

/** How far local time is ahead of UTC, in milliseconds. */
export function offsetAt(zone: TimeZone, time: number): number {
  if (zone === UTC) return 0;
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(zone, format);
  }
  const [, sign = '+', ...parts] = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(time)) ?? [];
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  return Number(`${sign}1`) * ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** Such as `UTC+05:45`. */
export function nameOfOffset(offset: number): string {
  if (offset === 0) return UTC;
  return `UTC${offset < 0 ? '-' : '+'}${new Date(Math.abs(offset)).toISOString().slice(11, 16)}`;
}

/**
 * The first instant of a day. `midnight`: what the clock shows then, as if it were UTC.
 *
 * Where the clock shows midnight twice it is the first time, and where it skips midnight the instant after the gap.
 */
export function startOfDayIn(zone: TimeZone, midnight: number): Date {
  const before = offsetAt(zone, midnight - DAY_MS);
  const after = offsetAt(zone, midnight + DAY_MS);
  const early = midnight - before;
  const late = midnight - after;
  const isLate = before !== after && offsetAt(zone, early) !== before && offsetAt(zone, late) === after;
  return new Date(isLate ? late : early);
}
