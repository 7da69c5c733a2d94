/** Times as people write them: a day, which begins at 0:00 UTC, or a time with its offset. */

/** `undefined` unless the text has the form, and its day is one of the calendar: `Date` reads February 30 as March 2. */
export function readTime(text: string, form: RegExp): Date | undefined {
  if (!form.test(text)) return undefined;
  const day = text.slice(0, 10);
  const [start, time] = [new Date(day), new Date(text)];
  const isReal = ![start, time].some((each) => Number.isNaN(each.getTime()));
  return isReal && start.toISOString().startsWith(day) ? time : undefined;
}
