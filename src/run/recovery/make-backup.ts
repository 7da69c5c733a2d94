/** Makes a backup with PostgreSQL's own programs. Until it is whole, it does not have its name. */
import { createHash } from 'node:crypto';
import { createReadStream, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Db, directConfig, type Pool } from '../../base/db/pool.ts';
import { withSnapshot } from '../../base/db/snapshot.ts';
import { codeOf } from '../../base/lib/error-code.ts';
import { exactJson } from '../../base/lib/exact-json.ts';
import {
  BACKUP_FILE,
  type Backup,
  type BackupKind,
  DUMP,
  FILES,
  FORMAT,
  nameOf,
  type StoredBackup,
} from './backup.ts';
import {
  assertNoTablespaces,
  assertOneServer,
  type DatabasePlace,
  type DatabaseState,
  exportSnapshot,
  findDatabasePlace,
  findDatabaseState,
  findMoment,
} from './database-state.sql.ts';
import { inDraft } from './draft.ts';
import { runPostgres } from './postgres-programs.ts';

/** `db` is the database, or a standby of it. */
export async function makeBackup(
  db: Pool,
  folder: string,
  kind: BackupKind,
  ending: AbortSignal,
): Promise<StoredBackup> {
  assertOneServer();
  return inDraft(folder, async (draft) => {
    const backup = await (kind === 'dump' ? dump : copyFiles)(db, draft, ending);
    writeFileSync(join(draft, BACKUP_FILE), exactJson({ format: FORMAT, ...backup }, 2), { flush: true });
    const name = giveName(draft, folder, backup);
    return { ...backup, name, folder: join(folder, name) };
  });
}

/** Another process may take a name at the same time. */
function giveName(draft: string, folder: string, backup: Backup): string {
  for (let number = 1; ; number += 1) {
    const name = nameOf(backup, number);
    try {
      renameSync(draft, join(folder, name));
      return name;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
    }
  }
}

/** What is counted is the state that is dumped. */
async function dump(db: Pool, draft: string, ending: AbortSignal): Promise<Backup> {
  const path = join(draft, DUMP);
  return withSnapshot(db, async (snapshot) => {
    const backup = await describe(snapshot);
    const id = await exportSnapshot(snapshot);
    await runPostgres('pg_dump', ['--format=custom', `--snapshot=${id}`, `--file=${path}`], {
      url: urlOf(db),
      ending,
    });
    return { ...backup, kind: 'dump', bytes: statSync(path).size, sha256: await sumOf(path) };
  });
}

async function describe(snapshot: Db): Promise<DatabaseState & DatabasePlace> {
  return { ...(await findDatabaseState(snapshot)), ...(await findDatabasePlace(snapshot)) };
}

export async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The files hold what was counted, and what came meanwhile. */
async function copyFiles(db: Pool, draft: string, ending: AbortSignal): Promise<Backup> {
  await assertNoTablespaces(db);
  const files = join(draft, FILES);
  const backup = await withSnapshot(db, describe);
  const { majorVersion } = backup;
  await runPostgres('pg_basebackup', [`--pgdata=${files}`, '--checkpoint=fast', '--no-password'], {
    url: urlOf(db),
    ending,
  });
  const completeAt = await findMoment(db);
  await runPostgres('pg_verifybackup', ['--quiet', files], { majorVersion, ending });
  return { ...backup, kind: 'base', completeAt };
}

function urlOf(db: Pool): string {
  return directConfig(db).connectionString!;
}
