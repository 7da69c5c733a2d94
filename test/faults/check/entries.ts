/** Entries of journals that tests make up. Times are in microseconds, from 0 on. */
import type { Database, Row } from '../../../faults/check/database.ts';
import { Facts } from '../../../faults/check/facts.ts';
import {
  type Answer,
  type Args,
  type Entry,
  readJournal,
  type SentRecord,
} from '../../../faults/check/journal.ts';
import { type Rule, runRules, type Verdict } from '../../../faults/check/rule.ts';
import type { Reads } from '../../../faults/check/views.ts';

const TENANT = 't_0123456789abcdef';

interface Rest {
  readonly outcome?: Entry['outcome'];
  readonly status?: number | string;
  readonly answer?: Answer;
}

/** An operation that lasted from one time to another; `null`: without an answer. */
export function entry(
  op: string,
  args: Args,
  [invokedUs, returnedUs]: readonly [number, number | null],
  { outcome = returnedUs === null ? 'unknown' : 'ok', ...rest }: Rest = {},
): Entry {
  return { client: 1, op, args: { tenant: TENANT, ...args }, invokedUs, returnedUs, outcome, ...rest };
}

/** A record of usage. */
export const record = (id: string, rest: Partial<SentRecord> = {}): SentRecord => ({
  ...{ id, role: 'host', tier: 'hd', seconds: 60, egress_bytes: 5, ingress_bytes: 1 },
  ...rest,
});

export const REFUSED = { outcome: 'refused', status: 401 } as const;

const refuse = () => Promise.reject(new Error('there is no service'));
export const NO_READS: Reads = { tenants: [], get: refuse, text: refuse, console: refuse };

/** The facts of a journal alone, for rules that read nothing else; `rows`: what the database answers, whatever it is asked. */
export async function factsOf(entries: readonly Entry[], rows: readonly Row[] = []): Promise<Facts> {
  const db = { rows: async () => rows } as unknown as Database;
  return new Facts(await readJournal(entries), db, NO_READS);
}

export async function judge(
  rules: readonly Rule[],
  entries: readonly Entry[],
  rows: readonly Row[] = [],
): Promise<Verdict> {
  return runRules(rules, await factsOf(entries, rows));
}
