/** The commands of docs/operations.md for two roles, and of docs/procedures.md for backup and restore. */
import { afterAll, expect, it } from 'vitest';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { useDumpServer } from '../support/dump.ts';
import { blocksOf } from './blocks.ts';

const server = useDumpServer();
const OWNER = 'boxoffice';
const APPLICATION = 'boxoffice_app';

const [roles, restore] = ['docs/operations.md', 'docs/procedures.md'].map(
  (page) =>
    blocksOf('another test').find(
      (block) => block.page === page && block.notes['checked in'] === 'test/docs/backup.test.ts',
    )!.text,
);

const opened: Pool[] = [];
afterAll(() => Promise.all(opened.map((pool) => pool.end())));

function openAs(database: string, role: string): Pool {
  const url = new URL(server.urlOf(database));
  url.username = role;
  const pool = openPool(url.href, { max: 1 });
  opened.push(pool);
  return pool;
}

/** What a role may do with which table. */
async function rightsIn(database: string, role: string): Promise<string[]> {
  const { rows } = await openAs(database, role).query<{ name: string }>(
    `select c.relname || ': ' || p.one as name
       from pg_class c, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) as p (one)
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and has_table_privilege(c.oid, p.one)
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

// A dump needs the programs of a PostgreSQL installation, which not every machine has.
it.skipIf(server.means !== 'pg_dump')(
  'the owner dumps, and a restored database serves the other role',
  async () => {
    // A person types the passwords.
    server.run(roles!.replaceAll(' --pwprompt', ''));
    await migrate(openAs('boxoffice', OWNER), { application: APPLICATION });

    server.run(restore!);
    const before = await rightsIn('boxoffice', APPLICATION);
    expect(before.length).toBeGreaterThan(50);
    expect(await rightsIn('restored', APPLICATION)).toEqual(before);
  },
);
