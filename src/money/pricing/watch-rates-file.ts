/** Load the rate card again whenever its file changes, without a restart. */
import { unwatchFile, watchFile } from 'node:fs';
import type { BaseDeps } from '../../base/deps.ts';
import { loadRates, readRatesFile } from './rate-cards.ts';

const LOOK_EVERY_SECONDS = 5;

/** A file that is wrong is reported and changes nothing: the card in effect stays in effect. */
export function watchRatesFile(
  deps: Pick<BaseDeps, 'db' | 'log'>,
  path: string,
  { everySeconds = LOOK_EVERY_SECONDS } = {},
): { stop(): void } {
  const reload = async () => {
    try {
      const { version, loaded } = await loadRates(deps.db, await readRatesFile(path));
      if (loaded) deps.log.info({ version, path }, 'rate card loaded');
    } catch (error) {
      deps.log.error({ err: error }, 'the changed rate card was not loaded');
    }
  };
  watchFile(path, { interval: everySeconds * 1000 }, reload);
  return { stop: () => unwatchFile(path, reload) };
}
