/** The commands of docs/operations.md for two roles, and of docs/procedures.md for backup and restore. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { useDumpServer } from '../support/dump.ts';

const server = useDumpServer();
const OWNER = 'drill_owner';
const APPLICATION = 'drill_app';

let live: string;
const opened: Pool[] = [];

function openAs(url: string, role?: string): Pool {
  const own = new URL(url);
  if (role !== undefined) own.username = role;
  const pool = openPool(own.href, { max: 1 });
  opened.push(pool);
  return pool;
}

beforeAll(async () => {
  if (server.means !== 'pg_dump') return;
  live = await server.create('live');
  const admin = openAs(live);
  await admin.query(`create role ${OWNER} login`);
  await admin.query(`create role ${APPLICATION} login`);
  await admin.query(`alter database live owner to ${OWNER}`);
  await migrate(openAs(live, OWNER), { application: APPLICATION });
});
afterAll(() => Promise.all(opened.map((pool) => pool.end())));

// A dump needs the programs of a PostgreSQL installation, which not every machine has.
it.skipIf(server.means !== 'pg_dump')(
  'the owner dumps, and a restored database serves the other role',
  async () => {
    await server.dump('live', 'live.dump', OWNER);
    const restored = await server.restore('live.dump', 'restored');
    const rights = async (url: string, role: string) => {
      const { rows } = await openAs(url, role).query<{ name: string }>(
        `select c.relname || ': ' || p.one as name
         from pg_class c, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) as p (one)
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and has_table_privilege(c.oid, p.one)
        order by 1`,
      );
      return rows.map(({ name }) => name);
    };
    const before = await rights(live, APPLICATION);
    expect(before.length).toBeGreaterThan(50);
    expect(await rights(restored, APPLICATION)).toEqual(before);
  },
);
