/**
 * The statements for a distributed database, on one server. What the service asks Citus is answered as if one server had all
 * shards.
 */
import type { Pool } from '../../src/base/db/pool.ts';

/** The name of the project of `vitest.config.ts` whose tests run with them. */
export const STEP_FORMS = 'step forms';

/** The application role finds them by the search path of the database (`answersFound`). */
const ANSWERS = [
  'create schema answers',
  'grant usage on schema answers to public',
  `create table answers.pg_dist_partition as select 'accounts'::regclass as logicalrelid`,
  'create table answers.pg_dist_placement as select 1::bigint as shardid, 1 as groupid',
  'grant select on all tables in schema answers to public',
  `create function answers.get_shard_id_for_distribution_column(text, bigint) returns bigint
     language sql immutable return 1`,
];

export async function answerForCitus(db: Pool): Promise<void> {
  for (const statement of ANSWERS) await db.query(statement);
}

/** A copy of a database does not have its settings. */
export const answersFound = (database: string) =>
  `alter database ${database} set search_path = public, answers`;
