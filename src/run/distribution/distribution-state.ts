/** What a database says about Citus, and what keeps its tables from being distributed. */
import type { Db } from '../../base/db/pool.ts';
import { PLACEMENTS, type Placement } from './placements.ts';

export interface DistributionState {
  /** The version of Citus; `undefined`: the database does not have it. */
  readonly version: string | undefined;
  readonly workers: number;
  /** Whether the coordinator itself is one of the nodes. Tables of which each node has a copy need that. */
  readonly hasCoordinator: boolean;
  /** The place of each table that exists. */
  readonly placed: ReadonlyMap<string, Placement>;
}

const NOT_CITUS: DistributionState = {
  version: undefined,
  workers: 0,
  hasCoordinator: false,
  placed: new Map(),
};

export async function readState(db: Db): Promise<DistributionState> {
  const { rows: found } = await db.query<{ version: string }>(
    `select extversion as version from pg_extension where extname = 'citus'`,
  );
  if (!found[0]) return NOT_CITUS;
  const { rows: nodes } = await db.query<{ workers: number; hasCoordinator: boolean }>(
    `select (count(*) filter (where groupid > 0 and isactive))::integer as workers,
            coalesce(bool_or(groupid = 0), false) as "hasCoordinator" from pg_dist_node`,
  );
  const { rows: tables } = await db.query<{ name: string; placement: Placement }>(
    `select relname as name,
            case when partmethod = 'h' then 'distributed' when repmodel = 't' then 'reference' else 'coordinator' end as placement
       from pg_class left join pg_dist_partition on logicalrelid = oid
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
  );
  return {
    ...found[0],
    ...nodes[0]!,
    placed: new Map(tables.map(({ name, placement }) => [name, placement])),
  };
}

/** Tables that are elsewhere than they belong. Those of migrations that have not run are left out. */
export function misplaced({ placed }: DistributionState): string[] {
  return [...PLACEMENTS]
    .filter(([table, placement]) => (placed.get(table) ?? placement) !== placement)
    .map(([table]) => table);
}

function distributedIn({ placed }: DistributionState): string[] {
  return [...placed]
    .filter(([, placement]) => placement !== 'coordinator')
    .map(([table]) => table)
    .sort();
}

export type Progress = 'not' | 'half' | 'wholly';

export function progressOf(state: DistributionState): Progress {
  if (distributedIn(state).length === 0) return 'not';
  return misplaced(state).length === 0 ? 'wholly' : 'half';
}

/** Another one may plan statements otherwise. */
const OLDEST_CITUS = 13;

/** Why the tables cannot be distributed now, in one line; `undefined`: they can. */
export async function findObstacle(db: Db): Promise<string | undefined> {
  const state = await readState(db);
  if (state.version === undefined) {
    return 'the database has no Citus: create the extension on the coordinator and on each worker';
  }
  if (Number.parseInt(state.version, 10) < OLDEST_CITUS) {
    return `Citus ${state.version} is too old: version ${OLDEST_CITUS} or newer is needed`;
  }
  if (!state.hasCoordinator) {
    return 'the coordinator is not one of the nodes: name its address with citus_set_coordinator_host()';
  }
  if (state.workers === 0) return 'there are no workers: add them with citus_add_node()';
  const progress = progressOf(state);
  if (progress === 'wholly') return 'the database is distributed already';
  if (progress === 'half') {
    return `some tables are distributed and others are not: undistribute ${distributedIn(state).join(', ')}`;
  }
  return (await findForeignTables(db)) ?? (await findOtherSessions(db));
}

/** Distributing moves tables, which is the right of their owner. */
async function findForeignTables(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string; role: string }>(
    `select c.relname as name, current_user as role from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
        and not pg_has_role(c.relowner, 'usage') order by 1 limit 1`,
  );
  return rows[0] && `role ${rows[0].role} does not own ${rows[0].name}: connect as the owner of the tables`;
}

/** A service that does not know that the tables were distributed would send statements that Citus refuses. */
async function findOtherSessions(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'
        and application_name not like 'citus_%' and application_name <> current_setting('application_name')`,
  );
  const { count } = rows[0]!;
  if (count === 0) return undefined;
  return `the database is in use: ${count} other ${count === 1 ? 'connection' : 'connections'}. Stop all services first`;
}
