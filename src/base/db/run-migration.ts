/**
 * Runs one migration, in a transaction together with the row that records it, while others use the tables.
 *
 * A file that creates an index concurrently has no transaction. It can run again after a process has died in it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { codeOf } from '../lib/error-code.ts';
import { StartError } from '../lib/start-error.ts';
import { isDistributed } from './distribution.ts';
import { indexOf, type Migration } from './migration.ts';

/**
 * Others queue behind a migration that waits for a table. So it gives up soon, lets them through, and tries again: in ms, for a lock and
 * between two tries. A file of three tables may keep others waiting three times as long.
 */
const LOCK_MS = 30;
const LOCK_PAUSE_MS = 500;
/** PostgreSQL stops an automatic vacuum that is in the way, but only after `deadlock_timeout`. So every so many tries, one waits longer. */
const PATIENT_EVERY = 60;
const PATIENT_LOCK_MS = 1_500;
/** Then the start fails. */
const LOCKED_MS_MAX = 10 * 60_000;
/** `lock_not_available` and `deadlock_detected`. Source: PostgreSQL, appendix A "Error Codes". */
const LOCKED = ['55P03', '40P01'];

/** Fails with `StartError` if it fails, or if something keeps a table locked for too long. */
export async function runWhenFree(
  client: pg.Client,
  migration: Migration,
  log: Pick<Logger, 'warn'> | undefined,
): Promise<void> {
  const begun = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await runOne(client, migration, await lockMsOf(client, tries));
    } catch (error) {
      if (!LOCKED.includes(codeOf((error as Error).cause) ?? '')) throw error;
      if (performance.now() - begun >= LOCKED_MS_MAX) {
        throw new StartError(
          `migration ${migration.name} waited 10 minutes for a table that a transaction uses: end that, and start again`,
          { cause: error },
        );
      }
    }
    if (tries % PATIENT_EVERY === 0) {
      log?.warn({ migration: migration.name }, 'a migration waits for a table that a transaction uses');
    }
    await sleep(LOCK_PAUSE_MS);
  }
}

/** A vacuum holds a lock of this mode. */
const IS_VACUUMING = `
  select exists (
    select from pg_locks where mode = 'ShareUpdateExclusiveLock' and granted and locktype = 'relation'
       and database = (select oid from pg_database where datname = current_database())) as vacuuming`;

async function lockMsOf(client: pg.Client, tries: number): Promise<number> {
  if (tries % PATIENT_EVERY > 0) return LOCK_MS;
  return (await client.query(IS_VACUUMING)).rows[0].vacuuming ? PATIENT_LOCK_MS : LOCK_MS;
}

async function runOne(client: pg.Client, migration: Migration, lockMs: number): Promise<void> {
  const index = indexOf(migration);
  try {
    if (index === undefined) await runInTransaction(client, migration, lockMs);
    else await createIndex(client, migration, index);
  } catch (error) {
    // If the connection is lost, the rollback fails too. Report the first error.
    await client.query('rollback').catch(() => {});
    throw new StartError(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * The file is the body of a block, so PostgreSQL runs each statement by itself. Citus hands the text of a statement on to
 * the workers; of a file that is sent as it is, that would be the whole file.
 */
async function runInTransaction(client: pg.Client, migration: Migration, lockMs: number): Promise<void> {
  await client.query('begin');
  // How a cluster waits was never tried.
  if (!isDistributed()) await client.query(`set local lock_timeout = ${lockMs}`);
  await client.query(`do $migration$ begin ${migration.sql}\nend $migration$`);
  await recordRun(client, migration);
  await client.query('commit');
}

/** It waits for the transactions that use the table, and nothing waits behind it. */
async function createIndex(client: pg.Client, migration: Migration, index: string): Promise<void> {
  await client.query(`set lock_timeout = ${LOCKED_MS_MAX}`);
  // Where a process died meanwhile, there is one that is not valid.
  await client.query(`drop index concurrently if exists ${index}`);
  await client.query(migration.sql);
  await recordRun(client, migration);
}

async function recordRun(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum]);
}
