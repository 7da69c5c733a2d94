/** SQL of `operator_sessions` and `operator_links`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { deleteOver } from '../sessions/delete-over.sql.ts';
import type { LoginTraces } from '../sessions/session.ts';
import {
  OPERATOR_FRESH_MINUTES,
  OPERATOR_HOURS,
  OPERATOR_IDLE_HOURS,
  OPERATOR_LINK_MINUTES,
  type OperatorSession,
} from './operator-session.ts';

export async function insertOperatorLink(db: Db, hash: Buffer, operator: string): Promise<void> {
  await db.query({
    name: 'insert-operator-link',
    text: `insert into operator_links (hash, operator, expires_at)
           values ($1, $2, now() + interval '${OPERATOR_LINK_MINUTES} minutes')`,
    values: [hash, operator],
  });
}

/** Whose link it is, unless it was used or is too old. */
export async function findOperatorLink(db: Db, hash: Buffer): Promise<string | undefined> {
  const { rows } = await db.query<{ operator: string }>({
    name: 'find-operator-link',
    text: 'select operator from operator_links where hash = $1 and expires_at > now()',
    values: [hash],
  });
  return rows[0]?.operator;
}

/** Use the link up. Of several at the same time, one gets it. */
export async function takeOperatorLink(tx: Tx, hash: Buffer): Promise<string | undefined> {
  const { rows } = await tx.query<{ operator: string }>({
    name: 'take-operator-link',
    text: 'delete from operator_links where hash = $1 and expires_at > now() returning operator',
    values: [hash],
  });
  return rows[0]?.operator;
}

export async function insertOperatorSession(
  tx: Tx,
  hash: Buffer,
  { operator, device, network }: NewOperatorSession,
): Promise<void> {
  await tx.query({
    name: 'insert-operator-session',
    text: 'insert into operator_sessions (id, hash, operator, device, network) values ($1, $2, $3, $4, $5)',
    values: [newId('os'), hash, operator, device ?? null, network ?? null],
  });
}

export interface NewOperatorSession {
  readonly operator: string;
  readonly device: string | undefined;
  readonly network: string | undefined;
}

const IS_ALIVE = `seen_at > now() - interval '${OPERATOR_IDLE_HOURS} hours'
  and created_at > now() - interval '${OPERATOR_HOURS} hours'`;

/** The session that works, and note that it was used. A minute may pass between two notes. */
export async function findOperatorSession(db: Db, hash: Buffer): Promise<OperatorSession | undefined> {
  const { rows } = await db.query<OperatorSession>({
    name: 'find-operator-session',
    text: `with found as (
             select hash, id, operator, created_at as "createdAt", seen_at,
                    created_at > now() - interval '${OPERATOR_FRESH_MINUTES} minutes' as "isFresh"
               from operator_sessions where hash = $1 and ${IS_ALIVE}),
           noted as (
             update operator_sessions s set seen_at = now() from found
              where s.hash = $1 and found.seen_at < now() - interval '1 minute')
           select hash, id, operator, "createdAt", "isFresh" from found`,
    values: [hash],
  });
  return rows[0];
}

export interface ListedOperatorSession extends LoginTraces {
  readonly id: string;
}

/** The sessions of one operator that work, the last used first. */
export async function findOperatorSessions(db: Db, operator: string): Promise<ListedOperatorSession[]> {
  const { rows } = await db.query<ListedOperatorSession>({
    name: 'find-operator-sessions',
    text: `select id, device, network, created_at as "createdAt", seen_at as "seenAt" from operator_sessions
            where operator = $1 and ${IS_ALIVE} order by seen_at desc, id`,
    values: [operator],
  });
  return rows;
}

/** Returns whether there was one. */
export async function deleteOperatorSession(db: Db, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'delete-operator-session',
    text: 'delete from operator_sessions where hash = $1',
    values: [hash],
  });
  return rowCount === 1;
}

/** Delete another session of the operator: the one with the id, or all. Returns how many. */
export async function deleteOperatorSessions(
  tx: Tx,
  { id: own, operator }: Pick<OperatorSession, 'id' | 'operator'>,
  id: string | undefined,
): Promise<number> {
  const { name, where, values } = filtered('delete-operator-sessions', [operator, own], {
    id: id !== undefined && ['id = ?', id],
  });
  const text = `delete from operator_sessions where operator = $1 and id <> $2 ${where}`;
  return (await tx.query({ name, text, values })).rowCount ?? 0;
}

/** Delete every session and every link. Returns how many of each. */
export async function deleteAllOperatorSessions(
  tx: Tx,
): Promise<{ readonly sessions: number; readonly links: number }> {
  const links = await tx.query({ name: 'delete-all-operator-links', text: 'delete from operator_links' });
  const sessions = await tx.query({
    name: 'delete-all-operator-sessions',
    text: 'delete from operator_sessions',
  });
  return { sessions: sessions.rowCount ?? 0, links: links.rowCount ?? 0 };
}

/** Delete some sessions that are over. Returns how many. */
export async function deleteOldOperatorSessions(db: Db, limit: number): Promise<number> {
  return deleteOver(
    db,
    'operator_sessions',
    `created_at <= now() - interval '${OPERATOR_HOURS} hours'`,
    limit,
  );
}

/** Delete some links that are too old. Returns how many. */
export async function deleteOldOperatorLinks(db: Db, limit: number): Promise<number> {
  return deleteOver(db, 'operator_links', 'expires_at <= now()', limit);
}
