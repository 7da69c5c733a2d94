/** Whether a statement adds up. A statement that does not is never issued, and no signed one is accepted. */
import { displayMicros } from '../amount.ts';
import { UTC } from '../calendar/time-zone.ts';
import { endOf, startOf } from '../month.ts';
import type { Measures } from '../usage/usage-summary.ts';
import { MOVEMENT_GROUPS, type Movements, type Statement, spentOfGrants } from './statement.ts';

/** What is wrong, in words; `undefined`: nothing. */
export function findFault(statement: Statement): string | undefined {
  const { month, from, to, opening, usage, closing } = statement;
  const misplaced = findMisplaced(statement);
  if (misplaced) return misplaced;
  for (const group of MOVEMENT_GROUPS) {
    const movements = statement[group];
    const fault = compare(`the sum of ${group}`, addMovements(movements), movements.sum);
    if (fault) return fault;
    const stray = movements.entries.find(({ at }) => at < from || at >= to);
    if (stray) return `an entry of ${group} is of ${stray.at.toISOString()}, which is not in ${month}`;
  }
  const parts = [...usage.rooms, ...(usage.others ? [usage.others] : [])];
  for (const measure of MEASURES) {
    const sum = parts.reduce((total, part) => total + part[measure], 0n);
    if (sum !== usage.sum[measure]) {
      return `the rooms have ${sum} ${WORDS[measure]} together, and the statement says ${usage.sum[measure]}`;
    }
  }
  if (spentOfGrants(statement) < 0n) return 'more granted credit is left than there was';
  const moved = MOVEMENT_GROUPS.reduce((total, group) => total + statement[group].sum, 0n);
  return compare('the closing balance', opening + moved - usage.sum.amount, closing);
}

/** No clock is further from UTC. */
const OFFSET_MS_MAX = 15 * 3_600_000;

/**
 * Whether the month begins and ends about when it does in UTC. What exactly its zone said is not asked: the rules of zones change over
 * the years, and a statement does not.
 */
function findMisplaced({ month, zone, from, to }: Statement): string | undefined {
  const isNear = (time: Date, inUtc: Date) => Math.abs(time.getTime() - inUtc.getTime()) <= OFFSET_MS_MAX;
  const isEnd = zone === UTC ? to.getTime() === endOf(month).getTime() : isNear(to, endOf(month));
  if (isEnd && isNear(from, startOf(month))) return undefined;
  return `${month} in ${zone} does not run from ${from.toISOString()} to ${to.toISOString()}`;
}

const WORDS: Readonly<Record<keyof Measures, string>> = {
  records: 'records',
  seconds: 'seconds',
  egressBytes: 'bytes sent',
  ingressBytes: 'bytes received',
  amount: 'micros of usage',
  unbilled: 'micros of unbilled usage',
};
const MEASURES = Object.keys(WORDS) as (keyof Measures)[];

function addMovements({ entries, others }: Movements): bigint {
  return entries.reduce((total, { amount }) => total + amount, others?.sum ?? 0n);
}

function compare(what: string, computed: bigint, stated: bigint): string | undefined {
  if (computed === stated) return undefined;
  return `${what} is ${displayMicros(computed)} by the entries, and ${displayMicros(stated)} by the statement`;
}
