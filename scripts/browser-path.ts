/**
 * The path of the machine's browser, for tests and pictures of pages; `undefined`: there is none. The shell is first: it draws the
 * same pages for half the time of a processor.
 */
import { existsSync } from 'node:fs';

export const CHROMIUM_PATH = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
].find((path) => path !== undefined && existsSync(path));
