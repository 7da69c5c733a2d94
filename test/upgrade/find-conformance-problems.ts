/** The conformance suite of an old version, in a process of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MACHINE } from '../support/environment.ts';
import { withOldTree } from './old-tree.ts';

const SCRIPT = join(import.meta.dirname, 'run-conformance.ts');

/** A line for each problem of the SDKs of both versions, while the services of both take turns. */
export function findConformanceProblems(commit: string, databaseUrl: string): Promise<string[]> {
  return withOldTree(commit, async (root) => {
    const args = [SCRIPT, root, databaseUrl];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: MACHINE });
    return stdout.split('\n').filter((line) => line !== '');
  });
}
