/**
 * Distributes the tables of a database over the workers of a Citus cluster in one transaction, as a whole or not at all.
 * After that, tables that a migration adds are distributed before the service serves.
 *
 * Citus keeps three things that PostgreSQL does not: a unique key of a distributed table holds `tenant_id`, no
 * foreign key leads from one placement to another, and no table there has triggers of its own. What the triggers
 * did is done by rights of the role (`grant_application_rights()`) and by statements of the service.
 */
import pg from 'pg';
import { onLongConnection, type Pool } from '../../base/db/pool.ts';
import { misplaced, readState } from './distribution-state.ts';
import { PLACEMENTS, type Placement } from './placements.ts';

interface ForeignKey {
  readonly table: string;
  readonly referenced: string;
  readonly name: string;
  readonly definition: string;
}

/** Any fixed number that nothing else locks. */
const LOCK = 7_302_771_402;

/** Move the tables that are not in their place. `progress` gets the name of each table before it is moved. */
export async function distribute(db: Pool, progress: (table: string) => void): Promise<void> {
  if (misplaced(await readState(db)).length === 0) return;
  // A transaction that fails is rolled back when the connection ends.
  await onLongConnection(db, async (client) => {
    await client.query('begin');
    await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`);
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    // Another process may have moved them meanwhile.
    const tables = misplaced(await readState(client));
    if (tables.length > 0) await moveAll(client, tables, progress);
    await client.query('commit');
  });
}

/**
 * Workers would compile large statements each time, which takes seconds, and settings of the service's sessions do not reach
 * them. Citus sets it on every server.
 */
async function turnOffJit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  await client.query(`alter database ${pg.escapeIdentifier(rows[0]!.name)} set jit = off`);
}

async function moveAll(
  client: pg.Client,
  tables: readonly string[],
  progress: (table: string) => void,
): Promise<void> {
  await client.query(`set local lock_timeout = '5s'`);
  await client.query(`lock table ${tables.join(', ')} in access exclusive mode`);
  const keys = await dropForeignKeys(client, tables);
  await dropTriggers(client, tables);
  if (tables.includes('payment_settings')) await widenUniqueKeys(client);
  if (tables.includes('accounts')) await turnOffJit(client);
  for (const table of tables) {
    progress(table);
    await move(client, table, PLACEMENTS.get(table)!);
  }
  for (const key of keys) await addForeignKey(client, key);
}

async function dropForeignKeys(client: pg.Client, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, confrelid::regclass::text as referenced, conname as name,
            pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
        and (conrelid::regclass::text = any($1) or confrelid::regclass::text = any($1))`,
    [tables],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

/** A key between tables that lie together. */
async function addForeignKey(client: pg.Client, { table, referenced, name, definition }: ForeignKey) {
  if (PLACEMENTS.get(table) !== PLACEMENTS.get(referenced)) return;
  await client.query(`alter table ${table} add constraint ${name} ${definition}`);
}

async function dropTriggers(client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ table: string; name: string }>(
    `select t.tgrelid::regclass::text as table, t.tgname as name
       from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace
        and c.relname = any($1)`,
    [tables],
  );
  for (const { table, name } of rows) await client.query(`drop trigger ${name} on ${table}`);
}

/** A customer of the provider belongs to one tenant: the service sees to it, as no index over all servers can. */
async function widenUniqueKeys(client: pg.Client): Promise<void> {
  await client.query('alter table payment_settings drop constraint payment_settings_customer_id_key');
  await client.query('create index payment_settings_customer on payment_settings (customer_id)');
}

async function move(client: pg.Client, table: string, placement: Placement): Promise<void> {
  if (placement === 'reference') {
    await client.query('select create_reference_table($1)', [table]);
  } else {
    const together = table === 'accounts' ? 'none' : 'accounts';
    await client.query(`select create_distributed_table($1, 'tenant_id', colocate_with := $2)`, [
      table,
      together,
    ]);
  }
  await client.query('select truncate_local_data_after_distributing_table($1)', [table]);
}
