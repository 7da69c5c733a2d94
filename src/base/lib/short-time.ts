/** Times as pages and mails write them. */

/** As the script of the console writes them, which has the same names. */
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `14 Nov` of `2026-11-14`. */
export function dayText(day: string): string {
  return `${Number(day.slice(8, 10))} ${MONTHS[Number(day.slice(5, 7)) - 1]}`;
}

/** `14 Nov 2026, 18:34`, in UTC. */
export function timeText(at: Date): string {
  const iso = at.toISOString();
  return `${dayText(iso)} ${iso.slice(0, 4)}, ${iso.slice(11, 16)}`;
}
