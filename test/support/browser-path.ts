/** Where the machine's browser is; undefined where there is none, and then no page is tested. */
import { existsSync } from 'node:fs';

export const CHROMIUM_PATH = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
].find((path) => path !== undefined && existsSync(path));
