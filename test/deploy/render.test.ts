/** What `deploy/ha/render.ts` makes of settings. `ha.test.ts` starts it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../deploy/ha');
const EXAMPLE = readFileSync(join(FOLDER, 'ha.env'), 'utf8');
const PASSWORDS = ['SUPERUSER', 'REPLICATION', 'PATRONI', 'OWNER', 'SERVICE'].map(
  (name) => `${name}_PASSWORD`,
);

const scratch = mkdtempSync(join(tmpdir(), 'boxoffice-render-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const filled = `${EXAMPLE}\n${PASSWORDS.map((name) => `${name}=${name.toLowerCase()}-of-the-test`).join('\n')}`;

function render(settings: string) {
  const file = join(scratch, 'ha.env');
  writeFileSync(file, settings);
  const folder = mkdtempSync(join(scratch, 'files-'));
  const { status, stderr } = spawnSync(process.execPath, [join(FOLDER, 'render.ts'), file, folder], {
    encoding: 'utf8',
  });
  return { status, said: stderr, folder };
}

test('the files of every machine, for administrators only', () => {
  const { status, said, folder } = render(filled);
  expect([status, said]).toEqual([0, '']);
  const files = readdirSync(folder).sort();
  expect(files).toEqual([
    'create-database.sql',
    'etcd-one.yml',
    'etcd-three.yml',
    'etcd-two.yml',
    'haproxy.cfg',
    'patroni-one.yml',
    'patroni-two.yml',
    'pgbouncer.ini',
    'take-over.sql',
    'userlist.txt',
  ]);
  const texts = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  expect(Object.values(texts).join('')).not.toContain('${');
  expect(files.map((file) => statSync(join(folder, file)).mode & 0o777)).toEqual(files.map(() => 0o600));
  expect(texts['patroni-two.yml']).toContain('connect_address: 10.0.0.12:5432');
  expect(texts['patroni-two.yml']).toContain('hosts: 10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379');
  expect(texts['haproxy.cfg']).toMatch(
    / server one 10\.0\.0\.11:5432 check port 8008\n +server two 10\.0\.0\.12:5432 check port 8008\n/,
  );
  expect(texts['etcd-three.yml']).toContain(
    'initial-cluster: one=http://10.0.0.11:2380,two=http://10.0.0.12:2380,three=http://10.0.0.13:2380',
  );
});

test.each([
  ['the example, which has no passwords', EXAMPLE, /^\w+_PASSWORD must be set\n$/],
  ['a short password', `${filled}\nOWNER_PASSWORD=short`, /^OWNER_PASSWORD must be 16 or more /],
  [
    'a password with a quote',
    `${filled}\nOWNER_PASSWORD="sixteen'characters"`,
    /^OWNER_PASSWORD must be 16 or more /,
  ],
  ['no machines', `${filled}\nDATABASES=`, /^DATABASES must be a list of name=address:port:port, not ""\n$/],
  [
    'a machine without ports',
    `${filled}\nETCD=one=10.0.0.1`,
    /^ETCD must be a list of .*, not "one=10\.0\.0\.1"\n$/,
  ],
])('%s: one line, and no files', (_, settings, refusal) => {
  const { status, said, folder } = render(settings);
  expect(status).toBe(1);
  expect(said).toMatch(refusal);
  expect(readdirSync(folder)).toEqual([]);
});

test('no arguments: how it is used', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(FOLDER, 'render.ts')], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, 'usage: node deploy/ha/render.ts <settings> <folder>\n']);
});
