/** Migrations that come after the tables were distributed. */
import { expect, inject, test } from 'vitest';
import { readState } from '../../../src/run/distribution/distribution-state.ts';
import { bringUpToDate } from '../../../src/run/open-database.ts';
import { useDatabase } from '../../support/database.ts';
import { withMigrations } from '../../support/migrations.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

/** Runs the files in their order, as a newer version does at its start. */
const upgrade = (files: Readonly<Record<string, string>>) =>
  withMigrations(files, (folder) => bringUpToDate(database.pool, { folder }));

test('change tables of tenants, and their rows', async () => {
  const { pool } = database;
  const tenant = await makeTenant(pool);
  await upgrade({
    '9001_change.sql': `
      -- Comments; and semicolons
      alter table usage_records add column region text not null default 'eu; west';
      alter table accounts add column balance_before bigint not null default 1;
      update accounts set balance_before = balance;
      alter table accounts add constraint accounts_balance_before_check check (balance_before <> 2);
      create index rooms_state on rooms (tenant_id, state);
      alter table rooms rename column state to phase;
      alter table tenants add column region text not null default 'eu';
      alter table bans add constraint bans_later_check check (reason <> 'none');
      alter table bans drop constraint bans_later_check;
      create function later() returns integer language plpgsql as $$ begin return 1; end $$;
      perform later();`,
  });
  const { rows } = await pool.query('select balance_before as before from accounts where tenant_id = $1', [
    tenant,
  ]);
  expect(rows).toEqual([{ before: 0n }]);
  const refused = pool.query('update accounts set balance_before = 2 where tenant_id = $1', [tenant]);
  await expect(refused).rejects.toMatchObject({ code: '23514' });
  await pool.query('select region, phase from usage_records u join rooms r using (tenant_id)');
});

test('add a table of tenants, fill it, and let it refer to the others', async () => {
  const { pool } = database;
  const tenant = await makeTenant(pool);
  await upgrade({
    '9002_table.sql': `
      drop table card_notices;
      create table card_notices (tenant_id bigint, card text, primary key (tenant_id, card));
      insert into card_notices select tenant_id, 'a card' from accounts;
      create trigger append_only before update on card_notices for each statement execute function refuse_change();`,
    '9003_reference.sql': 'alter table card_notices add foreign key (tenant_id) references accounts;',
  });
  const filled = await pool.query('select card from card_notices where tenant_id = $1', [tenant]);
  expect(filled.rows).toEqual([{ card: 'a card' }]);
  const refused = pool.query(`insert into card_notices values (1, 'a card')`);
  await expect(refused).rejects.toMatchObject({ code: '23503' });
  if (inject('citusServers').length === 0) return;
  expect((await readState(pool)).placed.get('card_notices')).toBe('distributed');
});
