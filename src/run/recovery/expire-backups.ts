/** Deletes older backups beyond those to keep, and archived WAL that no backup needs any more. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILES, isPast, listNames, readBackup, type StoredBackup } from './backup.ts';
import { inDraft } from './draft.ts';
import { isSegment, placeOf } from './wal-segment.ts';

export interface Keeping {
  /** So many of the newest ones. */
  readonly newest?: number | undefined;
  /** Also the last one of each of so many days that have one. */
  readonly days?: number | undefined;
  /** A folder of archived WAL. */
  readonly wal?: string | undefined;
}

export interface Expired {
  readonly backups: readonly string[];
  /** Files of the WAL. */
  readonly segments: number;
}

/**
 * Only whole backups of the same deployment and kind. `made` is the newest one whatever its name says: a standby may be behind. One from
 * the future does not count, and stays.
 */
export async function expireBackups(made: StoredBackup, { wal, ...keeping }: Keeping): Promise<Expired> {
  const folder = dirname(made.folder);
  const older = listNames(folder)
    .flatMap((name) => readIfWhole(folder, name))
    .filter(({ name, kind }) => name !== made.name && kind === made.kind)
    .filter((each) => each.deployment === made.deployment && isPast(each));
  const kept = keptOf([made, ...older], keeping);
  const over = older.filter((each) => !kept.has(each));
  // One whose deletion is interrupted has lost its name, and the next draft removes it.
  await inDraft(folder, async (draft) => {
    for (const { folder: path, name } of over) renameSync(path, join(draft, name));
  });
  return {
    backups: over.map(({ name }) => name),
    segments: wal === undefined ? 0 : deleteSegments(folder, wal),
  };
}

function readIfWhole(folder: string, name: string): StoredBackup[] {
  try {
    return [readBackup(folder, name)];
  } catch {
    return [];
  }
}

/** `backups`: the newest first. */
function keptOf(
  backups: readonly StoredBackup[],
  { newest = 1, days = 0 }: Keeping,
): ReadonlySet<StoredBackup> {
  const lastOfDay = new Map<string, StoredBackup>();
  for (const backup of backups) {
    const day = backup.moment.toISOString().slice(0, 10);
    if (!lastOfDay.has(day)) lastOfDay.set(day, backup);
  }
  return new Set([...backups.slice(0, newest), ...[...lastOfDay.values()].slice(0, days)]);
}

/** Those from before all files that are kept, also if PostgreSQL has not finished them. Those of another server stay. Returns how many. */
function deleteSegments(folder: string, wal: string): number {
  const files = listNames(folder)
    .filter((name) => name.includes('-base'))
    .map((name) => join(folder, name, FILES));
  const [first] = files.map((path) => placeOf(findFirstSegment(path))).sort();
  const servers = files.map((path) => readBytes(join(path, 'global', 'pg_control'), 0));
  const over = readdirSync(wal).filter(
    (name) =>
      isSegment(name.replace(/\.partial$/, '')) &&
      placeOf(name) < first! &&
      servers.some((server) => server.equals(readBytes(join(wal, name), SERVER_AT))),
  );
  for (const name of over) rmSync(join(wal, name));
  return over.length;
}

/** PostgreSQL writes into its copy what a recovery of it reads first. */
function findFirstSegment(files: string): string {
  const path = join(files, 'backup_label');
  const [, segment] =
    /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (segment === undefined) throw new Error(`${path} does not say which WAL it needs: none was deleted`);
  return segment;
}

/** Where a segment has the identifier of its server. Source: PostgreSQL, `XLogLongPageHeaderData`. */
const SERVER_AT = 24;

/** The identifier of a server: eight bytes, in the order of its machine. */
function readBytes(path: string, at: number): Buffer {
  const bytes = Buffer.alloc(8);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, bytes.length, at);
  } finally {
    closeSync(file);
  }
  return bytes;
}
