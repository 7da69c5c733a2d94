/** Small files that are made once and then kept, such as those with secrets. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './error-code.ts';

/**
 * What the file holds: what it held before, or else what `make` returns. Only its owner may read it.
 *
 * The first of several starters decides: `link` never replaces a file. It never shows half of one
 * either, whenever a starter dies.
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
