/** Programs in Go, for tests that run them. Without Go, such tests are left out. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
/** Of a build that begins with nothing, on a busy machine. */
const BUILD_MS_MAX = 15 * 60_000;

/** Build a package of `sdk/go`, such as `./relay/internal/runreporter`, as `program`. */
export async function buildGo(go: string, name: string, program: string): Promise<void> {
  const cache = join(ROOT, 'node_modules/.cache/go');
  await promisify(execFile)(go, ['build', '-o', program, name], {
    cwd: join(ROOT, 'sdk/go'),
    env: { ...process.env, GOCACHE: cache, GOFLAGS: '-p=2' },
    timeout: BUILD_MS_MAX,
  });
}
