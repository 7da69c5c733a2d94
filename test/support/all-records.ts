/** All usage records of a database at rest as one table, for checks that read it by SQL. */
import type { Db } from '../../src/base/db/pool.ts';
import type { ReadRecord } from '../../src/money/records/read-record.ts';
import { readRecords } from '../../src/money/records/read-records.ts';

const COLUMNS = {
  tenant_id: 'bigint',
  posting_seq: 'bigint',
  egress_bytes: 'bigint',
  ingress_bytes: 'bigint',
  amount: 'bigint',
  seconds: 'integer',
  line: 'smallint',
  role: '"char"',
  tier: '"char"',
  capped: 'boolean',
  id: 'text',
  room: 'text',
  participant: 'text',
};

/**
 * Lets `usage_records` be a table of this connection that has the archived records, too. Returns how many of them are archived.
 * Where tables are distributed, so is that one, once for a database.
 */
export async function showAllRecords(client: Db, { isDistributed = false } = {}): Promise<number> {
  if (isDistributed) await setAsService(client);
  await client.query('begin isolation level repeatable read');
  const { rows } = await client.query<{ count: number }>('select count(*)::int from usage_records');
  const all: ReadRecord[] = [];
  for await (const page of readRecords(client)) all.push(...page);
  await client.query('commit');
  const names = Object.keys(COLUMNS);
  const table = `usage_records as select ${names} from usage_records with no data`;
  if (isDistributed) await createDistributed(client, table);
  else await client.query(`create temporary table ${table}`);
  const types = Object.values(COLUMNS).map((type, at) => `$${at + 1}::${type}[]`);
  const values = all.map(columnsOf);
  await client.query(
    `insert into usage_records (${names}) select * from unnest(${types})`,
    names.map((_, at) => values.map((row) => row[at])),
  );
  return all.length - rows[0]!.count;
}

/** As sessions of the service are: each server is read in one snapshot. */
async function setAsService(client: Db): Promise<void> {
  await client.query('set plan_cache_mode = auto');
  await client.query('set citus.max_adaptive_executor_pool_size = 1');
}

/** Citus joins no temporary table with distributed ones. */
async function createDistributed(client: Db, table: string): Promise<void> {
  await client.query('create schema all_records');
  await client.query(`create table all_records.${table}`);
  await client.query(
    `select create_distributed_table('all_records.usage_records', 'tenant_id', colocate_with := 'accounts')`,
  );
  await client.query('set search_path = all_records, public');
}

/** In the order of `COLUMNS`. */
const columnsOf = (row: ReadRecord) => [
  row.tenant,
  row.seq,
  row.egressBytes,
  row.ingressBytes,
  row.amount,
  row.seconds,
  row.line,
  row.role,
  row.tier,
  row.capped,
  row.id,
  row.room,
  row.participant,
];
