import { expect, inject, it } from 'vitest';
import { PLACEMENTS } from '../../../src/run/distribution/placements.ts';
import { useDatabase } from '../../support/database.ts';
import { tableRightsOf } from '../../support/table-rights.ts';

const database = useDatabase();

it('every table has its place', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([...PLACEMENTS.keys()].sort());
});

it('every distributed table has tenants, in each of its unique keys', async () => {
  const { rows } = await database.pool.query<{ table: string; name: string; columns: string[] }>(
    `select t.relname as table, i.relname as name,
            array(select attname::text from pg_attribute where attrelid = t.oid and attnum = any(x.indkey)) as columns
       from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where x.indisunique and t.relnamespace = current_schema()::regnamespace`,
  );
  const without = rows.filter(
    ({ table, columns }) => PLACEMENTS.get(table) === 'distributed' && !columns.includes('tenant_id'),
  );
  // Distributing replaces it by an index that is not unique.
  const replaced = ['payment_settings_customer_id_key'];
  expect(without.map(({ name }) => name).filter((name) => !replaced.includes(name))).toEqual([]);
});

it.skipIf(inject('citusServers').length > 0 || inject('applicationUrl') === '')(
  'a table that loses its triggers keeps the rights of the role',
  async () => {
    const { pool, applicationUrl } = database;
    const role = new URL(applicationUrl).username;
    const before = await tableRightsOf(pool, role);
    for (const [table, placement] of PLACEMENTS) {
      if (placement !== 'coordinator') await pool.query(`drop trigger if exists append_only on ${table}`);
    }
    await pool.query('select grant_application_rights($1)', [role]);
    expect(await tableRightsOf(pool, role)).toEqual(before);
  },
);
