/** A calendar month in UTC, which reports are made for. */
import { invalidRequest } from '../../base/failure.ts';

export interface Month {
  /** `2026-10` */
  readonly name: string;
  readonly from: Date;
  /** The first instant after it. */
  readonly until: Date;
}

/** A posting of the last moments may still be about to be committed. */
const COMMITTED_WITHIN_MS = 60_000;

export function parseMonth(text: string): Month | undefined {
  const [, year, month] = /^(2[0-9]{3})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (!year || !month) return undefined;
  const at = (months: number) => new Date(Date.UTC(Number(year), Number(month) - 1 + months));
  return { name: text, from: at(0), until: at(1) };
}

/** Whether the month has ended. Fails with `invalid_request` if it has not begun. */
export function hasEnded({ name, from, until }: Month, now: Date): boolean {
  if (now < from) throw invalidRequest(`month ${name} has not begun`);
  return now.getTime() >= until.getTime() + COMMITTED_WITHIN_MS;
}
