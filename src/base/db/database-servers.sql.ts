/** SQL of `database_servers`: which servers of a distributed database answer, as all processes know it. */
import type { DatabaseServer } from './away-servers.ts';
import { isDistributed } from './distribution.ts';
import type { Db, Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** One failure may be that of a server that was started again just then. */
const FAILURES_AWAY = 2;
/** What was found so long ago says nothing. */
const OLD_SECONDS = 60;
/**
 * How long a server has to take a connection, and to answer on it. No connection is kept: on one to a server that hangs, Citus waits beyond
 * any time limit of the statement, because it cancels by another connection to that server.
 */
const ASKING = `begin; set local citus.max_cached_conns_per_worker = 0; set local citus.node_connection_timeout = '2s';
  set local statement_timeout = '4s'`;

export function hasSeveralServers(): boolean {
  return isDistributed();
}

/** The coordinator knows the answer by itself. Where there is one server, none. */
export async function findServers(db: Db): Promise<readonly DatabaseServer[]> {
  if (!hasSeveralServers()) return [];
  const { rows } = await db.query<DatabaseServer>({
    name: 'find-database-servers',
    text: `select s.id, s.name,
                  case when s.failures >= ${FAILURES_AWAY} and s.asked_at > now() - interval '${OLD_SECONDS} s'
                    then extract(epoch from now() - s.away_since) end::float8 as "awaySeconds"
             from database_servers s join pg_dist_node n on n.groupid = s.id and n.noderole = 'primary' and n.isactive
            order by s.id`,
    values: [],
  });
  return rows;
}

/** Returns the servers that no process has asked for so long. They count as asked. */
export async function claimServers(db: Db, seconds: number): Promise<readonly number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'claim-database-servers',
    text: `insert into database_servers as s (id, name, asked_at)
           select groupid, nodename || ':' || nodeport, now() from pg_dist_node
            where groupid > 0 and noderole = 'primary' and isactive order by groupid
           on conflict (id) do update set name = excluded.name, asked_at = excluded.asked_at
            where s.asked_at <= now() - make_interval(secs => $1)
           returning id`,
    values: [seconds],
  });
  return rows.map(({ id }) => id);
}

/** Whether the coordinator gets an answer of it. */
export function askServer(db: Pool, id: number): Promise<boolean> {
  const ask = inTransaction(
    db,
    async (tx) => {
      const { rows } = await tx.query<{ answers: boolean }>({
        name: 'ask-database-server',
        text: `select bool_and(citus_check_connection_to_node(nodename, nodeport)) as answers
                 from pg_dist_node where groupid = $1 and noderole = 'primary'`,
        values: [id],
      });
      return rows[0]!.answers;
    },
    { begin: ASKING },
  );
  return ask.catch(() => false);
}

export async function noteAnswer(db: Db, id: number, answers: boolean): Promise<void> {
  await db.query({
    name: 'note-answer-of-database-server',
    text: `update database_servers
              set failures = case when $2::boolean then 0 else failures + 1 end,
                  away_since = case when not $2::boolean then coalesce(away_since, now()) end
            where id = $1 and not ($2::boolean and failures = 0)`,
    values: [id, answers],
  });
}
