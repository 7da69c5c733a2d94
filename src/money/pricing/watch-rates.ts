/** Reload the rate card whenever its file changes, without a restart. */
import { stat } from 'node:fs/promises';
import { outageOf } from '../../base/db/outage.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { loadRates, readRatesFile } from './rate-cards.ts';

/**
 * Returns the work of one turn. An invalid file is logged once, and the current card stays in effect.
 * While the database is unavailable, each turn tries again.
 */
export function watchRates({ db, log }: Pick<BaseDeps, 'db' | 'log'>, path: string): () => Promise<void> {
  let handled: string | undefined;
  return async () => {
    const version = await versionOf(path);
    if (version === handled) return;
    try {
      const { version: card, loaded } = await loadRates(db, await readRatesFile(path));
      if (loaded) log.info({ version: card, path }, 'rate card loaded');
    } catch (error) {
      log.error({ err: error }, 'the changed rate card was not loaded');
      if (outageOf(error)) return;
    }
    handled = version;
  };
}

/** Differs after each change of the file. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}` : 'missing';
}
