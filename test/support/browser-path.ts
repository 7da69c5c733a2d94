/** The path of the machine's browser; undefined if there is none, and then page tests are skipped. */
import { existsSync } from 'node:fs';

export const CHROMIUM_PATH = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
].find((path) => path !== undefined && existsSync(path));
