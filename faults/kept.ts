/** The folder of `--keep`: a campaign that can be judged again, by `--check`. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { startEmbedded } from '../src/run/embedded-postgres/embedded-postgres.ts';
import { startService } from '../src/run/service.ts';
import { bareConfig } from '../test/support/bare-config.ts';
import { openScratch } from '../test/support/scratch.ts';
import type { Campaign } from './check/check.ts';
import { DATA, JOURNAL, KEYS, REPORT } from './kept-files.ts';
import { readsOf } from './reads.ts';
import { parseReport, type Report, renderJson } from './report.ts';
import { copyData } from './stage/database.ts';
import type { LeftBehind } from './stage/left-behind.ts';
import { PUBLIC_URL } from './stage/stage.ts';

const SILENT = { info: () => {}, warn: () => {} };

/** What reads the views of a database. */
export interface Keys {
  /** In base64. */
  readonly secretsKey: string;
  /** The plaintext of a backend key, by tenant. */
  readonly tenants: Readonly<Record<string, string>>;
}

/** Beside the journal, the logs and the database, which are there. */
export function keepReport(folder: string, report: Report, keys: Keys): void {
  writeFileSync(join(folder, REPORT), renderJson(report));
  writeFileSync(join(folder, KEYS), `${JSON.stringify(keys)}\n`, { mode: 0o600 });
}

export const readKeptReport = (folder: string): Report =>
  parseReport(readFileSync(join(folder, REPORT), 'utf8'));

/** Serves a copy of the kept database while `use` judges it. The service does nothing by itself, so that the copy stays as it was. */
export async function serveKept<T>(
  folder: string,
  left: LeftBehind,
  use: (campaign: Campaign) => Promise<T>,
): Promise<T> {
  const keys = JSON.parse(readFileSync(join(folder, KEYS), 'utf8')) as Keys;
  const scratch = openScratch('boxoffice-faults-', { isOnDisk: true });
  left.add(scratch.folder);
  const dataDir = join(scratch.folder, DATA);
  await copyData(join(folder, DATA), dataDir);
  const { url, stop } = await startEmbedded({ dataDir, log: SILENT, durable: false });
  const secretsKey = Buffer.from(keys.secretsKey, 'base64');
  const config = { ...bareConfig(url), publicUrl: PUBLIC_URL, secretsKey };
  const service = await startService(config, pino({ level: 'silent' }), { isTied: true });
  try {
    const reads = readsOf(
      `http://127.0.0.1:${service.port}`,
      new Map(Object.entries(keys.tenants)),
      globSync('*.log', { cwd: folder }).map((log) => join(folder, log)),
    );
    const journal = join(folder, JOURNAL);
    return await use({ journal, keptAs: journal, databaseUrl: url, reads });
  } finally {
    await service.stop();
    await stop();
    await scratch.remove();
  }
}
