/** What a campaign ran on, so that its figures can be compared. It names no host and no path. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, release, type } from 'node:os';
import { join } from 'node:path';
import type { Pool } from '../src/base/db/pool.ts';
import { findGo } from './check/porcupine.ts';

export interface Environment {
  /** This project's, with its commit where git knows it. */
  readonly version: string;
  readonly node: string;
  readonly postgres: string;
  /** `undefined`: it is not installed. */
  readonly go: string | undefined;
  readonly kernel: string;
  readonly cores: number;
}

export async function readEnvironment(db: Pool): Promise<Environment> {
  const { rows } = await db.query<{ version: string }>(`select current_setting('server_version') as version`);
  return {
    version: readVersion(),
    node: process.versions.node,
    postgres: rows[0]!.version,
    go: findGo(),
    kernel: `${type()} ${release()}`,
    cores: availableParallelism(),
  };
}

export function readVersion(): string {
  const root = join(import.meta.dirname, '..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  try {
    const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return `${version} (${commit.trim()})`;
  } catch {
    return version;
  }
}

export function renderEnvironment({ version, node, postgres, go, kernel, cores }: Environment): string {
  return `Version ${version}, Node.js ${node}, PostgreSQL ${postgres}, ${go === undefined ? 'no Go' : `Go ${go}`}, ${kernel}, ${cores} cores.`;
}
