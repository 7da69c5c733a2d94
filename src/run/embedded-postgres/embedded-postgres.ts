/**
 * The embedded PostgreSQL: a real server that needs no installation, kept in the data directory.
 *
 * The server is a process of its own and survives a killed service; the next start adopts it.
 * Its users are recorded in PostgreSQL itself, as advisory locks of a connection that is held
 * open, so a `kill -9` leaves nothing stale behind:
 *
 * - SERVICE, exclusive: at most one service on a data directory.
 * - USE, shared: all users of the server. The one that gets it exclusively is the last one and
 *   stops the server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { codeOf } from '../../base/lib/error-code.ts';
import { StartError } from '../../base/lib/start-error.ts';
import {
  breakPostmaster,
  type Cluster,
  endWithProcess,
  findPostmaster,
  findSocketFolder,
  type LaunchOptions,
  type Log,
  openCluster,
  type Postmaster,
  STEP_MS,
  SUPERUSER,
  startPostmaster,
  stopPostmaster,
} from './cluster.ts';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** False trades durability for speed: a crash of the machine may lose data. For tests. Default true. */
  readonly durable?: boolean;
  /** Called once the server is starting, or was found running. */
  readonly whenLaunched?: () => void;
  /** Gives up a start that is under way, and ends what it has started. */
  readonly ending?: AbortSignal;
}

/** `adopted`: the server was already running. */
export interface Embedded {
  /** Opens the database as its owner. */
  readonly url: string;
  /** Opens it as a role that owns nothing. Its rights come with the migrations. */
  readonly applicationUrl: string;
  readonly adopted: boolean;
  /** Release the server. The last user also stops it. */
  stop(): Promise<void>;
}

/** Another service uses this data directory. */
export class DataDirInUse extends StartError {
  override readonly name = 'DataDirInUse';
  readonly code = 'DATA_DIR_IN_USE';

  constructor(dataDir: string, holder: string | undefined) {
    super(`DATA_DIR ${dataDir} is in use by another service${holder === undefined ? '' : ` (${holder})`}`);
  }
}

const DATABASE = 'boxoffice';
const OWNER = 'boxoffice';
const APPLICATION = 'boxoffice_app';

/**
 * First half of the advisory locks: "BOXO". They are taken in the database `postgres`, separate from ours.
 */
const LOCKS = 0x424f584f;
const SERVICE = 1;
const USE = 2;
const CREATION = 3;

/** Source: PostgreSQL, appendix A "Error Codes". */
const WRONG_PASSWORD = '28P01';
const STARTING_UP = '57P03';
const GOING_AWAY: ReadonlySet<string> = new Set(['57P01', '57P02', STARTING_UP, 'ECONNRESET', 'EPIPE']);

/** PostgreSQL releases a killed service's lock shortly after, when it notices the closed connection. */
const LOCK_MS_MAX = 2_000;
const ANSWER_MS_MAX = 5_000;
const RETRY_MS = 500;

type Purpose = 'service' | 'visit';

/**
 * Start the embedded server for a service, or adopt the one that a killed service left running.
 *
 * If the server dies while the service runs, it is restarted on the same port.
 *
 * @throws DataDirInUse when another service holds this data directory
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return await useEmbedded(options, 'service');
}

/**
 * Use the embedded server next to a running service, or alone when none runs.
 *
 * For operator commands: does not count as a service and leaves the server as it was found.
 */
export async function attachEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return await useEmbedded(options, 'visit');
}

async function useEmbedded(options: EmbeddedOptions, purpose: Purpose): Promise<Embedded> {
  const { whenLaunched, ending } = options;
  const cluster = await openCluster(options.dataDir, options.durable ?? true, options.log, ending);
  const first = await acquire(cluster, purpose, { whenLaunched, ending });
  const { port } = first.postmaster;
  let hold: Hold | undefined = first;
  const stopping = new AbortController();
  let recovery: Promise<void> = Promise.resolve();

  const recoverWhenLost = (held: Hold): void => {
    held.client.once('end', () => {
      if (stopping.signal.aborted) return;
      options.log.warn('the embedded database went away; starting it again');
      held.letGo();
      hold = undefined;
      recovery = recover();
    });
  };
  const recover = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        hold = await acquire(cluster, purpose, { port, ending: stopping.signal });
        recoverWhenLost(hold);
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        options.log.warn(`the embedded database is still away: ${messageOf(error)}`);
        await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  recoverWhenLost(first);

  return {
    url: urlOf(cluster, first.postmaster, OWNER, DATABASE),
    applicationUrl: urlOf(cluster, first.postmaster, APPLICATION, DATABASE),
    adopted: first.adopted,
    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      await recovery;
      if (hold) await release(cluster, hold);
    },
  };
}

/** Registration as a user of a running server, held while `client` is connected. */
interface Hold {
  readonly client: pg.Client;
  readonly postmaster: Postmaster;
  readonly adopted: boolean;
  /** The server goes on when this process exits. */
  readonly letGo: () => void;
}

async function acquire(cluster: Cluster, purpose: Purpose, options: LaunchOptions): Promise<Hold> {
  for (;;) {
    const running = await findOrStart(cluster, options);
    const client = await connect(cluster, running.postmaster, purpose);
    if (client === undefined) {
      running.letGo();
      continue;
    }
    try {
      if (await takePlace(client, cluster, purpose)) {
        await createDatabase(client, cluster);
        const isTakenOver = running.adopted && purpose === 'service';
        const letGo = isTakenOver ? endWithProcess(cluster, running.postmaster) : running.letGo;
        return { ...running, client, letGo };
      }
    } catch (error) {
      if (!isGoingAway(error)) {
        await release(cluster, { ...running, client });
        throw error;
      }
    }
    // The last user is about to stop this server: wait until it has ended, then start it again.
    running.letGo();
    await client.end().catch(() => undefined);
    await sleep(STEP_MS);
  }
}

