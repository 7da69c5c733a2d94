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

export function nameOf({ moment, kind }: Backup): string {
  return `${moment.toISOString().replaceAll(/[-:.]/g, '')}-${kind}`;
}

/** Beside backups, there may be what is being copied there, or was set aside. */
const NAME = /^\d{8}T\d{9}Z-(dump|base)$/;

interface Wanted {
  /** One to which WAL can be added. */
  readonly isBase: boolean;
  readonly until?: Date | undefined;
}

export function findNewest(folder: string, { isBase, until }: Wanted): StoredBackup {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  // Names begin with the time.
  const backups = names
    .filter((name) => NAME.test(name) && existsSync(join(folder, name, BACKUP_FILE)))
    .sort()
    .reverse();
  if (backups.length === 0) throw new Error(`${folder} holds no backup: make one with \`admin backup\``);
  for (const name of backups) {
    const backup = readBackup(join(folder, name), name);
    const fits = until === undefined || (backup.completeAt !== undefined && backup.completeAt <= until);
    if (fits && (!isBase || backup.kind === 'base')) return backup;
  }
  const before = until === undefined ? '' : ` from before ${until.toISOString()}`;
  throw new Error(`${folder} holds no files of the server${before}: make them with \`admin backup --base\``);
}

function readBackup(folder: string, name: string): StoredBackup {
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
