/** Errors that mean the database was unavailable or too slow, whatever the request. */
import { codeOf } from '../lib/error-code.ts';
import { isDistributed } from './distribution.ts';

export type Outage = 'unavailable' | 'deadline_exceeded';

/** Source: PostgreSQL, appendix A "Error Codes"; the names of system errors; the messages of `pg`. */
const TOO_SLOW: ReadonlySet<string> = new Set(['57014', '55P03', '25P03']);
const AWAY =
  /^(08...|53...|57P0[1-5]|40001|40P01|25006|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const TOO_SLOW_MESSAGE = /^Query read timeout$/;
const AWAY_MESSAGE =
  /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end)/;
/** What the coordinator of a Citus cluster says that lost a worker in a statement or transaction, with codes for bugs and for disks. */
const WORKER_AWAY_MESSAGE =
  /^(server closed the connection unexpectedly|could not (send|receive) data|SSL connection has been closed|failed to COPY to shard|failure on connection marked as essential)/;

/** `undefined` for anything else: that is a bug. */
export function outageOf(error: unknown): Outage | undefined {
  if (!(error instanceof Error)) return undefined;
  // Connecting to a host with several addresses fails with one error for each.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const code = codeOf(first ?? error) ?? '';
  if (TOO_SLOW.has(code) || TOO_SLOW_MESSAGE.test(error.message)) return 'deadline_exceeded';
  if (AWAY.test(code) || AWAY_MESSAGE.test(error.message)) return 'unavailable';
  if (WORKER_AWAY_MESSAGE.test(error.message)) return 'unavailable';
  return undefined;
}

/** A lock or a statement that took too long; of several servers, also one that is away while the others work. */
export function isPassing(error: unknown): boolean {
  const outage = outageOf(error);
  return outage === 'deadline_exceeded' || (isDistributed() && outage !== undefined);
}
