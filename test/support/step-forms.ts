/**
 * The statements for a distributed database, on one server. What the service asks Citus is answered as if one server had all
 * shards.
 */
import pg from 'pg';
import { inject, test } from 'vitest';
import { PLACEMENTS } from '../../src/run/distribution/placements.ts';

const ANSWERS = `
  create schema answers;
  grant usage on schema answers to public;
  create table answers.pg_dist_partition as select 'tenant_places'::regclass as logicalrelid;
  create table answers.pg_dist_placement as select 1::bigint as shardid, 1 as groupid;
  create table answers.pg_dist_node as
    select 1 as groupid, 'worker'::text as nodename, 5432 as nodeport, 'primary' as noderole, true as isactive;
  create view answers.citus_shards as
    select oid::regclass as table_name, pg_total_relation_size(oid) as shard_size from pg_class where relkind = 'r';
  create view answers.citus_stat_activity as select * from pg_stat_activity;
  grant select on all tables in schema answers to public;
  create function answers.get_shard_id_for_distribution_column(text, bigint) returns bigint
    language sql immutable return 1;
  create function answers.citus_check_connection_to_node(nodename text, nodeport integer) returns boolean
    language sql return nodename = 'worker';`;

const MOVED = [...PLACEMENTS].filter(([, where]) => where !== 'coordinator').map(([table]) => table);

/** Citus takes no table that has triggers. */
const DROP_TRIGGERS = `
  do $$ declare t record; begin
    for t in select tgname as name, tgrelid::regclass as place from pg_trigger
              where not tgisinternal and tgrelid::regclass::text = any('{${MOVED}}') loop
      execute format('drop trigger %I on %s', t.name, t.place);
    end loop;
  end $$;`;

/** Connections that are opened afterwards find the answers. */
export async function answerForCitus(url: string, name: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client
    .query(`${ANSWERS} ${DROP_TRIGGERS} alter database ${name} set search_path = public, answers`)
    .finally(() => client.end());
}

/** Whether the tests run the statements for a distributed database: on a cluster, or on one server. */
export function runsStepForms(): boolean {
  return inject('citusServers').length > 0 || inject('stepForms');
}

/** A test of statements that a distributed database does not have. It is not skipped there: there is nothing to test. */
export function testOneServer(name: string, run: () => Promise<void>): void {
  if (!runsStepForms()) test(name, run);
}

/** A test of statements that only a distributed database has. */
export function testStepForms(name: string, run: () => Promise<void>): void {
  if (runsStepForms()) test(name, run);
}
