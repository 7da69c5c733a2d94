/** Databases with many rows of other tenants, written straight into the tables as a service would have left them. */
import type pg from 'pg';
import { makeTenant } from '../test/support/tenants.ts';
import type { Bench } from './benchmark.ts';
import { createDatabase, named } from './flat-ledger.ts';
import { onLongClient, type Stand } from './stand.ts';

const TENANTS = 200;
const PARTICIPANTS_OF_ROOM = 100;
/** In this order, because each refers to the one before. */
const TABLES = ['rooms', 'participants', 'admissions', 'postings', 'events'] as const;

/** A database of its own on the server of `stand`, with `rows` participants, admissions, postings and events each. */
export async function openFilled(bench: Bench, stand: Stand, rows: number): Promise<Stand> {
  const own = await createDatabase(bench, stand, `rows_${rows}`);
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => makeTenant(own.db)));
  await onLongClient(own, async (client) => {
    await client.query(`set maintenance_work_mem = '512MB'`);
    for (const table of TABLES) {
      await withoutExtras(client, table, async () => {
        for (const [at, tenant] of tenants.entries()) {
          if (at % 20 === 0) bench.progress(`${named(rows)} rows: ${table}, tenant ${at} of ${TENANTS}`);
          await client.query(FILL[table], [tenant, rows / TENANTS]);
        }
      });
    }
    await client.query(KEEP_NEWEST);
    await client.query(ASSIGN_ALL);
    bench.progress(`${named(rows)} rows: vacuuming`);
    await client.query('vacuum analyze');
  });
  return own;
}

/** Foreign keys, triggers and all indexes but the primary key come back when the rows are there, which takes a fifth of the time. */
async function withoutExtras(client: pg.Client, table: string, fill: () => Promise<void>): Promise<void> {
  const { rows: keys } = await client.query<{ name: string; definition: string }>(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where conrelid = $1::regclass and contype = 'f'`,
    [table],
  );
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index i
      where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = i.indexrelid)`,
    [table],
  );
  for (const { name } of keys) await client.query(`alter table ${table} drop constraint ${name}`);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query(`alter table ${table} disable trigger user`);
  await fill();
  await client.query(`alter table ${table} enable trigger user`);
  for (const { definition } of indexes) await client.query(definition);
  for (const { name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
}

/** `$1`: the tenant, `$2`: how many rows it gets of each, but of rooms. */
const FILL: Readonly<Record<(typeof TABLES)[number], string>> = {
  rooms: `insert into rooms (tenant_id, uid, name, incarnation, policy)
    select $1, 'rm_' || md5($1::bigint || ' ' || n), 'room-' || n, 1, '{}'
      from generate_series(1, greatest(1, $2::integer / ${PARTICIPANTS_OF_ROOM})) n order by 2`,
  participants: `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
    select $1, uid, 'user-' || n, 'user-' || n, 'audience', 20, '{subscribe.audio,subscribe.video}', now() + interval '1 day'
      from (select uid from rooms where tenant_id = $1 order by uid) r,
           generate_series(1, least($2::integer, ${PARTICIPANTS_OF_ROOM})) n`,
  admissions: `insert into admissions (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
    select tenant_id, room_uid, username, left(md5(room_uid || username) || md5(username), 43), role, rank, capabilities,
           '0123456789abcdef', expires_at
      from participants where tenant_id = $1 and $2 > 0 order by room_uid, username`,
  postings: `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, rate_version, rule_version, rounding, carry,
                                   records, newest_ids)
    select $1, seq, 'usage', -(seq - 1) * 400, -400, -seq * 400, 1, 1, 'c', 1006632960000, 10, array['relay-1.' || lpad(seq::text, 9, '0')]
      from generate_series(1, $2::bigint) seq`,
  events: `with stream as (
      insert into event_streams (tenant_id, last_seq) values ($1, $2::bigint)
      on conflict (tenant_id) do update set last_seq = excluded.last_seq returning last_seq
    )
    insert into events (tenant_id, seq, type, room_uid, subject)
    select $1, seq, 'participant_entered', 'rm_' || md5($1::bigint || ' ' || seq % 1000),
           jsonb_build_object('username', 'user-' || seq, 'room', 'room-' || seq % 1000, 'role', 'audience', 'rank', 20, 'devices', '[]'::jsonb)
      from generate_series(1, (select last_seq from stream)) seq`,
};

const KEEP_NEWEST = `update accounts a set last_seq = p.seq, balance = p.balance
  from (select tenant_id, max(seq) as seq from postings group by tenant_id) newest join postings p using (tenant_id, seq)
 where a.tenant_id = p.tenant_id`;

/** Otherwise the job that assigns usage to sessions would work through it during the measurement. */
export const ASSIGN_ALL =
  'insert into session_cursors (tenant_id, seq) select tenant_id, last_seq from accounts where last_seq is not null';
