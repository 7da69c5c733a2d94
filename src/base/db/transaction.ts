/** Transactions. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { codeOf } from '../lib/error-code.ts';
import { OpeningTx } from './opening-tx.ts';
import type { Statement } from './pipeline.ts';
import type { Pool, Tx } from './pool.ts';

const ATTEMPTS = 4;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const LOCK_NOT_AVAILABLE = '55P03';
const UNIQUE_VIOLATION = '23505';
const READ_ONLY_SQL_TRANSACTION = '25006';

/** Does nothing, at almost no cost, unless `base/telemetry/tracing.ts` was started. */
const tracer = trace.getTracer('boxoffice');
const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

export interface TransactionOptions<T> {
  /** SQL that begins the transaction otherwise, with isolation, snapshot or settings. It takes a round trip. */
  readonly begin?: string;
  /** Statements between BEGIN and those of the work. They may wait for a lock. Their errors come before the work's. */
  readonly first?: readonly Statement[];
  /** Statements that go with COMMIT, for the result of the work. */
  readonly last?: (result: T) => readonly Statement[];
}

/**
 * Run `work` in one transaction and commit it.
 *
 * Any error rolls it back. After a deadlock or a serialization failure, as PostgreSQL recommends, the
 * whole transaction runs again, up to three times. A connection that dies during COMMIT leaves the
 * outcome unknown: the error is thrown and the transaction is not repeated.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions<T> = {},
): Promise<T> {
  return tracer.startActiveSpan('transaction', SPAN, (span) =>
    traced(span, () => repeatOnConflict(() => transactOnce(pool, work, options))),
  );
}

/** The span shows duration and result, never statements or their values. */
async function traced<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    const code = codeOf(error);
    if (code !== undefined) span.setAttribute('db.response.status_code', code);
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Repeat a transaction or a single statement after a deadlock or a serialization failure, both of which
 * roll back `work` completely.
 */
export async function repeatOnConflict<T>(work: () => Promise<T>, attempts = ATTEMPTS): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const code = codeOf(error);
      const again = code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
      if (!again || attempt === attempts) throw error;
      await wait(Math.random() * 20 * Math.min(attempt, ATTEMPTS));
    }
  }
}

/** Like `inTransaction()`, without a repetition. */
export async function transactOnce<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  { begin, first = [], last = () => [] }: TransactionOptions<T> = {},
): Promise<T> {
  const connection = await pool.connect();
  const tx = new OpeningTx(connection, first);
  let broken: Error | undefined;
  try {
    if (begin !== undefined) await tx.begin(begin);
    const result = await work(tx).catch(async (error) => {
      await tx.sendFirst();
      throw error;
    });
    await tx.commit(last(result));
    return result;
  } catch (error) {
    // A connection that cannot roll back must not return to the pool.
    if (tx.hasBegun) {
      await connection.query('rollback').catch((fault: Error) => {
        broken = fault;
      });
    }
    // This server is no longer the primary. The next connection may lead to the one that is.
    if (codeOf(error) === READ_ONLY_SQL_TRANSACTION) broken ??= error as Error;
    throw error;
  } finally {
    connection.release(broken);
  }
}

/** Run `read` on one snapshot of the database, so that its statements see the same state. */
export async function inSnapshot<T>(pool: Pool, read: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  let broken: Error | undefined;
  try {
    await tx.query('begin isolation level repeatable read read only');
    return await read(tx);
  } finally {
    await tx.query('commit').catch((fault: Error) => {
      broken = fault;
    });
    tx.release(broken);
  }
}

/** Whether `error` is a violation of a unique constraint or index. */
export function violatesUnique(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** Whether the statement waited for a lock for longer than its connection may. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/**
 * Whether the database refused the statement itself, and so rolled back the transaction. False if the
 * connection or the server was lost, because the outcome is then unknown. False also if a lock was not
 * available, which says nothing about the statement.
 *
 * Source: PostgreSQL, appendix A: classes 08 (connection), 53 (resources), 57 (operator) and 58 (system),
 * and 55P03 (lock_not_available).
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|53|57|58|55P03)/.test(error.code ?? '');
}
