/** Restores a backup into a server of its own, in a folder that is thrown away afterwards. */
import {
  chmodSync,
  constants,
  existsSync,
  lchownSync,
  lstatSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { openPool } from '../../base/db/pool.ts';
import {
  type Cluster,
  findSocketFolder,
  startPostmaster,
  stopPostmaster,
} from '../embedded-postgres/cluster.ts';
import { startEmbedded } from '../embedded-postgres/embedded-postgres.ts';
import type { Account } from '../embedded-postgres/user.ts';
import { BACKUP_FILE, DUMP, FILES, type StoredBackup } from './backup.ts';
import { findReplayed } from './database-state.sql.ts';
import { sumOf } from './make-backup.ts';
import { findServer, runPostgres } from './postgres-programs.ts';
import { isSegment, placeOf } from './wal-segment.ts';

export interface Restoring {
  /** An empty folder. */
  readonly scratch: string;
  /** The folder of archived WAL. */
  readonly wal?: string | undefined;
  /** Default: all that the WAL has. */
  readonly until?: Date | undefined;
  readonly ending: AbortSignal;
}

export interface Restored {
  /** Opens the database as the owner of its tables. */
  readonly url: string;
  /** Opens it as a role that owns nothing; `undefined`: there is none. */
  readonly applicationUrl: string | undefined;
  readonly moment: Date;
  stop(): Promise<void>;
}

const SILENT = { info: () => {}, warn: () => {} };
/** A long archive takes its time. */
const RECOVERY_MS_MAX = 24 * 3_600_000;

export function restoreBackup(backup: StoredBackup, restoring: Restoring): Promise<Restored> {
  assertOwn(backup);
  return backup.kind === 'dump' ? restoreDump(backup, restoring) : restoreFiles(backup, restoring);
}

/** What is in a backup runs when it is restored: functions, and with the files of a server its libraries. */
function assertOwn({ folder }: StoredBackup): void {
  const self = process.getuid?.();
  if (self === undefined) return;
  for (const path of [folder, ...[BACKUP_FILE, DUMP, FILES].map((name) => join(folder, name))]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || ([self, 0].includes(found.uid) && (found.mode & 0o022) === 0)) continue;
    const why = `it belongs to user ${found.uid}, and its mode is ${(found.mode & 0o777).toString(8)}`;
    throw new Error(`${path} may have been changed by others: ${why}`);
  }
}

