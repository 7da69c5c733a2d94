/** What a campaign ran on, so that its figures can be compared. It names no host and no path. */
import { availableParallelism, release, type } from 'node:os';
import type { Pool } from '../src/base/db/pool.ts';
import { findGo } from './check/porcupine.ts';

export interface Environment {
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
    node: process.versions.node,
    postgres: rows[0]!.version,
    go: findGo(),
    kernel: `${type()} ${release()}`,
    cores: availableParallelism(),
  };
}

export function renderEnvironment({ node, postgres, go, kernel, cores }: Environment): string {
  return `Node.js ${node}, PostgreSQL ${postgres}, ${go === undefined ? 'no Go' : `Go ${go}`}, ${kernel}, ${cores} cores.`;
}