async function findOrStart(cluster: Cluster, options: LaunchOptions): Promise<Omit<Hold, 'client'>> {
  for (;;) {
    options.ending?.throwIfAborted();
    const found = findPostmaster(cluster);
    if (found !== undefined) options.whenLaunched?.();
    if (found?.status === 'ready') return { postmaster: found, adopted: true, letGo: () => undefined };
    if (found === undefined) {
      const postmaster = await startPostmaster(cluster, options);
      if (postmaster !== undefined) return { postmaster, adopted: false, letGo: postmaster.letGo };
    }
    await sleep(STEP_MS);
  }
}

/** Connect as superuser. Stops a server that does not answer; undefined: look for it again. */
async function connect(
  cluster: Cluster,
  postmaster: Postmaster,
  purpose: Purpose,
): Promise<pg.Client | undefined> {
  let deadline = Date.now() + ANSWER_MS_MAX;
  while (Date.now() < deadline) {
    const client = new pg.Client({
      connectionString: urlOf(cluster, postmaster, SUPERUSER, SUPERUSER),
      application_name: `boxoffice ${purpose}, pid ${process.pid}`,
      connectionTimeoutMillis: ANSWER_MS_MAX,
      keepAlive: true,
    });
    // The connection's end event reports the error.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (codeOf(error) === WRONG_PASSWORD) {
        throw new Error(`${cluster.dataDir}/postgres.password does not fit the database beside it`);
      }
      // A server in recovery refuses connections, but it is alive.
      if (codeOf(error) === STARTING_UP) deadline = Date.now() + ANSWER_MS_MAX;
    }
    if (findPostmaster(cluster)?.pid !== postmaster.pid) return undefined;
    await sleep(STEP_MS);
  }
  await breakPostmaster(cluster, postmaster);
  return undefined;
}

/** False if the last user is stopping the server. */
async function takePlace(client: pg.Client, cluster: Cluster, purpose: Purpose): Promise<boolean> {
  if (!(await tryLock(client, 'pg_try_advisory_lock_shared', USE))) return false;
  if (purpose === 'visit') return true;

  const deadline = Date.now() + LOCK_MS_MAX;
  while (!(await tryLock(client, 'pg_try_advisory_lock', SERVICE))) {
    if (Date.now() > deadline) throw new DataDirInUse(cluster.dataDir, await findHolder(client));
    await sleep(STEP_MS);
  }
  return true;
}

async function tryLock(
  client: pg.Client,
  lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
  key: number,
): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${lock}($1, $2) as taken`, [LOCKS, key]);
  return rows[0]?.taken === true;
}

/** `pid 123` of the service that holds the lock, from the name of its connection. */
async function findHolder(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2`,
    [LOCKS, SERVICE],
  );
  return /pid \d+/.exec(rows[0]?.name ?? '')?.[0];
}

/**
 * Creates what is missing. No role is a superuser, so that everything also works on a managed server. A
 * cluster of an earlier version has no application role yet.
 */
async function createDatabase(client: pg.Client, cluster: Cluster): Promise<void> {
  const { rows } = await client.query<{ isWhole: boolean }>(
    `select (select count(*) from pg_roles where rolname = any($1)) = 2
        and exists (select from pg_database where datname = $2) as "isWhole"`,
    [[OWNER, APPLICATION], DATABASE],
  );
  if (rows[0]!.isWhole) return;

  await client.query('select pg_advisory_lock($1, $2)', [LOCKS, CREATION]);
  try {
    await createRole(client, cluster, OWNER, 'createdb');
    // As a member, the owner may end the sessions of the service, as when it drops the database.
    await createRole(client, cluster, APPLICATION, `role ${OWNER}`);
    if ((await client.query('select from pg_database where datname = $1', [DATABASE])).rowCount === 0) {
      await client.query(`create database ${DATABASE} owner ${OWNER}`);
    }
  } finally {
    await client.query('select pg_advisory_unlock($1, $2)', [LOCKS, CREATION]);
  }
}

async function createRole(client: pg.Client, cluster: Cluster, name: string, options: string): Promise<void> {
  if ((await client.query('select from pg_roles where rolname = $1', [name])).rowCount === 1) return;
  await client.query(`create role ${name} login ${options} password ${pg.escapeLiteral(cluster.password)}`);
}

async function release(cluster: Cluster, { client, postmaster, letGo }: Hold): Promise<void> {
  try {
    if (await tryLock(client, 'pg_try_advisory_lock', USE)) await stopPostmaster(cluster, postmaster);
    letGo();
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** `host` in the query goes before the one in front: it is the folder of the socket. */
function urlOf(cluster: Cluster, postmaster: Postmaster, user: string, database: string): string {
  const url = new URL(`postgres://${user}:${cluster.password}@127.0.0.1:${postmaster.port}/${database}`);
  const folder = findSocketFolder(cluster, postmaster);
  if (folder !== undefined) url.searchParams.set('host', folder);
  return url.href;
}

function isGoingAway(error: unknown): boolean {
  return GOING_AWAY.has(codeOf(error) ?? '') || messageOf(error).startsWith('Connection terminated');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
