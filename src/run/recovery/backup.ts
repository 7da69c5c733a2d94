/**
 * A backup: a folder with `backup.json`, and beside it a dump or a copy of the server's files. It has its name only when it is whole.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCounts } from './counts.ts';
import type { DatabasePlace, DatabaseState } from './database-state.sql.ts';

/** `dump`: one database, by `pg_dump`. `base`: the files of the whole server, to which archived WAL can be added. */
export type BackupKind = 'dump' | 'base';

export interface Backup extends DatabaseState, DatabasePlace {
  readonly kind: BackupKind;
  /** For files: WAL can lead to any moment from here on. */
  readonly completeAt?: Date | undefined;
  /** The size of the dump. */
  readonly bytes?: number | undefined;
  readonly sha256?: string | undefined;
}

export interface StoredBackup extends Backup {
  readonly name: string;
  readonly folder: string;
}

export const FORMAT = 1;
export const BACKUP_FILE = 'backup.json';
export const DUMP = 'database.dump';
export const FILES = 'files';

/** An idle standby may have several of one moment: `number` tells them apart. */
export function nameOf({ moment, kind }: Backup, number = 1): string {
  const suffix = number === 1 ? '' : `-${number}`;
  return `${moment.toISOString().replaceAll(/[-:.]/g, '')}-${kind}${suffix}`;
}

/** Beside backups, there may be what is being copied there, or was set aside. */
const NAME = /^\d{8}T\d{9}Z-(dump|base)(-\d+)?$/;

/** The newest first. */
export function listNames(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  // Names begin with the time.
  const inOrder = new Intl.Collator('en', { numeric: true }).compare;
  return names
    .filter((name) => NAME.test(name) && existsSync(join(folder, name, BACKUP_FILE)))
    .sort((one, other) => inOrder(other, one));
}

/** Clocks of two machines may differ by so much. */
const SKEW_MS_MAX = 60_000;

/** One of the future would stay the newest one. */
export function isPast({ moment }: Backup): boolean {
  return moment.getTime() <= Date.now() + SKEW_MS_MAX;
}

interface Wanted {
  /** One to which WAL can be added. */
  readonly isBase: boolean;
  readonly until?: Date | undefined;
}

export function findNewest(folder: string, { isBase, until }: Wanted): StoredBackup {
  const names = listNames(folder);
  if (names.length === 0) throw new Error(`${folder} holds no backup: make one with \`admin backup\``);
  for (const name of names) {
    const backup = readBackup(folder, name);
    const fits = until === undefined || (backup.completeAt !== undefined && backup.completeAt <= until);
    if (fits && (!isBase || backup.kind === 'base')) return backup;
  }
  const before = until === undefined ? '' : ` from before ${until.toISOString()}`;
  throw new Error(`${folder} holds no files of the server${before}: make them with \`admin backup --base\``);
}

export function readBackup(parent: string, name: string): StoredBackup {
  const folder = join(parent, name);
  const path = join(folder, BACKUP_FILE);
  try {
    const { format, moment, completeAt, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
    if (format !== FORMAT) throw new Error(`its format is not ${FORMAT}`);
    return {
      ...rest,
      ...readCounts(rest),
      moment: new Date(moment),
      completeAt: completeAt && new Date(completeAt),
      name,
      folder,
    };
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
}
