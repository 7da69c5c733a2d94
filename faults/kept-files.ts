/** What is in the folder of `--keep`, beside the logs of the services. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const JOURNAL = 'journal.jsonl';
/** A `DATA_DIR`. */
export const DATA = 'data';
export const REPORT = 'report.json';
/** Secrets, which only the owner can read. */
export const KEYS = 'keys.json';

/** What the folder lacks to be judged again; `undefined`: it has all. */
export function findLacking(folder: string): string | undefined {
  return [REPORT, KEYS, JOURNAL, DATA].find((name) => !existsSync(join(folder, name)));
}
