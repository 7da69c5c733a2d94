/** Calendar months. Their times are those of UTC, which is how operators add up all tenants; `calendar/` has those of a tenant. */

declare const month: unique symbol;
/** Such as `2026-10`. */
export type Month = string & { readonly [month]: true };

/** `undefined`: it is no month. */
export function parseMonth(text: string): Month | undefined {
  return /^(?!0000)\d{4}-(0[1-9]|1[0-2])$/.test(text) ? (text as Month) : undefined;
}

export function monthOf(time: Date): Month {
  return time.toISOString().slice(0, 7) as Month;
}

export function startOf(of: Month): Date {
  return new Date(`${of}-01T00:00:00Z`);
}

/** The start of the next month. */
export function endOf(of: Month): Date {
  const end = startOf(of);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return end;
}

export function nextMonth(of: Month): Month {
  return monthOf(endOf(of));
}

export function previousMonth(of: Month): Month {
  return monthOf(new Date(startOf(of).getTime() - 1));
}
