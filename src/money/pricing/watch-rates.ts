/** Reload the rate card whenever its file changes, without a restart. */
import { stat } from 'node:fs/promises';
import type { BaseDeps } from '../../base/deps.ts';
import { findNewestRateCard } from './rate-cards.sql.ts';
import { describeSuperseded, loadRates, RATES_FILE, readRatesFile } from './rate-cards.ts';

/**
 * Returns the work of one turn. An invalid file is logged once, and the current card stays in effect.
 *
 * Each turn also compares the newest version in the database: after an outage, the database may have
 * been restored to a time before the file was loaded. Any error of the database makes the next turn
 * load the file again.
 */
export function watchRates({ db, log }: Pick<BaseDeps, 'db' | 'log'>, path: string): () => Promise<void> {
  let handled: string | undefined;
  let isAway = false;

  const load = async (fileVersion: string) => {
    const card = await readRatesFile(path).catch((error: unknown) => {
      log.error({ err: error }, 'the changed rate card was not loaded');
    });
    const newest = await findNewestRateCard(db);
    if (!card) return stateOf(fileVersion, newest?.version);
    const loading = await loadRates(db, RATES_FILE, card);
    if (loading.loaded) log.info({ version: loading.version, path }, 'rate card loaded');
    if (loading.superseded !== undefined) log.warn({ path }, describeSuperseded(loading));
    return stateOf(fileVersion, loading.version);
  };

  return async () => {
    const fileVersion = await versionOf(path);
    try {
      const newest = await findNewestRateCard(db);
      if (stateOf(fileVersion, newest?.version) !== handled) handled = await load(fileVersion);
      isAway = false;
    } catch (error) {
      if (!isAway) log.error({ err: error }, 'the rates file is loaded again once the database is back');
      isAway = true;
      handled = undefined;
    }
  };
}

function stateOf(fileVersion: string, cardVersion: number | undefined): string {
  return `${fileVersion} ${cardVersion}`;
}

/** Differs after each change of the file. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}` : 'missing';
}
