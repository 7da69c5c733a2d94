/** How long after a log-in keys, members and other settings may be changed, so that a browser that was left open does no harm. */

export const FRESH_MINUTES = 10;
