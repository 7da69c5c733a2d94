/** Transactions. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { codeOf } from '../lib/error-code.ts';
import type { Pool, Tx } from './pool.ts';

const ATTEMPTS = 4;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const UNIQUE_VIOLATION = '23505';

/** Does nothing, at next to no cost, unless `base/telemetry/tracing.ts` was started. */
const tracer = trace.getTracer('boxoffice');
const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

/**
 * Run `work` in one transaction and commit it.
 *
 * Anything thrown rolls it back. A deadlock or a serialization failure is PostgreSQL's own request
 * to run the whole transaction again, so that is what happens, up to three times. A connection that
 * dies during COMMIT leaves the outcome unknown: that is thrown, never tried again from here.
 */
export async function inTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tracer.startActiveSpan('transaction', SPAN, (span) =>
    traced(span, () => repeatOnConflict(() => once(pool, work))),
  );
}

/** A span tells how long it took and how it ended; statements and their values stay here. */
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
 * Run a transaction, or a statement that is one by itself, again where PostgreSQL asks for it. Of
 * `work` that failed so, nothing is left.
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

async function once<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  let broken: Error | undefined;
  try {
    await tx.query('begin');
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    // A connection that cannot even roll back must not go back to the pool.
    await tx.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    throw error;
  } finally {
    tx.release(broken);
  }
}

/** Run `read` on one snapshot of the database: what it reads in several statements fits together. */
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

/** Whether `error` says that a unique constraint or index holds the row already. */
export function violatesUnique(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/**
 * Whether the database has refused what it was asked, so that nothing of the transaction is left. Not
 * so where the connection or the server was lost, and the outcome with it; nor where a lock was not to
 * be had, which says nothing about what was asked.
 *
 * Source: PostgreSQL, appendix A: classes 08 (connection), 53 (resources), 57 (operator) and 58 (system),
 * and 55P03 (lock_not_available).
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|53|57|58|55P03)/.test(error.code ?? '');
}
