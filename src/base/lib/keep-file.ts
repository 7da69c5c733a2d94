/** Small files that are created once and then kept, such as files with secrets. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './error-code.ts';

/**
 * Returns the content of the file. If there is none, creates it with what `make` returns, readable only
 * by its owner.
 *
 * If several processes start at once, the first one wins: `link` never replaces a file. A process that
 * dies never leaves a partial file.
 */
export function keepFile(path: string, make: () => string): string {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomBytes(8).toString('hex')}`;
    try {
      writeFileSync(draft, make(), { mode: 0o600, flush: true });
      linkSync(draft, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return readFileSync(path, 'utf8');
}
