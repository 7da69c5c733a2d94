/** `admin backup`: makes a backup of the database, and deletes older ones. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderCounts } from '../recovery/counts.ts';
import { expireBackups } from '../recovery/expire-backups.ts';
import { makeBackup } from '../recovery/make-backup.ts';
import { type JsonOption, parseNumber, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine } from './output.ts';
import { untilSignal } from './until-signal.ts';

interface Options extends JsonOption {
  readonly base?: boolean;
  readonly keep?: number;
  readonly keepDaily?: number;
  readonly wal?: string;
}

export function backupCommand(program: Command): void {
  withJson(
    program
      .command('backup')
      .description('make a backup of the database, in a folder of its own')
      .argument('<folder>', 'the folder of all backups')
      .option('--base', 'the files of the whole server, to which archived WAL can be added')
      .option('--keep <n>', 'then delete those of this kind but the n newest', parseNumber)
      .option('--keep-daily <n>', 'also keep the last one of each of n days', parseNumber)
      .option('--wal <folder>', 'then delete archived WAL from before all files that are kept'),
  )
    .addHelpText(
      'after',
      '\nUses pg_dump, or pg_basebackup and pg_verifybackup, and the address BACKUP_DATABASE_URL if it is set. A backup' +
        '\nhas its name only when it is whole. It holds no SECRETS_KEY: keep that apart.',
    )
    .action((folder: string, options: Options, command: Command) => {
      const { base, keep, keepDaily, wal } = options;
      if (wal !== undefined && !(base && (keep ?? keepDaily) !== undefined))
        command.error('error: --wal needs --base, and --keep or --keep-daily');
      return backUp(folder, options);
    });
}

async function backUp(folder: string, { base, keep, keepDaily, wal, json }: Options): Promise<void> {
  // Only this user may read it.
  process.umask(0o077);
  await withDatabase(
    async ({ db }) => {
      const backup = await untilSignal((ending) =>
        makeBackup(db, resolve(folder), base ? 'base' : 'dump', ending),
      );
      if (!json) printLine(`${backup.name}: ${renderCounts(backup)}`);
      const isLimited = (keep ?? keepDaily) !== undefined;
      const deleted = isLimited
        ? await expireBackups(backup, { newest: keep, days: keepDaily, wal: wal && resolve(wal) })
        : { backups: [], segments: 0 };
      if (json) return printJson({ ...backup, deleted: deleted.backups, deleted_segments: deleted.segments });
      for (const name of deleted.backups) printLine(`${name}: deleted`);
      if (wal !== undefined) printLine(`${deleted.segments} segments of WAL: deleted`);
    },
    ({ backupDatabaseUrl, migrationsDatabaseUrl, databaseDirectUrl }) =>
      backupDatabaseUrl ?? migrationsDatabaseUrl ?? databaseDirectUrl,
  );
}
