/** `admin backup`: makes a backup of the database. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderCounts } from '../recovery/counts.ts';
import { makeBackup } from '../recovery/make-backup.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine } from './output.ts';
import { untilSignal } from './until-signal.ts';

export function backupCommand(program: Command): void {
  withJson(
    program
      .command('backup')
      .description('make a backup of the database, in a folder of its own')
      .argument('<folder>', 'the folder of all backups')
      .option('--base', 'the files of the whole server, to which archived WAL can be added'),
  )
    .addHelpText(
      'after',
      '\nUses pg_dump, or pg_basebackup and pg_verifybackup, and the address BACKUP_DATABASE_URL if it is set. A backup' +
        '\nhas its name only when it is whole. It holds no SECRETS_KEY: keep that apart.',
    )
    .action(async (folder: string, { base = false, json }: { base?: boolean } & JsonOption) => {
      // Only this user may read it.
      process.umask(0o077);
      await withDatabase(
        async ({ db }) => {
          const backup = await untilSignal((ending) =>
            makeBackup(db, resolve(folder), base ? 'base' : 'dump', ending),
          );
          if (json) printJson(backup);
          else printLine(`${backup.name}: ${renderCounts(backup)}`);
        },
        ({ backupDatabaseUrl, migrationsDatabaseUrl, databaseDirectUrl }) =>
          backupDatabaseUrl ?? migrationsDatabaseUrl ?? databaseDirectUrl,
      );
    });
}
