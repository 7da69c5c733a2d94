/** A server that has data becomes the primary of `deploy/ha`, as docs/high-availability.md says. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readBlocks } from '../docs/blocks.ts';
import { FAULTS } from './faults.ts';
import { findMissingProgram, HaCluster } from './ha-cluster.ts';

const missing = findMissingProgram();

/** Made by another administrator: passwords of its own, which the files do not allow. */
const SERVER = `
  initdb --pgdata=main --username=postgres --auth=trust --no-sync >initdb.log
  mkdir --parents etc/conf.d
  export PGHOST=$PWD PGUSER=postgres
  pg_ctl --pgdata=main --wait --silent --log=main.log --options="-c listen_addresses='' -k $PWD" start
  psql --quiet --command="set password_encryption = 'md5'; create role boxoffice login password 'another';
    create role boxoffice_app login password 'another'"
  createdb --owner=boxoffice boxoffice
  psql --quiet --dbname=boxoffice --command='set role boxoffice; create table filled as
    select id from generate_series(1, 100000) as id; grant select on filled to boxoffice_app'
  mv main/postgresql.conf etc`;

/** The machine of the page. Its user is that of PostgreSQL already, and Patroni and the service start later. */
const MACHINE = `
  sudo() { shift 2; "$@"; }
  systemctl() { if [ "$3" = postgresql ]; then pg_ctl --pgdata=main --wait --silent --mode=fast stop; fi; }`;

/** The commands of the page, in one folder. */
const TAKE_OVER = readBlocks('docs/high-availability.md')
  .filter(({ notes }) => notes['checked in'] === 'test/deploy/take-over.test.ts')
  .map(({ text }) =>
    text
      .replaceAll('/etc/boxoffice-ha', '$PWD')
      .replaceAll(/\/etc\/postgresql\/\d+\/main/g, '$PWD/etc')
      .replaceAll(/\/var\/lib\/postgresql\/\d+/g, '$PWD'),
  );

test.skipIf(missing !== undefined)(
  'a filled server is taken over, and its standby has all of it when it is killed',
  async () => {
    expect(TAKE_OVER).toHaveLength(3);
    const cluster = await HaCluster.start([SERVER, MACHINE, ...TAKE_OVER].join('\n'));
    onTestFinished(() => cluster.stop());
    const primary = await cluster.becomesPrimary();
    expect(primary.name).toBe('one');
    expect(await readAs(cluster.ownerUrl)).toEqual({ records: 100_000, limit: '0' });

    await FAULTS.killPostgres.happen(cluster, primary);
    await cluster.becomesPrimary(primary);
    await expect
      .poll(() => readAs(cluster.url).catch(() => undefined))
      .toEqual({ records: 100_000, limit: '10s' });
  },
);

/** The number of records, and the time limit of the role. */
async function readAs(url: string): Promise<unknown> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `select count(*)::int as records, current_setting('statement_timeout') as "limit" from filled`,
  );
  await client.end();
  return rows[0];
}
