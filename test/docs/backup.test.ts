/** The commands of docs/operations.md for two roles, and of docs/backup.md for backups, drills and restores. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, it, test } from 'vitest';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { makeProgram } from '../../src/run/admin/run.ts';
import { useDumpServer } from '../support/dump.ts';
import { blocksOf } from './blocks.ts';

const server = useDumpServer();
const OWNER = 'boxoffice';
const APPLICATION = 'boxoffice_app';

const BLOCKS = blocksOf('another test').filter(
  ({ notes }) => notes['checked in'] === 'test/docs/backup.test.ts',
);
const blockOf = (page: string, program: string) =>
  BLOCKS.find((block) => block.page === page && block.text.includes(program))!.text;
const roles = blockOf('docs/operations.md', 'createuser');
const restore = blockOf('docs/backup.md', 'pg_restore');

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
    server.run(roles.replaceAll(' --pwprompt', ''));
    await migrate(openAs('boxoffice', OWNER), { application: APPLICATION });

    server.run('pg_dump --format=custom --file=database.dump postgres://boxoffice@db.internal/boxoffice');
    server.run(restore);
    const before = await rightsIn('boxoffice', APPLICATION);
    expect(before.length).toBeGreaterThan(50);
    expect(await rightsIn('restored', APPLICATION)).toEqual(before);
  },
);

test('the command line takes what the page and the unit of systemd ask for', () => {
  const asked = BLOCKS.flatMap(({ text }) =>
    [...text.matchAll(/(?:admin --|main\.ts) (.*)$/gm)].map(([, line]) => line!),
  );
  expect(asked).toHaveLength(4);
  for (const line of asked) {
    let [command, words] = [makeProgram(), line.split(' ')];
    for (let next = command; next; next = command.commands.find((each) => each.name() === words[0])!) {
      if (next !== command) words = words.slice(1);
      command = next;
    }
    expect(command.parseOptions(words)).toEqual({ operands: ['/var/backups/boxoffice'], unknown: [] });
  }
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd takes the timer', () => {
  const folder = mkdtempSync(join(inject('scratch'), 'timer-'));
  for (const { language, text } of BLOCKS) {
    const [, name] = /^# \/etc\/systemd\/system\/(\S+)/.exec(text) ?? [];
    // The programs are not on this machine.
    if (language === 'ini')
      writeFileSync(join(folder, name!), text.replaceAll(/^ExecStart=.*/gm, 'ExecStart=/bin/true'));
  }
  const { status, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', join(folder, 'boxoffice-backup.timer')],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