async function restoreDump(
  { folder, name, bytes, sha256, moment }: StoredBackup,
  { scratch, ending }: Restoring,
): Promise<Restored> {
  const path = join(folder, DUMP);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size !== bytes) throw new Error(`the dump of ${name} is not whole: it has ${size} of ${bytes} bytes`);
  if ((await sumOf(path)) !== sha256) throw new Error(`the dump of ${name} is damaged: its SHA-256 differs`);
  const { url, applicationUrl, stop } = await startEmbedded({ dataDir: scratch, log: SILENT, ending });
  try {
    const jobs = `--jobs=${availableParallelism()}`;
    const args = ['--no-owner', '--no-privileges', '--exit-on-error', jobs, path];
    await runPostgres('pg_restore', args, { url, ending });
    return { url, applicationUrl, moment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function restoreFiles(backup: StoredBackup, restoring: Restoring): Promise<Restored> {
  const { scratch, wal, until, ending } = restoring;
  const { majorVersion } = backup;
  const newest = wal === undefined ? undefined : findNewestSegment(wal);
  const files = join(backup.folder, FILES);
  await runPostgres('pg_verifybackup', ['--quiet', files], { majorVersion, ending });
  const dir = join(scratch, 'postgres');
  await cp(files, dir, { recursive: true, mode: constants.COPYFILE_FICLONE, filter: assertInside });
  configure(dir, restoring);
  const program = findServer(dir, majorVersion);
  const { account } = program;
  if (account) {
    // PostgreSQL before 16 enters its folder by the whole path.
    chmodSync(scratch, 0o711);
    giveAll(dir, account);
  }
  const cluster: Cluster = { dataDir: scratch, dir, password: '', durable: true, program };
  const server = await startPostmaster(cluster, { ending, readyMsMax: RECOVERY_MS_MAX });
  if (server === undefined) throw new Error(`another server runs in ${dir}`);
  const stop = async () => {
    await stopPostmaster(cluster, server);
    server.letGo();
  };
  try {
    const socket = findSocketFolder(cluster, server);
    if (socket === undefined)
      throw new Error(`the path ${scratch} is too long for a socket: choose a --scratch`);
    const user = encodeURIComponent(backup.owner);
    const url = new URL(`postgres://${user}@localhost:${server.port}/${encodeURIComponent(backup.database)}`);
    url.searchParams.set('host', socket);
    const db = openPool(url.href, { max: 1 });
    const replayed = await findReplayed(db).finally(() => db.end());
    if (newest !== undefined && until === undefined) assertReached(newest, replayed.segment);
    return { url: url.href, applicationUrl: undefined, moment: replayed.until ?? backup.moment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A link would be followed when settings are written, and when the server is given its files. */
function assertInside(path: string): boolean {
  if (!lstatSync(path).isSymbolicLink() && basename(path) !== 'tablespace_map') return true;
  throw new Error(`${path} leads out of the backup`);
}

function findNewestSegment(wal: string): string {
  const names = existsSync(wal) ? readdirSync(wal) : [];
  const newest = names.filter(isSegment).sort().at(-1);
  if (newest === undefined)
    throw new Error(`${wal} holds no WAL: files with names of 24 hexadecimal digits, not compressed`);
  return newest;
}

/** PostgreSQL takes any file that it cannot fetch for the end of the archive. A recovery begins a timeline of its own. */
function assertReached(newest: string, reached: string): void {
  if (placeOf(reached) >= placeOf(newest)) return;
  throw new Error(`the WAL has a gap: its newest segment is ${newest}, and the recovery ended in ${reached}`);
}

function giveAll(dir: string, { uid, gid }: Account): void {
  for (const name of ['', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(dir, name), uid, gid);
}

/** With the offset as a number: PostgreSQL does not know names of time zones yet when it reads its settings. */
function timeText(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '+00');
}

/**
 * Settings of its own: those of the original server could archive WAL into its archive, follow its primary, or need what is not on this
 * machine. It can be reached by its socket alone, whose folder is closed.
 */
function configure(dir: string, { wal, until }: Restoring): void {
  const quote = (text: string) => `'${text.replaceAll(/['\\]/g, '$&$&')}'`;
  // For the shell, and for PostgreSQL, where % has a meaning.
  const archive = wal && `'${wal.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
  const fetch = archive === undefined ? 'false' : `cp ${archive}/%f "%p"`;
  const settings = [
    'hot_standby = off',
    'archive_mode = off',
    // Subscriptions would take changes from their publisher, which the original server then never gets.
    'max_logical_replication_workers = 0',
    // Transactions that were prepared come back, and need a place each.
    'max_prepared_transactions = 1000',
    `restore_command = ${quote(fetch)}`,
    'recovery_target_action = promote',
    ...(until === undefined ? [] : [`recovery_target_time = ${quote(timeText(until))}`]),
  ];
  const write = (name: string, text: string) => {
    rmSync(join(dir, name), { force: true });
    writeFileSync(join(dir, name), text, { flag: 'wx' });
  };
  write('postgresql.conf', `${settings.join('\n')}\n`);
  write('postgresql.auto.conf', '');
  write('pg_hba.conf', 'local all all trust\n');
  write('pg_ident.conf', '');
  write('recovery.signal', '');
  for (const name of ['standby.signal', 'postmaster.pid']) rmSync(join(dir, name), { force: true });
}
