/**
 * Work over all tenants, such as a sweep. One server does it in one statement. Where tables are distributed, rows are
 * locked and changed on one server at a time, so the tenants that have something to do are found first, and each gets
 * a statement of its own.
 */
import type pg from 'pg';
import { awayServers } from '../db/away-servers.ts';
import { isDistributed } from '../db/distribution.ts';
import { outageOf } from '../db/outage.ts';
import type { Db } from '../db/pool.ts';
import type { TenantId } from './tenant.ts';

/** What a statement is about: all tenants, or one. */
export interface Share {
  /** The name of the statement. */
  name(ofAll: string): string;
  /** ` and <column> = $<place>`, or nothing. */
  and(column: string, place: number): string;
  /** The values from that place on: one, or none. */
  readonly values: readonly unknown[];
}

/** All tenants, by the statement of one server. */
export const ALL: Share = { name: (ofAll) => ofAll, and: () => '', values: [] };

/** Tenants at a time. */
const TENANTS_MAX = 100;

export function shareOf(tenant: TenantId): Share {
  return {
    name: (ofAll) => `${ofAll}-of-tenant`,
    and: (column, place) => ` and ${column} = $${place}::bigint`,
    values: [tenant],
  };
}

/** Tenants that have rows like these. `where` may use `values`. */
export interface Concerned {
  readonly table: string;
  readonly where: string;
  readonly values?: readonly unknown[];
}

/** Do the work for all tenants at once, or for each that is concerned. Returns what each returned. */
export async function inShares<T>(
  db: Db,
  concerned: Concerned,
  work: (share: Share) => Promise<T>,
): Promise<readonly T[]> {
  if (!isDistributed()) return [await work(ALL)];
  const done: T[] = [];
  for (const tenant of await findConcerned(db, concerned)) done.push(await work(shareOf(tenant)));
  return done;
}

/** The sum of what the work returns, for work that counts. */
export async function countInShares(
  db: Db,
  concerned: Concerned,
  work: (share: Share) => Promise<number>,
): Promise<number> {
  const counts = await inShares(db, concerned, work);
  return counts.reduce((sum, count) => sum + count, 0);
}

export interface Change extends Concerned {
  readonly name: string;
  /** At most so many rows, or about so many. */
  readonly limit: number;
  /** Parameters: `values`, then `limit`, then those of the share. */
  readonly text: (share: Share) => string;
}

/** Delete or change some rows of a table. Returns how many. */
export function changeInShares(db: Db, { name, limit, text, ...concerned }: Change): Promise<number> {
  return countInShares(db, concerned, async (share) => {
    const values = [...(concerned.values ?? []), limit, ...share.values];
    const { rowCount } = await db.query({ name: share.name(name), text: text(share), values });
    return rowCount ?? 0;
  });
}

async function findConcerned(db: Db, { table, where, values = [] }: Concerned): Promise<readonly TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    text: (tenants) => `select distinct tenant_id as tenant from ${table}
      where ${where} ${tenants.and('tenant_id', values.length + 1)} limit ${TENANTS_MAX}`,
    values,
  });
  return rows.map(({ tenant }) => tenant);
}

/** A question to all servers. Of one server's tenants only, if `tenants` says so. */
export interface Question {
  /** One server keeps the plan of a statement with a name. Citus plans for each. */
  readonly name?: string;
  readonly text: (tenants: Pick<Share, 'and'>) => string;
  readonly values: readonly unknown[];
}

/**
 * Ask all servers at once. If one is away, ask the others one by one, so that their tenants do not wait for it: Citus
 * fails a question as a whole.
 */
export async function onServers<Row extends pg.QueryResultRow>(
  db: Db,
  { name, text, values }: Question,
): Promise<Row[]> {
  if (awayServers().size > 0) return onOthers(db, text, values);
  try {
    const [ofAll, given] = [text(ALL), [...values]];
    const isKept = name !== undefined && !isDistributed();
    const { rows } = await (isKept
      ? db.query<Row>({ name, text: ofAll, values: given })
      : db.query<Row>(ofAll, given));
    return rows;
  } catch (error) {
    if (!isDistributed() || outageOf(error) !== 'unavailable') throw error;
  }
  return onOthers(db, text, values);
}

/** One by one, those that are not known to be away. */
async function onOthers<Row extends pg.QueryResultRow>(
  db: Db,
  text: Question['text'],
  values: readonly unknown[],
): Promise<Row[]> {
  const found: Row[] = [];
  for (const tenants of await listTenantsByServer(db)) {
    const ofServer = text({ and: (column, place) => ` and ${column} = any($${place}::bigint[])` });
    const answer = await db.query<Row>(ofServer, [...values, tenants]).catch((error: unknown) => {
      if (outageOf(error) !== 'unavailable') throw error;
      return { rows: [] };
    });
    found.push(...answer.rows);
  }
  return found;
}

/** The coordinator knows this by itself. */
async function listTenantsByServer(db: Db): Promise<readonly TenantId[][]> {
  const { rows } = await db.query<{ tenants: TenantId[] }>(
    `select array_agg(t.id) as tenants
       from (select id, get_shard_id_for_distribution_column('tenant_places', id) as shard from tenants) t
       join pg_dist_placement p on p.shardid = t.shard
      where not p.groupid = any($1)
      group by p.groupid`,
    [[...awayServers()]],
  );
  return rows.map(({ tenants }) => tenants);
}

/** The first thing that the work finds, for work that takes one thing at a time. */
export async function firstInShares<T>(
  db: Db,
  concerned: Concerned,
  work: (share: Share) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (!isDistributed()) return work(ALL);
  for (const tenant of await findConcerned(db, concerned)) {
    const found = await work(shareOf(tenant));
    if (found !== undefined) return found;
  }
  return undefined;
}
