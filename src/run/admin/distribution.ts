/** `admin database`: distributes the tables over the workers of a Citus cluster, and shows how they are distributed. */
import type { Command } from 'commander';
import { findStaleMigration } from '../../base/db/migrate.ts';
import type { Db } from '../../base/db/pool.ts';
import { distribute } from '../distribution/distribute.ts';
import { findObstacle, misplaced, progressOf, readState } from '../distribution/distribution-state.ts';
import { PLACEMENTS } from '../distribution/placements.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printFields, printJson, printLine, printTable } from './output.ts';

export function distributionCommands(program: Command): void {
  const database = program.command('database').description('the servers that hold the tables');
  database
    .command('distribute')
    .description('distribute the tables over the workers of a Citus cluster, once; stop all services first')
    .addHelpText(
      'after',
      '\nIt happens in one transaction. If it fails, nothing has changed. Only a restore of a backup leads back.',
    )
    .action(distributeAll);
  withJson(
    database.command('status').description('whether the tables are distributed, and over which servers'),
  ).action(showStatus);
}

async function distributeAll(): Promise<void> {
  await withDatabase(async ({ db }) => {
    const obstacle = (await findStaleMigration(db))?.why ?? (await findObstacle(db));
    if (obstacle !== undefined) throw new Error(obstacle);
    await distribute(db, (table) => process.stderr.write(`${table}\n`));
    printLine('distributed: start the services again');
  });
}

async function showStatus({ json }: JsonOption): Promise<void> {
  await withDatabase(async ({ db }) => {
    const state = await readState(db);
    const progress = progressOf(state);
    const servers = progress === 'not' ? [] : await listServers(db);
    const left = progress === 'half' ? misplaced(state) : [];
    if (json) {
      printJson({
        citus: state.version ?? null,
        workers: state.workers,
        distributed: progress,
        left,
        servers,
      });
      return;
    }
    const count = (of: string) => [...PLACEMENTS.values()].filter((placement) => placement === of).length;
    printFields({
      Citus: state.version ?? 'none',
      workers: state.workers,
      distributed: progress === 'wholly' ? 'yes' : progress === 'half' ? 'in part' : 'no',
      ...(progress === 'wholly' && {
        tables: `${count('distributed')} distributed, ${count('reference')} on every server, ${count('coordinator')} on the coordinator`,
      }),
      ...(left.length > 0 && { 'not in their place': left.join(', ') }),
    });
    if (servers.length === 0) return;
    printLine();
    printTable(
      ['server', 'shards', 'bytes'],
      servers.map(({ server, shards, bytes }) => [server, shards, bytes]),
      { right: ['shards', 'bytes'] },
    );
  });
}

interface Server {
  readonly server: string;
  /** How many shards the distributed tables have. */
  readonly shards: number;
  readonly bytes: bigint;
}

async function listServers(db: Db): Promise<Server[]> {
  const { rows } = await db.query<Server>(
    `select nodename || ':' || nodeport as server, count(*)::integer as shards, sum(shard_size)::bigint as bytes
       from citus_shards where citus_table_type = 'distributed' group by 1 order by 1`,
  );
  return rows;
}
